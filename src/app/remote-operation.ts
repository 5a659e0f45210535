import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ERROR_CODES, type ErrorCode, type ErrorDetails, ForgeError, isForgeError } from '#kernel/errors.ts';
import { readJson } from '#kernel/read-json.ts';
import { dropEnd } from '#kernel/text.ts';
import type { Accepted, AnyOperation } from '#operations/flag-table.ts';
import { findProject } from '#sync/find-project.ts';
import { describeVersions } from './describe-versions.ts';
import { NO_SUCH_FIELD } from './serve/check-call-input.ts';
import { postJson, type RemoteAnswer, unreachable } from './remote-request.ts';
import { findToken, parseServer } from './remote-server.ts';

/**
 * The operation as somebody else does it: the input goes to a server, and what it answers is shown the way a local
 * answer is. Who asks is what the token says.
 */
export function createRemoteOperation(
  operation: AnyOperation,
  accepted: Accepted,
  { server, env }: { readonly server: string; readonly env: NodeJS.ProcessEnv },
): AnyOperation {
  const { name } = accepted.operation;
  return {
    async run({ cwd }, input) {
      if (accepted.globals.actor !== undefined)
        throw new ForgeError('usage', '--actor has no say on a server: its token says who asks', {
          hint: 'forge token create --scope task --agent <name>',
        });
      const base = parseServer(server);
      const url = new URL(base);
      // Set and not resolved: a path that begins with two slashes would name another host.
      url.pathname = `${dropEnd(base.pathname, '/')}/api/v1/operations/${name}`;
      const project = findProjectName(accepted, cwd, env);
      if (project !== undefined) url.searchParams.set('project', project);
      const declaration = OPERATIONS.find((one) => one.name === name);
      const answer = await postJson(url, {
        ...findToken(base, env),
        body: JSON.stringify(input),
        key: declaration?.access === 'read' ? undefined : randomUUID(),
      });
      return readAnswer(url, answer, declaration);
    },
    text: (output, view) => operation.text(output, view),
  };
}

/** The project that a local command would work on, unless an id says which one is meant. */
function findProjectName(
  { operation, input }: Accepted,
  cwd: string,
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (operation.needs !== 'project') return undefined;
  if (env.FORGE_PROJECT) return env.FORGE_PROJECT;
  const prefix = findPrefix(cwd, env);
  const id = operation.route === undefined ? undefined : input[operation.route];
  const isElsewhere = typeof id === 'string' && id.includes('-') && !id.startsWith(`${prefix ?? ''}-`);
  return isElsewhere ? undefined : prefix;
}

function findPrefix(cwd: string, env: NodeJS.ProcessEnv): string | undefined {
  try {
    return findProject(cwd, env, homedir()).config.idPrefix;
  } catch (error) {
    // A server can be asked from anywhere; what is broken here is no matter of it.
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

export function readAnswer(
  url: URL,
  { status, text, version }: RemoteAnswer,
  declaration: Declaration | undefined,
): unknown {
  const document = parse(text);
  if (status >= 200 && status < 300) {
    // Shown as it came, so that a newer server's fields are not lost; but only if all that we know of is there.
    if (document !== undefined && declaration?.output.safeParse(document).success === true) return document;
    const why = `it answers ${declaration?.name ?? ''} in another way than this version knows`;
    throw unreachable(url, why, undefined, describeVersions(version));
  }
  throw toError(url, status, document, describeVersions(version));
}

/** `versions` is the hint of what another version may explain. */
function toError(url: URL, status: number, document: unknown, versions: string | undefined): ForgeError {
  const body = typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : {};
  const { code, message, hint, details } = body;
  if (typeof code !== 'string' || typeof message !== 'string')
    return unreachable(url, `it answers ${status} and is no Forge server`);
  if (!Object.hasOwn(ERROR_CODES, code))
    return new ForgeError(
      'internal',
      `${code}: ${message}`,
      versions === undefined ? {} : { hint: versions },
    );
  const known = code as ErrorCode; // a key of the table
  return new ForgeError(known, message, {
    ...(known === 'unauthorized'
      ? {
          hint: 'FORGE_TOKEN=<token> forge …; to make one, where the server runs: forge token create --scope task',
        }
      : versions !== undefined && isUnknownThere(known, details, url)
        ? { hint: versions }
        : typeof hint === 'string' && { hint }),
    ...(typeof details === 'object' && details !== null && { details: details as ErrorDetails }),
  });
}

/** An operation, a route or a field that this version has and the server does not know. */
function isUnknownThere(code: ErrorCode, details: unknown, { pathname }: URL): boolean {
  if (code === 'method_not_allowed') return true;
  if (typeof details !== 'object' || details === null) return false;
  const { operation, path, issues } = details as Record<string, unknown>;
  if (code === 'not_found')
    return path === pathname || (typeof operation === 'string' && pathname.endsWith(`/${operation}`));
  return (
    code === 'invalid_input' &&
    Array.isArray(issues) &&
    issues.some((issue: unknown) => (issue as { message?: unknown } | null)?.message === NO_SUCH_FIELD)
  );
}

function parse(text: string): unknown {
  try {
    return readJson(text) as unknown;
  } catch {
    return undefined;
  }
}

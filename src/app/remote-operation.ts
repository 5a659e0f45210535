import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ERROR_CODES, type ErrorCode, type ErrorDetails, ForgeError, isForgeError } from '#kernel/errors.ts';
import { readJson } from '#kernel/read-json.ts';
import { dropEnd } from '#kernel/text.ts';
import type { Accepted, AnyOperation } from '#operations/flag-table.ts';
import { findProject } from '#sync/find-project.ts';
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
  { status, text }: RemoteAnswer,
  declaration: Declaration | undefined,
): unknown {
  const document = parse(text);
  if (status >= 200 && status < 300) {
    // Shown as it came, so that a newer server's fields are not lost; but only if all that we know of is there.
    if (document !== undefined && declaration?.output.safeParse(document).success === true) return document;
    throw unreachable(url, `it answers ${declaration?.name ?? ''} in another way than this version knows`);
  }
  throw toError(url, status, document);
}

function toError(url: URL, status: number, document: unknown): ForgeError {
  const body = typeof document === 'object' && document !== null ? (document as Record<string, unknown>) : {};
  const { code, message, hint, details } = body;
  if (typeof code !== 'string' || typeof message !== 'string')
    return unreachable(url, `it answers ${status} and is no Forge server`);
  if (!Object.hasOwn(ERROR_CODES, code)) return new ForgeError('internal', `${code}: ${message}`);
  const known = code as ErrorCode; // a key of the table
  return new ForgeError(known, message, {
    ...(known === 'unauthorized'
      ? {
          hint: 'FORGE_TOKEN=<token> forge …; to make one, where the server runs: forge token create --scope task',
        }
      : typeof hint === 'string' && { hint }),
    ...(typeof details === 'object' && details !== null && { details: details as ErrorDetails }),
  });
}

function parse(text: string): unknown {
  try {
    return readJson(text) as unknown;
  } catch {
    return undefined;
  }
}

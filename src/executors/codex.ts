import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { driveSession, type Drive } from './drive-session.ts';
import type { Executor, ExecutorTools, RunHost, RunSpec } from './executor.ts';
import { CodexSession, type CodexSessionOptions } from './protocols/codex-session.ts';
import { withCleanUp } from './with-clean-up.ts';

/** Codex, by its app-server. */
export function createCodexExecutor(tools: ExecutorTools): Executor {
  return {
    async start(spec, host) {
      // Its sandbox lets commands write there; the folder that all programs share is closed to them.
      const temporary = await mkdtemp(join(tmpdir(), 'forge-codex-'));
      return withCleanUp(
        async () => {
          // Inside of walls the rules are not there.
          const rules = spec.walls === undefined ? await findRules(spec.env) : undefined;
          if (rules !== undefined) host.tell({ kind: 'note', text: describeRules(rules) });
          return driveSession(toDrive(spec, { tools, host, temporary }));
        },
        () => remove(temporary),
      );
    },
  };
}

/**
 * Rules of the user by which Codex runs commands without a question and outside of its sandbox. Its app-server has no way
 * to leave them out, so it is told.
 */
async function findRules({ CODEX_HOME, HOME }: RunSpec['env']): Promise<string | undefined> {
  const home = CODEX_HOME ?? (HOME === undefined ? undefined : join(HOME, '.codex'));
  if (home === undefined) return undefined;
  const folder = join(home, 'rules');
  const names = await readdir(folder).catch(() => []);
  const texts = await Promise.all(
    names
      .filter((name) => name.endsWith('.rules'))
      .map((name) => readFile(join(folder, name), 'utf8').catch(() => '')),
  );
  return texts.some((text) => /decision\s*=\s*["']allow["']/.test(text)) ? folder : undefined;
}

function describeRules(folder: string): string {
  return `Rules in ${folder} let Codex run commands without a question, whatever its profile says`;
}

/** What is left of it is the system's to clean up. */
async function remove(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

function toDrive(
  spec: RunSpec,
  { tools, host, temporary }: { tools: ExecutorTools; host: RunHost; temporary: string },
): Drive {
  return {
    spec,
    host,
    tools,
    argv: toCodexArgv(spec),
    // Inside of walls all temporary folders are its own.
    env: spec.walls === undefined ? { TMPDIR: temporary } : {},
    hint: 'npm install -g @openai/codex',
    session: toCodexSession(spec, tools),
  };
}

/**
 * Codex takes a folder in which it may write for one that somebody trusts: it notes that in the user's settings, and
 * runs what the repository's own settings name. So it is told.
 */
export function toCodexArgv({ profile, cwd, trusted }: RunSpec): readonly string[] {
  const level = trusted ? 'trusted' : 'untrusted';
  const projects = `projects={${JSON.stringify(cwd)}={trust_level="${level}"}}`;
  return [...(profile.command ?? ['codex']), '-c', projects, 'app-server'];
}

export function toCodexSession(
  spec: RunSpec,
  { version, clock }: Pick<ExecutorTools, 'version' | 'clock'>,
): CodexSession {
  return new CodexSession({
    prompt: spec.prompt,
    cwd: spec.cwd,
    resume: spec.session.resume ? spec.session.id : undefined,
    model: spec.profile.model,
    effort: spec.profile.effort,
    ...toCodexRules(spec),
    output_schema: spec.output_schema,
    version,
    clock,
  });
}

/**
 * What Codex allows itself; what it asks for besides is judged by the profile here. Its own sandbox often
 * cannot be built inside of walls, and then it writes nothing and says that it is done: there the walls alone hold it.
 */
export function toCodexRules(spec: RunSpec): Pick<CodexSessionOptions, 'approval_policy' | 'sandbox'> {
  const rules = toOwnRules(spec);
  return spec.walls === undefined ? rules : { ...rules, sandbox: 'danger-full-access' };
}

function toOwnRules(spec: RunSpec): Pick<CodexSessionOptions, 'approval_policy' | 'sandbox'> {
  if (spec.read_only) return { approval_policy: 'on-request', sandbox: 'read-only' };
  switch (spec.profile.permissions) {
    case 'ask':
      return { approval_policy: 'untrusted', sandbox: 'workspace-write' };
    case 'edits':
      return { approval_policy: 'on-request', sandbox: 'workspace-write' };
    case 'all':
      // It is allowed here, and not by Codex itself: that would not ask before a file outside is changed.
      return { approval_policy: 'untrusted', sandbox: 'danger-full-access' };
  }
}

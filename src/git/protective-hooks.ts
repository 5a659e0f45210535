import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import type { GitRepo } from './ask-git.ts';
import { gitEnvironment } from './git-environment.ts';
import { look } from './guard-place.ts';
import { readPlainFile } from './read-plain-file.ts';
import { type ApartResult, runApart } from './run-apart.ts';
import { runGit, toGitFailure } from './run-git.ts';

/** What a merge of Forge's asks, in this order: each can refuse it. */
const ASKED = ['commit-msg', 'pre-receive', 'update', 'reference-transaction'] as const;
type AskedHook = (typeof ASKED)[number];

/** What git would run on the way of an attempt to its target, and Forge does not. */
const NOT_RUN = [
  'pre-commit',
  'prepare-commit-msg',
  'post-commit',
  'pre-merge-commit',
  'post-merge',
  'pre-rebase',
  'post-checkout',
  'post-rewrite',
  'push-to-checkout',
  'post-receive',
  'post-update',
] as const;

/** The hooks of the user's repository, in the folder where git would look for them. */
export interface ProtectiveHooks {
  readonly folder: string;
  readonly asked: readonly AskedHook[];
  readonly not_run: readonly string[];
}

/**
 * `core.hooksPath` counts as git reads it in the user's checkout, so that a path into it leads to the user's files and
 * never to an attempt's. A hook that is not executable is none, as for git; one that only has Forge's block is Forge's.
 */
export async function findProtectiveHooks(repo: GitRepo): Promise<ProtectiveHooks> {
  const args = ['rev-parse', '--git-path', 'hooks/commit-msg'];
  const env = gitEnvironment(repo.env ?? process.env);
  const result = await runGit(args, { cwd: repo.worktree, env });
  if (result.exit !== 0) throw toGitFailure(args, result);
  const folder = dirname(resolve(repo.worktree, result.stdout.replace(/\r?\n$/, '')));
  const isThere = (name: string): boolean => isUsersHook(join(folder, name));
  return { folder, asked: ASKED.filter(isThere), not_run: NOT_RUN.filter(isThere) };
}

function isUsersHook(path: string): boolean {
  try {
    if (look(path) === undefined) return false;
    if (process.platform !== 'win32') accessSync(path, constants.X_OK);
    const text = readPlainFile(path)?.toString('latin1');
    return text !== undefined && !isForgeAlone(text);
  } catch {
    return false;
  }
}

/** Nothing is left but comments when Forge's own lines are taken out. */
function isForgeAlone(text: string): boolean {
  const rest = text
    .replaceAll(/^# >>> forge >>>(?:(?!^# >>> forge >>>)[^])*?^# <<< forge <<<[^\n]*$/gm, '')
    .replaceAll(/^[^#\n]*\bforge hook [^\n]*$/gm, '');
  return rest !== text && !/^[ \t]*[^#\s]/m.test(rest);
}

/** What the hook makes of the message. Throws guard_rejected with its words where it refuses. */
export async function askMessageHook(
  repo: GitRepo,
  hooks: ProtectiveHooks,
  message: string,
): Promise<string> {
  if (!hooks.asked.includes('commit-msg')) return message;
  const folder = await mkdtemp(join(tmpdir(), 'forge-message-'));
  try {
    const file = join(folder, 'COMMIT_EDITMSG');
    await writeFile(file, message);
    await ask(repo, hooks, { name: 'commit-msg', args: [file], cwd: repo.worktree });
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface RefMove {
  readonly branch: string;
  readonly old: string;
  readonly commit: string;
}

/** A landing that the hooks have let through; they are told how it ended. */
export interface AllowedMove {
  ended(landed: boolean): Promise<void>;
}

/**
 * Asks the hooks that guard a branch, as a push or another git that moves it would. Throws guard_rejected with the words
 * of the first that refuses; nothing was moved then.
 */
export async function askMoveHooks(
  repo: GitRepo,
  hooks: ProtectiveHooks,
  { branch, old, commit }: RefMove,
): Promise<AllowedMove> {
  const ref = `refs/heads/${branch}`;
  const input = `${old} ${commit} ${ref}\n`;
  // Hooks of a push run in the git directory, the other one where git was called.
  const inside = { cwd: repo.common_dir, more_env: { GIT_DIR: '.' } };
  const has = (name: AskedHook): boolean => hooks.asked.includes(name);
  if (has('pre-receive')) await ask(repo, hooks, { name: 'pre-receive', args: [], input, ...inside });
  if (has('update')) await ask(repo, hooks, { name: 'update', args: [ref, old, commit], ...inside });
  if (!has('reference-transaction')) return { ended: async () => {} };
  const transaction = (state: string): Promise<void> =>
    ask(repo, hooks, { name: 'reference-transaction', args: [state], input, cwd: repo.worktree });
  try {
    await transaction('prepared');
  } catch (error) {
    await transaction('aborted').catch(ignoreRefusal);
    throw error;
  }
  return { ended: (landed) => transaction(landed ? 'committed' : 'aborted').catch(ignoreRefusal) };
}

/** What it says afterwards changes nothing any more, for git neither. */
function ignoreRefusal(error: unknown): void {
  if (!isForgeError(error)) throw error;
}

interface Question {
  readonly name: AskedHook;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly input?: string;
  readonly more_env?: Readonly<Record<string, string>>;
}

async function ask(repo: GitRepo, hooks: ProtectiveHooks, question: Question): Promise<void> {
  const { name, args, cwd, input = '', more_env = {} } = question;
  const path = join(hooks.folder, name);
  const env = { ...gitEnvironment(repo.env ?? process.env), GIT_EDITOR: ':', ...more_env };
  const options = { cwd, env, input, timeout_ms: LIMITS.git_hook_ms };
  const result = await runHook(path, args, options);
  if (result.exit === 0 && !result.timed_out) return;
  const said = toSaid(result);
  throw new ForgeError(
    'guard_rejected',
    result.timed_out
      ? `The hook ${name} of the repository did not end within ${LIMITS.git_hook_ms / 1_000} s`
      : `The hook ${name} of the repository refuses it${said === '' ? '' : `: ${said}`}`,
    { hint: `The hook is ${path}`, details: { hook: name, path, exit: result.exit } },
  );
}

/** A script without a first line that says what runs it is one for the shell, as for git. */
async function runHook(
  path: string,
  args: readonly string[],
  options: Parameters<typeof runApart>[2],
): Promise<ApartResult> {
  try {
    return await runApart(path, args, options);
  } catch (error) {
    if (!isForgeError(error) || !/ENOEXEC|EFTYPE|UNKNOWN/.test(error.message)) throw error;
    return runApart('sh', [path, ...args], options);
  }
}

const SAID_LENGTH = 500;

function toSaid({ stdout, stderr }: ApartResult): string {
  const lines = `${stderr}\n${stdout}`.split(/[\r\n]+/).map((line) => line.trim());
  const told = lines.filter((line) => line !== '').join(' / ');
  return escapeLine(told.length > SAID_LENGTH ? `${told.slice(0, SAID_LENGTH).trimEnd()}…` : told);
}

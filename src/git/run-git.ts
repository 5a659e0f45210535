import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { maskSecrets } from '#domain/find-secrets.ts';
import { MASK } from '#domain/secret-mask.ts';
import { ForgeError } from '#kernel/errors.ts';
import { toOutOfFilesError } from '#kernel/out-of-files.ts';
import { escapeLine } from '#kernel/text.ts';
import { runsFilters } from './runs-filters.ts';

export interface GitResult {
  readonly stdout: string;
  readonly stderr: string;
  /** As a shell shows it: 128 and the number of the signal for a killed one. */
  readonly exit: number;
}

export interface GitOptions {
  readonly cwd: string;
  /** The whole environment of the child; this process's own where it is left out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface GitRunOptions extends GitOptions {
  /** Written to git's stdin, which is then closed; without it stdin stays open and empty. */
  readonly input?: string | Uint8Array;
  readonly signal?: AbortSignal;
  /** How long it may take; no limit where it is left out. */
  readonly timeout_ms?: number;
}

/**
 * Runs git by argv and waits. An exit code is a result, not an error: what it means depends on the command. Throws
 * dependency_missing without git, interrupted when `signal` fires, io_failed when its time is over (git is ended then).
 */
export async function runGit(args: readonly string[], options: GitRunOptions): Promise<GitResult> {
  const { stdout, stderr, exit } = await runGitBytes(args, options);
  return { stdout: stdout.toString('utf8'), stderr, exit };
}

export type GitBytes = Omit<GitResult, 'stdout'> & { readonly stdout: Buffer };

/** The same for what is not text: file contents may hold any bytes. */
export async function runGitBytes(args: readonly string[], options: GitRunOptions): Promise<GitBytes> {
  if (process.platform !== 'win32' && mayRunFilters(args)) {
    // Only for these: a cold read need not load it.
    const { runGuardedGit } = await import('./run-guarded-git.ts');
    return runGuardedGit(args, options);
  }
  const { execFile } = loadChildProcess();
  const more = {
    ...toSpawnOptions(options),
    encoding: 'buffer',
    ...(options.signal && { signal: options.signal }),
  } as const;
  return new Promise((done, fail) => {
    let limit: TimeLimit | undefined;
    const child = execFile('git', args, more, (error, stdout, errors) => {
      const stderr = errors.toString('utf8');
      if (limit?.isOver() === true) fail(toTimeoutError(args, options));
      else if (error === null) done({ stdout, stderr, exit: 0 });
      else if (typeof error.code === 'number') done({ stdout, stderr, exit: error.code });
      else if (error.name !== 'AbortError' && error.signal) {
        done({ stdout, stderr, exit: toSignalExit(error.signal) });
      } else fail(toStartError(error, args, options.cwd));
    });
    // A git that ends before it has read everything says why by its exit code.
    child.stdin?.on('error', () => undefined);
    if (options.input !== undefined) child.stdin?.end(options.input);
    if (options.timeout_ms !== undefined) limit = limitTime(child, options.timeout_ms);
  });
}

/** A git that is told to end removes its lock files first; one that does not listen is killed. */
export const GRACE_MS = 2_000;

interface TimeLimit {
  /** Asked when git has ended; nothing is waited for any more after that. */
  isOver(): boolean;
}

function limitTime(child: ChildProcess, timeoutMs: number): TimeLimit {
  let over = false;
  let timer = setTimeout(() => {
    over = true;
    // Whatever git started may hold the other ends open for as long as it likes.
    child.stdout?.destroy();
    child.stderr?.destroy();
    child.kill('SIGTERM');
    timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  }, timeoutMs);
  return {
    isOver: () => {
      clearTimeout(timer);
      return over;
    },
  };
}

export interface StartedGit extends AsyncDisposable {
  /** Undefined where it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Its end; throws io_failed with git's words unless it was 0. */
  readonly ended: Promise<void>;
}

/** Starts git for a conversation; disposing of it ends it. */
export function startGit(args: readonly string[], options: GitRunOptions): StartedGit {
  const { spawn } = loadChildProcess();
  const { encoding, ...more } = toSpawnOptions(options);
  const child = spawn('git', args, { ...more, ...(options.signal && { signal: options.signal }) });
  let stderr = '';
  child.stderr.setEncoding(encoding).on('data', (text: string) => (stderr += text));
  // A git that ends before it has read everything says why by its exit code.
  child.stdin.on('error', () => undefined);
  const closed = new Promise<void>((done) => child.once('close', () => done()));
  const ended = new Promise<void>((done, fail) => {
    child.once('error', (error) => fail(toStartError(error, args, options.cwd)));
    child.once('close', (code, signal) => {
      const exit = code ?? toSignalExit(signal ?? 'SIGKILL');
      if (exit === 0) done();
      else fail(toGitFailure(args, { stdout: '', stderr, exit }));
    });
  });
  // Whoever reads awaits it; one who stops early does not, and that is no unhandled failure.
  ended.catch(() => undefined);
  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    ended,
    [Symbol.asyncDispose]: async () => {
      // The signal first: a git that reads the end of its input would end well, as if its caller had not left it.
      const isAlive = child.kill();
      child.stdin.destroy();
      child.stdout.destroy();
      if (isAlive) await closed;
    },
  };
}

/**
 * What git prints, as it comes and cut at NUL bytes, for answers that may be long. Throws io_failed with git's words
 * where git fails; a reader that stops early ends git.
 */
export async function* streamGit(args: readonly string[], options: GitRunOptions): AsyncGenerator<string> {
  await using git = startGit(args, options);
  git.stdin.end(options.input);
  let rest = '';
  for await (const text of git.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    const parts = (rest + text).split('\0');
    rest = parts.pop() ?? '';
    yield* parts;
  }
  await git.ended;
  if (rest !== '') yield rest;
}

/** For a command that cannot fail unless something is broken: git's own words, made safe to show. */
export function toGitFailure(args: readonly string[], result: GitResult): ForgeError {
  const command = findCommand(args);
  const said = toShownStderr(result.stderr.replaceAll(MOVED_FILTER, ''));
  const failed = findFailedFilter(result.stderr);
  if (failed !== undefined) return toFilterFailure(failed, { said, command, exit: result.exit });
  if (isUnknownToGit(result))
    return new ForgeError(
      'dependency_missing',
      `git ${command} does not know what Forge asks of it: ${said}`,
      {
        hint: GIT_HINT,
        details: { command, exit: result.exit },
      },
    );
  return new ForgeError('io_failed', `git ${command} failed${said === '' ? '' : `: ${said}`}`, {
    details: { command, exit: result.exit },
  });
}

/** The oldest git that has what Forge asks of it, such as a merge without a checkout. */
export const GIT_FLOOR = { major: 2, minor: 39 } as const;

/** What to do about a git that is too old. */
export const GIT_HINT = `Install git ${GIT_FLOOR.major}.${GIT_FLOOR.minor} or newer, and see that it comes first on the PATH`;

/** An option or a command that a later git has. It costs no process: an old git says it by how it fails. */
function isUnknownToGit({ exit, stderr }: Pick<GitResult, 'exit' | 'stderr'>): boolean {
  if (exit === 129) return /^(?:error: unknown (?:option|switch|subcommand)|usage: git )/m.test(stderr);
  return exit === 1 && /^git: '[^'\n]{1,100}' is not a git command/m.test(stderr);
}

/** What stands before a filter of the user's so that it runs where the user's own git would: no news to the user. */
const MOVED_FILTER = /cd '(?:[^'\n]|'\\'')+' && unset [A-Z_ ]+ && /g;

interface FailedFilter {
  readonly path: string;
  readonly side: string;
  readonly name: string;
}

/** `fatal: <path>: clean filter '<name>' failed`; a path may hold all of these words too. */
function findFailedFilter(stderr: string): FailedFilter | undefined {
  for (const line of stderr.split('\n')) {
    if (!line.startsWith('fatal: ') || !line.endsWith(' failed')) continue;
    const said = line.slice('fatal: '.length, -' failed'.length);
    const sides = ['clean', 'smudge'].map((side) => ({ side, at: said.lastIndexOf(`: ${side} filter `) }));
    const { side, at } = sides.reduce((a, b) => (a.at > b.at ? a : b), { side: '', at: -1 });
    const name = said.slice(at + `: ${side} filter `.length);
    if (at > 0 && name !== '') return { path: said.slice(0, at), side, name: name.replaceAll("'", '') };
  }
  return undefined;
}

/** A filter is the user's program: which file and which filter is what a person has to know. */
function toFilterFailure(
  { path, side, name }: FailedFilter,
  { said, ...details }: { said: string; command: string; exit: number },
): ForgeError {
  const key = `filter.${name}.${side}`;
  return new ForgeError(
    'io_failed',
    `${escapeLine(path)} is under filter=${escapeLine(name)}, and its ${side} command failed: ${said}`,
    {
      hint: `git config --get ${escapeLine(key)} shows the command; it has to work in your own checkout`,
      details: { ...details, path, filter: name },
    },
  );
}

function findCommand(args: readonly string[]): string {
  return args[findCommandIndex(args)] ?? '';
}

function findCommandIndex(args: readonly string[]): number {
  return args.findIndex((arg, at) => /^[a-z]/.test(arg) && !['-c', '-C'].includes(args[at - 1] ?? ''));
}

function mayRunFilters(args: readonly string[]): boolean {
  return runsFilters(findCommand(args), args.slice(findCommandIndex(args) + 1));
}

export function toTimeoutError(args: readonly string[], { timeout_ms = 0 }: GitRunOptions): ForgeError {
  const command = findCommand(args);
  return new ForgeError('io_failed', `git ${command} did not end within ${timeout_ms / 1_000} s`, {
    hint: 'Something keeps it waiting: a server, a password, a slow disk. Run the same by hand',
    details: { command, timeout_ms },
  });
}

const SHOWN_LENGTH = 300;

/** A remote's address with its password, which git shows in some of its messages. */
const USER_OF_URL = /:\/\/[^/\s@:]{0,200}:[^/\s@]{1,500}@/g;

/**
 * Some of it comes from the other side of a connection: one line, short, without control characters, and without what
 * looks like a key.
 */
export function toShownStderr(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).map((line) => line.trim());
  const said = lines.filter((line) => line !== '' && !line.startsWith('hint:')).join(' / ');
  const told = maskSecrets(said).replaceAll(USER_OF_URL, `://${MASK}@`);
  return escapeLine(told.length > SHOWN_LENGTH ? `${told.slice(0, SHOWN_LENGTH).trimEnd()}…` : told);
}

/** For the one place that cannot wait: finding the user's name behind an include. */
export function runGitSync(args: readonly string[], options: GitOptions): GitResult {
  const result = loadChildProcess().spawnSync('git', args, toSpawnOptions(options));
  if (result.error !== undefined) throw toStartError(result.error, args, options.cwd);
  const exit = result.status ?? toSignalExit(result.signal ?? 'SIGKILL');
  return { stdout: result.stdout, stderr: result.stderr, exit };
}

/** Loaded when needed: a cold read starts no child and must not pay for being able to. */
function loadChildProcess(): typeof import('node:child_process') {
  return process.getBuiltinModule('node:child_process');
}

function toSpawnOptions(options: GitOptions) {
  return {
    cwd: options.cwd,
    ...(options.env && { env: { ...options.env } }),
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
    windowsHide: true,
  } as const;
}

export function toSignalExit(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

export function toStartError(
  error: Error & { code?: unknown },
  args: readonly string[],
  cwd: string,
): ForgeError {
  if (error.name === 'AbortError') {
    return toInterrupted(args, error);
  }
  // Node reports a missing working folder with the same code as a missing program.
  if (error.code === 'ENOENT' && existsSync(cwd)) {
    return new ForgeError('dependency_missing', 'git was not found on the PATH', {
      hint: 'Install git (https://git-scm.com) and try again',
      cause: error,
    });
  }
  const sentence = `git ${args[0]} could not be started in ${cwd}`;
  return (
    toOutOfFilesError(error, sentence) ??
    new ForgeError('io_failed', `${sentence}: ${error.message}`, { details: { cwd }, cause: error })
  );
}

export function toInterrupted(args: readonly string[], cause?: Error): ForgeError {
  return new ForgeError('interrupted', `git ${args[0]} was interrupted`, { cause });
}

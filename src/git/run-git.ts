import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { ForgeError } from '#kernel/errors.ts';

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

/**
 * Runs git by argv and waits. An exit code is a result, not an error: what it means depends on the command.
 * Throws dependency_missing without git and interrupted when `signal` fires (git is ended then).
 */
export async function runGit(
  args: readonly string[],
  options: GitOptions & { readonly signal?: AbortSignal },
): Promise<GitResult> {
  const { execFile } = loadChildProcess();
  const more = { ...toSpawnOptions(options), ...(options.signal && { signal: options.signal }) };
  return new Promise((done, fail) => {
    execFile('git', args, more, (error, stdout, stderr) => {
      if (error === null) done({ stdout, stderr, exit: 0 });
      else if (typeof error.code === 'number') done({ stdout, stderr, exit: error.code });
      else if (error.name !== 'AbortError' && error.signal) {
        done({ stdout, stderr, exit: toSignalExit(error.signal) });
      } else fail(toStartError(error, args, options.cwd));
    });
  });
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

function toSignalExit(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}

function toStartError(error: Error & { code?: unknown }, args: readonly string[], cwd: string): ForgeError {
  if (error.name === 'AbortError') {
    return new ForgeError('interrupted', `git ${args[0]} was interrupted`, { cause: error });
  }
  // Node reports a missing working folder with the same code as a missing program.
  if (error.code === 'ENOENT' && existsSync(cwd)) {
    return new ForgeError('dependency_missing', 'git was not found on the PATH', {
      hint: 'Install git (https://git-scm.com) and try again',
      cause: error,
    });
  }
  return new ForgeError('io_failed', `git ${args[0]} could not be started in ${cwd}: ${error.message}`, {
    details: { cwd },
    cause: error,
  });
}

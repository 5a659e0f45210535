import type { ForgeError } from '#kernel/errors.ts';
import { findStartFailure, startGuarded } from './guarded-program.ts';
import {
  type GitBytes,
  type GitRunOptions,
  GRACE_MS,
  toInterrupted,
  toSignalExit,
  toStartError,
  toTimeoutError,
} from './run-git.ts';

/**
 * As `runGitBytes`, for a git that may run filters: these are programs of the user's, which must not outlive this process,
 * and end with git when its time is over.
 */
export function runGuardedGit(args: readonly string[], options: GitRunOptions): Promise<GitBytes> {
  const { cwd, env = process.env, input, signal, timeout_ms } = options;
  const git = startGuarded('git', args, { cwd, env });
  return new Promise((done, fail) => {
    const [out, errors]: [Buffer[], Buffer[]] = [[], []];
    git.stdout.on('data', (bytes: Buffer) => out.push(bytes));
    git.stderr.on('data', (bytes: Buffer) => errors.push(bytes));
    if (input !== undefined) git.stdin.end(input);
    let over: ForgeError | undefined;
    let timer: NodeJS.Timeout | undefined;
    const end = (why: ForgeError): void => {
      over = why;
      git.stdout.destroy();
      git.stderr.destroy();
      git.endGroup('SIGTERM');
      clearTimeout(timer);
      timer = setTimeout(() => git.endGroup('SIGKILL'), GRACE_MS);
    };
    const interrupt = (): void => end(toInterrupted(args));
    if (timeout_ms !== undefined) timer = setTimeout(() => end(toTimeoutError(args, options)), timeout_ms);
    signal?.addEventListener('abort', interrupt, { once: true });
    if (signal?.aborted === true) interrupt();
    git.child.once('error', (error) => {
      clearTimeout(timer);
      fail(toStartError(error, args, cwd));
    });
    git.child.once('close', (code, killedBy) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', interrupt);
      if (over !== undefined) {
        git.endGroup('SIGKILL');
        fail(over);
        return;
      }
      const exit = code ?? toSignalExit(killedBy ?? 'SIGKILL');
      const stderr = Buffer.concat(errors).toString('utf8');
      const why = findStartFailure({ exit, stderr });
      if (why === undefined) done({ stdout: Buffer.concat(out), stderr, exit });
      else fail(toStartError(Object.assign(new Error(why), { code: 'ENOENT' }), args, cwd));
    });
  });
}

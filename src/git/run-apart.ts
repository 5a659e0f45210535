import { constants } from 'node:os';
import { ForgeError } from '#kernel/errors.ts';
import { findStartFailure, startGuarded } from './guarded-program.ts';

export interface ApartOptions {
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
  readonly timeout_ms: number;
  /** Ends it before its time. */
  readonly signal?: AbortSignal;
}

export interface ApartResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
  /** Its time was over, and it was ended with all that it had started. */
  readonly timed_out: boolean;
}

/**
 * Runs a program in a session of its own: it has no terminal to ask on, and when its time is over it ends with all that
 * it has started; with this process it ends as well. For what may wait for a person: a signature, a hook, a push. Throws
 * io_failed where it cannot start.
 */
export function runApart(
  program: string,
  args: readonly string[],
  { cwd, env, input = '', timeout_ms, signal }: ApartOptions,
): Promise<ApartResult> {
  const { child, stdin, stdout, stderr, endGroup } = startGuarded(program, args, { cwd, env });
  return new Promise((done, fail) => {
    const output = { stdout: '', stderr: '' };
    let timedOut = false;
    let linger: NodeJS.Timeout | undefined;
    stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout = keep(output.stdout, text)));
    stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr = keep(output.stderr, text)));
    stdin.end(input);
    const end = (): void => {
      endGroup('SIGTERM');
      linger = setTimeout(() => endGroup('SIGKILL'), GRACE_MS);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, timeout_ms);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
    child.once('error', (error) => {
      clearTimeout(timer);
      fail(toStartError(program, cwd, error));
    });
    // What it has left behind may hold the other ends open for as long as it likes.
    child.once('exit', () => {
      clearTimeout(timer);
      clearTimeout(linger);
      linger = setTimeout(() => {
        endGroup('SIGKILL');
        stdout.destroy();
        stderr.destroy();
      }, GRACE_MS);
    });
    child.once('close', (code, killedBy) => {
      clearTimeout(timer);
      clearTimeout(linger);
      signal?.removeEventListener('abort', end);
      if (timedOut || signal?.aborted === true) endGroup('SIGKILL');
      const exit = code ?? 128 + constants.signals[killedBy ?? 'SIGKILL'];
      const why = findStartFailure({ exit, stderr: output.stderr });
      if (why === undefined) done({ ...output, exit, timed_out: timedOut });
      else fail(toStartError(program, cwd, new Error(why)));
    });
  });
}

const GRACE_MS = 1_000;
/** Of each stream; nobody reads more of what a hook says. */
const KEPT_LENGTH = 65_536;

function keep(before: string, text: string): string {
  return before.length >= KEPT_LENGTH ? before : (before + text).slice(0, KEPT_LENGTH);
}

function toStartError(program: string, cwd: string, cause: Error): ForgeError {
  const details = { program, cwd };
  return new ForgeError('io_failed', `${program} could not be started: ${cause.message}`, { details, cause });
}

import { constants } from 'node:os';
import type { ChildProcess } from 'node:child_process';
import { ForgeError } from '#kernel/errors.ts';

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
 * it has started. For what may wait for a person: a signature, a hook, a push. Throws io_failed where it cannot start.
 */
export function runApart(
  program: string,
  args: readonly string[],
  { cwd, env, input = '', timeout_ms, signal }: ApartOptions,
): Promise<ApartResult> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const child = spawn(program, args, { cwd, env: { ...env }, detached: true, windowsHide: true });
  return new Promise((done, fail) => {
    const output = { stdout: '', stderr: '' };
    let timedOut = false;
    let linger: NodeJS.Timeout | undefined;
    child.stdout
      .setEncoding('utf8')
      .on('data', (text: string) => (output.stdout = keep(output.stdout, text)));
    child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => (output.stderr = keep(output.stderr, text)));
    // One that ends before it has read everything says why by its exit code.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const end = (): void => {
      endGroup(child, 'SIGTERM');
      linger = setTimeout(() => endGroup(child, 'SIGKILL'), GRACE_MS);
    };
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, timeout_ms);
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
    child.once('error', (error) => {
      clearTimeout(timer);
      const details = { program, cwd };
      fail(
        new ForgeError('io_failed', `${program} could not be started: ${error.message}`, {
          details,
          cause: error,
        }),
      );
    });
    // What it has left behind may hold the other ends open for as long as it likes.
    child.once('exit', () => {
      clearTimeout(timer);
      clearTimeout(linger);
      linger = setTimeout(() => {
        endGroup(child, 'SIGKILL');
        child.stdout.destroy();
        child.stderr.destroy();
      }, GRACE_MS);
    });
    child.once('close', (code, killedBy) => {
      clearTimeout(timer);
      clearTimeout(linger);
      signal?.removeEventListener('abort', end);
      if (timedOut) endGroup(child, 'SIGKILL');
      done({ ...output, exit: code ?? 128 + constants.signals[killedBy ?? 'SIGKILL'], timed_out: timedOut });
    });
  });
}

const GRACE_MS = 1_000;
/** Of each stream; nobody reads more of what a hook says. */
const KEPT_LENGTH = 65_536;

function keep(before: string, text: string): string {
  return before.length >= KEPT_LENGTH ? before : (before + text).slice(0, KEPT_LENGTH);
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
  } catch {
    // It is gone already.
  }
}

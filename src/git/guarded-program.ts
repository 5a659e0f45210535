import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

/** A program of the user's at work. `exit` is as a shell shows it: 128 and the number of the signal for a killed one. */
export interface GuardedProgram {
  readonly child: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Sends a signal to it and to all that it has started. */
  readonly endGroup: (signal: NodeJS.Signals) => void;
}

/**
 * Starts a program of the user's (a hook, a filter, a program to sign with, or a git that runs one of them) in a session
 * and a process group of its own, which ends with this process however that ends: a killed Forge must not leave a hook
 * behind beside which the next merge starts another. A shell around the program watches a pipe from here; at its end the
 * group is told to end, and killed a second later. Nothing of the shell is left when the program has ended.
 *
 * Costs a shell and a fork of it, two or three milliseconds (measured with `git hash-object`, which takes four by
 * itself): not for a git that runs nothing of the user's.
 */
export function startGuarded(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): GuardedProgram {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const options = { cwd, env: { ...env }, detached: true, windowsHide: true } as const;
  const child =
    process.platform === 'win32'
      ? spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
      : spawn('/bin/sh', ['-c', SCRIPT, NAME, program, ...args], {
          ...options,
          stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
        });
  // Whoever waits for the program hears of it too; without any streams nobody is there to wait.
  child.on('error', () => undefined);
  const [stdin, stdout, stderr, guard] = child.stdio;
  if (!stdin || !stdout || !stderr) throw new TypeError(`${program} was started without its streams`);
  // The shell has ended its guard by then, unless it was told to end itself: what is left goes with this.
  child.once('exit', () => guard?.destroy());
  guard?.on('error', () => undefined);
  // One that ends before it has read everything says why by its exit code.
  stdin.on('error', () => undefined);
  return { child, stdin, stdout, stderr, endGroup: (signal) => endGroup(child, signal) };
}

const NAME = 'forge-guard';

/**
 * The guard is the subshell. It holds no stream of the program, ignores what is sent to the whole group, and ends the
 * group when it reads the end of the pipe. The shell has its own words (`Killed`) written nowhere, lets the program
 * finish when the group is told to end, and leaves the guard to kill what does not.
 */
const SCRIPT = String.raw`
exec 4>&2 2>/dev/null
(
  trap '' HUP INT TERM
  read -r x <&3 && exit
  kill -s TERM -- "-$$"
  sleep 1
  kill -s KILL -- "-$$"
) </dev/null >/dev/null 4>&- &
guard=$!
exec 3<&-
trap 'guard=' HUP INT TERM
( exec "$@" 2>&4 4>&- )
code=$?
[ -z "$guard" ] || { kill -s KILL "$guard"; wait "$guard"; }
exit "$code"
`;

/** Why the program could not be started, by the words of the shell; undefined where it could. */
export function findStartFailure({
  exit,
  stderr,
}: {
  readonly exit: number;
  readonly stderr: string;
}): string | undefined {
  if (exit !== 126 && exit !== 127) return undefined;
  return new RegExp(`^${NAME}: (?:line )?\\d+: (?:exec: )?(.+)$`, 'm').exec(stderr)?.[1];
}

function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, signal);
  } catch {
    // It is gone already.
  }
}

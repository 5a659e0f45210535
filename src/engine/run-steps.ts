import { constants } from 'node:os';
import type { StepResult } from '#contract/attempt.ts';
import { RUN_MARKER } from '#executors/executor.ts';
import { hitsWalls, INSIDE_WALLS } from '#domain/describe-walls.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { ProcessHost } from '#process/process-host.ts';
import { startSupervised, type Ended, type OutputLine } from '#process/supervise.ts';
import type { Walls } from '#process/walls.ts';
import type { LineRedactor, Secrets } from './agent-secrets.ts';
import { describeFault } from './tell-entries.ts';

/** Where the commands of a gate, of a set-up or of a teardown run. */
export interface StepPlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly host: ProcessHost;
  /** By which what a step leaves running is found. */
  readonly marker: string;
  readonly timeout_ms: number;
  readonly output_bytes: number;
  /** What they print is kept, shown, told to agents and committed: every word of it goes through this first. */
  readonly secrets: Secrets;
  /** Every line as it comes. */
  readonly line?: ((text: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** What they can reach: they run what an agent has written. */
  readonly walls?: Walls | undefined;
}

/** One after the other until one fails; `finished` hears of each. */
export async function runSteps(
  commands: readonly string[],
  place: StepPlace,
  finished: (result: StepResult) => Promise<void> = async () => {},
): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const command of commands) {
    const result = await runStep(command, place);
    results.push(result);
    await finished(result);
    if (result.outcome !== 'passed') break;
  }
  return results;
}

/** Through a login shell: commands come from people's own configuration, and mean what they mean in a terminal. */
export async function runStep(command: string, place: StepPlace): Promise<StepResult> {
  const { cwd, env, host, marker, timeout_ms, output_bytes } = place;
  const began = performance.now();
  const tail = new LineTail();
  const { secrets } = place;
  let fault: string | undefined;
  const broken = Promise.withResolvers<void>();
  const redactors = { stdout: secrets.openLines(), stderr: secrets.openLines() };
  const step = await startSupervised(
    {
      argv: ['bash', '-lc', `${OWN_PATH}${command}`],
      cwd,
      env: { ...env, [CALLER_PATH]: env['PATH'] ?? '' },
      host,
      walls: place.walls,
      marker: { name: RUN_MARKER, value: marker },
      stdin: 'none',
      // Scripts write to /dev/stdout and /dev/stderr, which cannot be opened when they are sockets.
      output: 'fifos',
      limits: { total_ms: timeout_ms, idle_ms: timeout_ms, output_bytes },
    },
    {
      line(stream, line) {
        if (fault !== undefined) return;
        try {
          const text = redactEnd(line, redactors[stream]);
          tail.add(text);
          place.line?.(text);
        } catch (error) {
          fault = describeFault(error);
          broken.resolve();
        }
      },
    },
  );
  const stop = (): void => void step.stop();
  broken.promise.then(stop, () => undefined);
  place.signal?.addEventListener('abort', stop, { once: true });
  if (place.signal?.aborted === true) stop();
  const ended = await step.done;
  place.signal?.removeEventListener('abort', stop);
  if (fault !== undefined) {
    const duration_ms = Math.round(performance.now() - began);
    return { command, exit_code: null, duration_ms, output: fault, outcome: 'failed' };
  }
  return {
    command,
    exit_code: toExitCode(ended),
    duration_ms: Math.round(performance.now() - began),
    output: withWalls(ended.error === undefined ? tail.text() : secrets.redact(ended.error), {
      ...place,
      ended,
    }),
    outcome: toOutcome(ended),
  };
}

/**
 * Of a long line its end, and it is looked at a little further back, so that a secret at the cut is seen whole: all of 8
 * MiB would hold up a server for as long as it takes.
 */
function redactEnd(line: OutputLine, redact: LineRedactor): string {
  if (line.text.length <= LIMITS.step_line_length) return redact(line);
  // Half of a secret at the cut is not seen, and so stands unchanged at the beginning.
  const beyond = LIMITS.secret_beyond_length;
  const shown = redact({ ...line, text: line.text.slice(-LIMITS.step_tail_length - beyond) }).slice(beyond);
  return `(${line.text.length - shown.length} characters before this are left out) ${shown}`;
}

/** A command that works in the user's own terminal and not here may be stopped by the walls, which say nothing. */
function withWalls(
  output: string,
  { walls, ended }: Pick<StepPlace, 'walls'> & { readonly ended: Ended },
): string {
  const isStopped = walls !== undefined && ended.reason === 'exited' && ended.exit !== 0;
  return isStopped && hitsWalls(output) ? `${output}\n${INSIDE_WALLS}` : output;
}

/**
 * A login shell sets PATH anew (/etc/profile), and with it another version of a program may come first than the one
 * that the user calls. What Forge was started with comes first; what the profile adds stays behind it.
 */
const CALLER_PATH = 'FORGE_CALLER_PATH';
const OWN_PATH = `export PATH="\${${CALLER_PATH}:+$${CALLER_PATH}:}$PATH"; unset ${CALLER_PATH}; `;

/**
 * A step is a shell's, which says 128 and the number for what ended by a signal. Held by a namespace that is told as the
 * signal; for a step it is a code like any other.
 */
function toExitCode({ exit, signal, reason, containment }: Ended): number | null {
  const isTold = containment === 'pid_namespace' || containment === 'bubblewrap';
  if (exit !== null || signal === null || reason !== 'exited' || !isTold) return exit;
  return 128 + constants.signals[signal as NodeJS.Signals]; // named by the same table
}

function toOutcome({ reason, exit }: Ended): StepResult['outcome'] {
  switch (reason) {
    case 'exited':
      return exit === 0 ? 'passed' : 'failed';
    case 'total_timeout':
    case 'idle_timeout':
      return 'timeout';
    case 'output_limit':
    case 'memory_limit':
      return 'output_limit';
    case 'start_failed':
      return 'start_failed';
    case 'stopped':
      return 'stopped';
  }
}

/** The last lines, in a bounded number of characters. */
class LineTail {
  readonly #lines: string[] = [];
  #length = 0;

  add(line: string): void {
    const kept = line.slice(-LIMITS.step_tail_length);
    this.#lines.push(kept);
    this.#length += kept.length + 1;
    while (this.#length > LIMITS.step_tail_length && this.#lines.length > 1)
      this.#length -= (this.#lines.shift()?.length ?? 0) + 1;
  }

  text(): string {
    return this.#lines.join('\n');
  }
}

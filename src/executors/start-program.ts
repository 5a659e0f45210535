import { ForgeError } from '#kernel/errors.ts';
import { startSupervised, type Supervised, type SuperviseHandlers } from '#process/supervise.ts';
import { RUN_MARKER, type ExecutorTools, type RunHost, type RunSpec } from './executor.ts';

/**
 * Starts the program of a run and has the host note it, before it is told anything. Rejects with dependency_missing
 * where there is no such program; where it cannot be noted it is ended again.
 */
export async function startProgram(
  start: {
    readonly spec: RunSpec;
    readonly host: RunHost;
    readonly tools: ExecutorTools;
    readonly argv: readonly string[];
    readonly env?: Readonly<Record<string, string>> | undefined;
    readonly idle_ms: number;
    readonly output?: 'sockets' | 'fifos';
    /** What a person is to do where the program is not there. */
    readonly hint?: string | undefined;
  },
  handlers: SuperviseHandlers,
): Promise<Supervised> {
  const { spec, tools, argv, idle_ms } = start;
  const { total_ms, output_bytes, memory_bytes } = spec.limits;
  const grace_ms = tools.limits?.grace_ms;
  const supervised = await startSupervised(
    {
      argv,
      cwd: spec.cwd,
      env: { ...spec.env, ...start.env },
      marker: { name: RUN_MARKER, value: spec.run_id },
      stdin: 'pipe',
      output: start.output ?? 'sockets',
      walls: spec.walls,
      host: tools.processes,
      limits: {
        total_ms,
        idle_ms,
        output_bytes,
        ...(memory_bytes !== undefined && { memory_bytes }),
        ...(grace_ms !== undefined && { grace_ms }),
      },
    },
    handlers,
  );
  if (supervised.identity === undefined) {
    const { error } = await supervised.done;
    throw new ForgeError('dependency_missing', `The agent cannot be started: ${error ?? 'no reason given'}`, {
      hint: start.hint ?? 'forge clis',
      details: { program: argv[0], run_id: spec.run_id },
    });
  }
  try {
    await start.host.noteProcess(supervised.identity);
  } catch (error) {
    await supervised.stop();
    throw error;
  }
  return supervised;
}

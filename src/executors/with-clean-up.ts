import type { StartedRun } from './executor.ts';

/** A run that leaves something on the disk: it is cleaned up when the run has ended, and where it does not start. */
export async function withCleanUp(
  start: () => Promise<StartedRun>,
  cleanUp: () => Promise<void>,
): Promise<StartedRun> {
  try {
    const run = await start();
    const ended = run.ended.then(async (end) => {
      await cleanUp();
      return end;
    });
    return {
      send: (text) => run.send(text),
      unheard: () => run.unheard(),
      stop: () => run.stop(),
      ended,
    };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

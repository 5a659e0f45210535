import type { WorkedTask } from '#contract/run-task-operations.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { ignoreGone } from './find-standing.ts';
import { listPostponed, retryPostponed } from './retry-postponed.ts';
import { type DispatchWishes, Scheduler } from './scheduler.ts';
import { describeWork } from './work-task.ts';
import type { Workshop } from './workshop.ts';

/** Until nothing is left to do with `until_empty`, else until this process is told to end. */
export async function dispatchTasks(
  workshop: Workshop,
  wishes: DispatchWishes & { readonly until_empty: boolean },
): Promise<WorkedTask[]> {
  const { signal, clock } = workshop.place;
  const scheduler = new Scheduler(workshop, wishes);
  let told: number | undefined;
  let stranded: readonly string[] = [];
  // The person who starts it has just put right what was in the way.
  await retryPostponed(workshop, { at_once: true });
  while (!signal.aborted) {
    const tick = await scheduler.tick();
    const { started, until, is_crowded } = tick;
    stranded = tick.stranded;
    const isQuiet = started === 0 && scheduler.working === 0 && workshop.busy === 0 && !is_crowded;
    if (wishes.until_empty && isQuiet && until === undefined) break;
    if (isQuiet && until !== undefined && until !== told) {
      told = until;
      wishes.tell(`What is ready has to wait until ${toIso(until)}`);
    }
    // What is no event: settings, processes that have gone, and the places that other projects leave.
    const most = is_crowded ? LIMITS.dispatch_poll_ms : LIMITS.recover_ms;
    const rest = until === undefined ? most : until - clock.now();
    await scheduler.pause(Math.min(Math.max(rest, 1), most));
  }
  const worked = [...(await scheduler.finish()), ...(await describePostponed(workshop, scheduler))];
  if (!wishes.until_empty || signal.aborted) return worked;
  const known = new Set(worked.map(({ task }) => task.id));
  return [
    ...worked,
    ...(await describeAll(
      workshop,
      stranded.filter((id) => !known.has(id)),
      wishes,
    )),
  ];
}

/** What waits for the user's checkout is not done, also where another process had worked on it. */
async function describePostponed(workshop: Workshop, scheduler: Scheduler): Promise<WorkedTask[]> {
  const postponed = (await listPostponed(workshop.place)).map(({ task }) => task.id);
  return describeAll(
    workshop,
    postponed.filter((id) => !scheduler.knows(id)),
    { merge: true },
  );
}

async function describeAll(
  workshop: Workshop,
  ids: readonly string[],
  { merge }: Pick<DispatchWishes, 'merge'>,
): Promise<WorkedTask[]> {
  const engine = workshop.engine();
  const described = await Promise.all(
    ids.map((id) => describeWork(workshop, engine, { id, merge }).catch(ignoreGone)),
  );
  return described.filter((one) => one !== undefined);
}

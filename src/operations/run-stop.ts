import type { Run } from '#contract/attempt.ts';
import type { OutputOf } from '#contract/declare.ts';
import type { stopRun as declaration } from '#contract/run-operations.ts';
import { isEnded } from '#domain/run-states.ts';
import { ignoreGone } from '#engine/find-standing.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import { followEvents } from '#store/follow-events.ts';
import { implement, type OperationContext } from './operation.ts';
import { SHORT_ID, stateOf } from './run-text.ts';
import { writerOf } from './writer.ts';

type Stopped = OutputOf<typeof declaration>;
type ShownTask = NonNullable<Stopped['task']>;

export const runStop = implement<typeof declaration>({
  run: (ctx, { id }) => stopRun(ctx, id),
  text: ({ run, task }) =>
    escapeLine(
      `${run.id.slice(0, SHORT_ID)} is ${stateOf(run)}; ${task === null ? `${run.task_id} was deleted` : `${task.id} stays in ${task.state}`}`,
    ),
});

/** Whoever watches the run ends it; where nobody does any more it is settled here. */
export async function stopRun(
  ctx: OperationContext,
  ref: string,
  { wait_ms = LIMITS.run_stop_ms }: { readonly wait_ms?: number } = {},
): Promise<Stopped> {
  const { store } = ctx.project;
  const { id } = await store.askStop({ id: (await store.getRun(ref)).id }, await writerOf(ctx));
  const { place } = await ctx.workshop();
  const until = ctx.clock.now() + wait_ms;
  const events = await followEvents(store);
  for (;;) {
    await place.settleLost();
    const run = await store.getRun(id);
    if (isEnded(run.state)) {
      const task = await waitForReason(ctx, run).catch(ignoreGone);
      return { run, task: task === undefined ? null : toShown(task) };
    }
    if (ctx.signal?.aborted === true) throw new ForgeError('interrupted', 'The wait was broken off');
    if (ctx.clock.now() >= until) throw notEnded(run, wait_ms);
    await events.next({ signal: ctx.signal, timeout_ms: WATCH_LIMITS.process_look_ms });
  }
}

/** The process that watched it writes down why the task does not go on right after the run has ended. */
const REASON_MS = 2_000;

async function waitForReason(ctx: OperationContext, run: Run): Promise<ShownTask> {
  const { store } = ctx.project;
  const events = await followEvents(store);
  const until = performance.now() + REASON_MS;
  while (run.outcome === 'stopped' && performance.now() < until) {
    const task = await store.getTask(run.task_id);
    if ((task.error_annotation?.at ?? '') >= (run.started_at ?? run.created_at)) return task;
    await events.next({ signal: ctx.signal, timeout_ms: until - performance.now() });
  }
  const task = await store.getTask(run.task_id);
  if (run.outcome !== 'crashed' || task.status !== 'in_progress') return task;
  // Nobody was there to say it.
  const note = { code: 'stopped', message: 'Its run was stopped', at: toIso(ctx.clock.now()) };
  return store.updateTask(
    { id: task.id, workflow_fields: new Map([['error_annotation', note]]) },
    await writerOf(ctx),
  );
}

function toShown({ id, status, state, version, error_annotation }: ShownTask): ShownTask {
  return { id, status, state, version, ...(error_annotation && { error_annotation }) };
}

function notEnded({ id, state }: Run, wait_ms: number): ForgeError {
  return new ForgeError(
    'wait_timeout',
    `Run ${id} was asked to stop and is ${state} after ${wait_ms / 1000} s`,
    {
      hint: `forge runs show ${id}`,
      details: { id, state },
    },
  );
}

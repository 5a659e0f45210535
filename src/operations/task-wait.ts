import type { InputOf, OutputOf } from '#contract/declare.ts';
import type { waitTask } from '#contract/wait-operations.ts';
import { unknownState } from '#domain/unknown-state.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import type { EventStore } from '#store/event-store.ts';
import type { TaskStore } from '#store/store.ts';
import { implement } from './operation.ts';

type Input = InputOf<typeof waitTask>;
type Waited = OutputOf<typeof waitTask>;

export const taskWait = implement<typeof waitTask>({
  async run(ctx, input) {
    checkWishes(input);
    const { store } = ctx.project;
    const workflow = ctx.project.workflow();
    if (input.state !== undefined && !workflow.states.has(input.state))
      throw unknownState(workflow, input.state);
    const seconds = input.timeout_seconds ?? LIMITS.wait_default_seconds;
    const over = AbortSignal.timeout(seconds * 1_000);
    const signal = ctx.signal === undefined ? over : AbortSignal.any([over, ctx.signal]);
    let start = input.event === undefined ? 0 : await findStart(store, input);
    for (let known: Known | undefined; ;) {
      const newest = await store.newestEvent();
      const isOver = over.aborted || ctx.signal?.aborted === true;
      if (known !== undefined && !isOver && !(await hasNews(store, known, newest))) {
        known = { ...known, newest };
        await store.waitFor(newest, { signal });
        continue;
      }
      const waited = await look(store, input, start);
      if ('id' in waited) return waited;
      known = { id: waited.now.id, newest };
      // Whatever had come before the look was not what is waited for.
      start = Math.max(start, newest);
      if (ctx.signal?.aborted === true) throw new ForgeError('interrupted', 'The wait was broken off');
      if (over.aborted) throw timedOut(waited.now, input, seconds);
      await store.waitFor(newest, { signal });
    }
  },
  text: ({ id, status, state, close_reason, event }) =>
    event === null
      ? `${escapeLine(id)} is ${status}${state === status ? '' : ` (${escapeLine(state)})`}${close_reason === null ? '' : `: ${escapeLine(close_reason)}`}`
      : `${escapeLine(id)}: ${escapeLine(event.type)} by ${escapeLine(event.triggered_by)}, number ${event.seq}`,
});

function checkWishes(input: Input): void {
  const wishes = [input.status, input.state, input.event].filter((wish) => wish !== undefined);
  const hint = 'forge task wait --help';
  if (wishes.length > 1)
    throw new ForgeError('usage', 'Wait for a status, a state or an event, not for several', { hint });
  if (input.after !== undefined && input.event === undefined)
    throw new ForgeError('usage', 'after belongs to event', { hint });
}

/** What was known at the last look. */
interface Known {
  readonly id: string;
  readonly newest: number;
}

/**
 * Every change of a task is an event. Of those about other tasks nothing is read, or each of them would cost as much as
 * there are waits. Numbers that begin anew are those of a database that was made anew.
 */
async function hasNews(store: TaskStore, known: Known, newest: number): Promise<boolean> {
  if (newest === known.newest) return false;
  return newest < known.newest || store.hasNewsOf(known.id, known.newest);
}

/** Without a number given, what counts is what happens from now on. */
async function findStart(store: TaskStore & EventStore, { id, after }: Input): Promise<number> {
  if (after === undefined) return store.newestEntryOf((await store.findTask(id)).id);
  const { oldest } = await store.readFeed();
  if (after === 0 || after + 1 >= oldest) return after;
  // What is waited for may be among them, and would never come.
  throw new ForgeError('state_invalid', `The events up to ${oldest - 1} were forgotten`, {
    hint: `forge task show ${id}, then wait with --after ${oldest - 1}`,
    details: { after, oldest },
  });
}

type Look = Waited | { readonly now: Omit<Waited, 'event' | 'seq'> };

async function look(store: TaskStore, input: Input, start: number): Promise<Look> {
  const now = await store.readPlace(input.id);
  const { id, status, state } = now;
  if (input.event !== undefined) {
    const type = input.event === 'any' ? undefined : input.event;
    const found = await store.findEntry({ id, type, after: start });
    if (found === undefined) return { now };
    const { seq, at, triggered_by, summary } = found;
    return { ...now, event: { seq, type: found.type, at, triggered_by, summary }, seq };
  }
  const reached = input.state === undefined ? status === (input.status ?? 'closed') : state === input.state;
  if (reached) return { ...now, event: null, seq: await store.newestEntryOf(id) };
  if (status !== 'closed') return { now };
  throw new ForgeError('state_invalid', `${id} is closed (${state}) and will not be ${wishOf(input)}`, {
    hint: `forge task result ${id}`,
    details: { ...now },
  });
}

function timedOut(now: Omit<Waited, 'event' | 'seq'>, input: Input, seconds: number): ForgeError {
  return new ForgeError(
    'wait_timeout',
    `${now.id} is ${now.state} after ${seconds} s; waited for ${wishOf(input)}`,
    { hint: `forge task wait ${now.id}, or with a longer --timeout`, details: { ...now } },
  );
}

function wishOf({ event, state, status }: Input): string {
  return event ?? state ?? status ?? 'closed';
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { InputOf, OutputOf } from '#contract/declare.ts';
import type { waitTask } from '#contract/wait-operations.ts';
import { unknownState } from '#domain/unknown-state.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import type { HistoryEntry } from '#store/report.ts';
import type { TaskStore } from '#store/store.ts';
import { implement } from './operation.ts';

type Input = InputOf<typeof waitTask>;
type Waited = OutputOf<typeof waitTask>;

/** One indexed read each; another process's write is seen as soon as the server's own feed would see it. */
const POLL_MS = 100;

export const taskWait = implement<typeof waitTask>({
  async run(ctx, input) {
    checkWishes(input);
    const { store, workflow } = ctx.project;
    if (input.state !== undefined && !workflow.states.has(input.state))
      throw unknownState(workflow, input.state);
    const seconds = input.timeout_seconds ?? LIMITS.wait_default_seconds;
    const over = AbortSignal.timeout(seconds * 1_000);
    const start = input.event === undefined ? 0 : await findStart(store, input);
    for (let seen: number | undefined; ;) {
      const newest = await store.newestEvent();
      // Every change of a task is an event: without a new one there is nothing to look at, but the end of the wait.
      if (newest === seen && !over.aborted && ctx.signal?.aborted !== true) {
        await pause(ctx.signal === undefined ? over : AbortSignal.any([over, ctx.signal]));
        continue;
      }
      seen = newest;
      const waited = await look(store, input, start);
      if ('id' in waited) return waited;
      if (ctx.signal?.aborted === true) throw new ForgeError('interrupted', 'The wait was broken off');
      if (over.aborted) throw timedOut(waited.now, input, seconds);
      await pause(ctx.signal === undefined ? over : AbortSignal.any([over, ctx.signal]));
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

/** Without a number given, what counts is what happens from now on. */
async function findStart(store: TaskStore, { id, after }: Input): Promise<number> {
  return after ?? newest(await store.readHistory({ id, limit: undefined }));
}

/** The history is in the order of the clocks, which may have been wrong; the numbers are in the order of the store. */
function newest(entries: readonly HistoryEntry[]): number {
  return entries.reduce((highest, { seq }) => Math.max(highest, seq ?? 0), 0);
}

type Look = Waited | { readonly now: Omit<Waited, 'event' | 'seq'> };

async function look(store: TaskStore, input: Input, start: number): Promise<Look> {
  const { id, status, state, assignee, close_reason, version } = await store.getTask(input.id);
  const now = { id, status, state, assignee, close_reason: close_reason ?? null, version };
  if (input.event !== undefined) {
    const event = await findEvent(store, { id, type: input.event, start });
    return event === undefined ? { now } : { ...now, event, seq: event.seq };
  }
  const reached = input.state === undefined ? status === (input.status ?? 'closed') : state === input.state;
  if (reached) return { ...now, event: null, seq: newest(await store.readHistory({ id, limit: undefined })) };
  if (status !== 'closed') return { now };
  throw new ForgeError('state_invalid', `${id} is closed (${state}) and will not be ${wishOf(input)}`, {
    hint: `forge task result ${id}`,
    details: { ...now },
  });
}

async function findEvent(
  store: TaskStore,
  { id, type, start }: { id: string; type: string; start: number },
): Promise<NonNullable<Waited['event']> | undefined> {
  const entries = await store.readHistory({ id, limit: undefined });
  const found = entries.find((one) => (one.seq ?? 0) > start && (type === 'any' || one.type === type));
  if (found === undefined || found.seq === null) return undefined;
  const { seq, at, triggered_by, summary } = found;
  return { seq, type: found.type, at, triggered_by, summary };
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

async function pause(signal: AbortSignal): Promise<void> {
  try {
    await sleep(POLL_MS, undefined, { signal });
  } catch {
    // Broken off: the caller looks once more and says why.
  }
}

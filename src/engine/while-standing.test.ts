import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { EventWait } from '#store/event-store.ts';
import type { Standing } from '#store/store.ts';
import type { WorkPlace } from './work.ts';
import { explainCut, whileStanding } from './while-standing.ts';

it('work that is over at once costs no look at its task', async () => {
  let looks = 0;
  const readStanding = async (): Promise<never> => {
    looks += 1;
    throw new ForgeError('store_busy', 'not now');
  };
  // Only what is looked at: the work needs nothing of the place.
  const place = {
    store: { ...EVENTS, readStanding },
    signal: new AbortController().signal,
  } as unknown as WorkPlace;
  expect(await whileStanding(place, { id: 'fg-1', state: 'review' }, async () => 'done')).toBe('done');
  expect(looks).toBe(0);
});

it.each<[string, () => Promise<Pick<Standing, 'task' | 'fence'>>, string]>([
  ['moved', () => standing({ state: 'todo' }), 'fg-1 was moved to todo'],
  ['deleted', () => Promise.reject(new ForgeError('not_found', 'No task fg-1')), 'fg-1 was deleted'],
])('work is cut off as soon as its task is seen to be %s, and not before', async (_, late, message) => {
  const answers = [() => standing({}), () => Promise.reject(new ForgeError('store_busy', 'not now')), late];
  let looks = 0;
  const readStanding = () => (answers[Math.min((looks += 1), answers.length) - 1] ?? late)();
  // As above.
  const place = {
    store: { ...EVENTS, readStanding },
    signal: new AbortController().signal,
  } as unknown as WorkPlace;
  const cut = await whileStanding(place, { id: 'fg-1', state: 'review' }, async (own) => {
    await once(own.signal, 'abort');
    // Nothing more is asked once that is known.
    await sleep(LIMITS.wish_poll_ms * 2);
    return { why: explainCut(own), looks };
  });
  expect(cut).toEqual({ why: message, looks: answers.length });
});

it('a fault of the program while the work goes on is told when that has ended, and ends no other work', async () => {
  const fault = new Error('a bug');
  const readStanding = (): Promise<never> => Promise.reject(fault);
  const place = {
    store: { ...EVENTS, readStanding },
    signal: new AbortController().signal,
  } as unknown as WorkPlace; // as above
  const work = (): Promise<void> => sleep(LIMITS.wish_poll_ms * 2);
  await expect(whileStanding(place, { id: 'fg-1', state: 'review' }, work)).rejects.toBe(fault);
});

it('work that was cut off says why: its task was moved, or Forge ends', () => {
  const moved = new ForgeError('state_invalid', 'fg-1 was moved to todo');
  expect(explainCut({ signal: AbortSignal.abort(moved) })).toBe('fg-1 was moved to todo');
  expect(explainCut({ signal: AbortSignal.abort() })).toBe('Forge was stopped');
});

/** Something happens in other tasks again and again. */
const EVENTS = {
  newestEvent: async () => 1,
  waitFor: (after: number, { timeout_ms = 0 }: EventWait = {}) =>
    sleep(Math.min(10, timeout_ms)).then(() => after + 1),
};

const standing = async (more: { readonly state?: string }): Promise<Standing> =>
  ({ task: { id: 'fg-1', state: 'review', assignee: null, ...more }, fence: 1 }) as Standing; // all that is looked at

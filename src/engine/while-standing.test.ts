import { expect, it } from 'vitest';
import { ForgeError } from '#kernel/errors.ts';
import type { WorkPlace } from './work.ts';
import { explainCut, whileStanding } from './while-standing.ts';

it('work that is over at once costs no look at its task', async () => {
  let looks = 0;
  const readStanding = async (): Promise<never> => {
    looks += 1;
    throw new ForgeError('store_busy', 'not now');
  };
  // Only what is looked at: the work needs nothing of the place.
  const place = { store: { readStanding }, signal: new AbortController().signal } as unknown as WorkPlace;
  expect(await whileStanding(place, { id: 'fg-1', state: 'review' }, async () => 'done')).toBe('done');
  expect(looks).toBe(0);
});

it('work that was cut off says why: its task was moved, or Forge ends', () => {
  const moved = new ForgeError('state_invalid', 'fg-1 was moved to todo');
  expect(explainCut({ signal: AbortSignal.abort(moved) })).toBe('fg-1 was moved to todo');
  expect(explainCut({ signal: AbortSignal.abort() })).toBe('Forge was stopped');
});

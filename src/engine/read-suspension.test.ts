import { expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { readSuspension } from './read-suspension.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const at = (seconds: number): string => toIso(NOW + seconds * 1_000);

type Place = Parameters<typeof readSuspension>[0];

/** Until how many seconds from now an agent is left alone, by runs of which only this is looked at. */
async function until(
  runs: readonly Partial<Run>[],
  mended: Partial<Place['mended']> = {},
): Promise<number | null> {
  const all = runs.map((run) => ({ agent: 'ada', retry_after: null, message: null, ...run }));
  const place = {
    store: { listRuns: async () => all },
    clock: { now: () => NOW },
    agents: { find: () => undefined },
    mended: { all: '', by_person: '', ...mended },
    faults: { first_ms: 60_000, last_ms: 60_000 },
  } as unknown as Place;
  const found = await readSuspension(place, 'ada');
  return found === undefined ? null : (found.until - NOW) / 1_000;
}

const fault = (ended: number, outcome: Run['outcome'] = 'unavailable'): Partial<Run> => ({
  outcome,
  created_at: at(ended - 1),
  ended_at: at(ended),
});
const AT_WORK: Partial<Run> = { outcome: null, created_at: at(-1), ended_at: null };

it('an agent is left alone after a fault, and tried with one task when that is over', async () => {
  expect(await until([fault(-10)])).toBe(50);
  expect(await until([fault(-60)])).toBeNull();
  // While it is tried no second task is given to it.
  expect(await until([fault(-60), AT_WORK])).toBeGreaterThan(0);
  expect(await until([fault(-60), { ...AT_WORK, agent: 'bob' }])).toBeNull();
});

it('a new start mends what a person has to see to, and the word of a person everything', async () => {
  expect(await until([fault(-10, 'auth')], { by_person: at(-5) })).toBeNull();
  expect(await until([fault(-10)], { by_person: at(-5) })).toBe(50);
  expect(await until([fault(-10)], { all: at(-5) })).toBeNull();
  expect(await until([fault(-10)], { all: at(-20) })).toBe(50);
});

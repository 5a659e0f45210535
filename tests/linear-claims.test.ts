import { expect, it } from 'vitest';
import { firstDecided } from './support/linear-check.ts';
import type { Operation } from './support/linear-history.ts';
import { checkClaims } from './support/linear-models.ts';
import { SETUPS } from './support/linear-requests.ts';
import { describeRun, runClients } from './support/linear-run.ts';

/** One is enough, where what became of it can be decided. The long run is in linear-claims.soak.test.ts. */
const SEEDS = [1, 2, 3];
/** A history that is decided at all most often takes a thousand. */
const CONFIGURATIONS = 100_000;
/** Seconds on an idle machine; a busy one must not fail it. */
const TIMEOUT_MS = 180_000;

it(
  'eight processes that are stopped, killed and misled about the time: one order explains every answer',
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    const { operations, kills, stops, jumps } = await firstDecided(SEEDS, async (seed) => {
      const run = await runClients(seed, { count: 60, kills: 4 });
      expect(describeRun(seed, run, CONFIGURATIONS)).toBe('');
      return run;
    });
    expect(operations.length).toBeGreaterThanOrEqual(8 * 60);
    expect(Math.min(kills, stops, jumps)).toBeGreaterThan(0);
    // And would not if one of the answers had been another.
    const lies = operations.flatMap((operation, at) => {
      const lie = lieAbout(operation);
      return lie === undefined ? [] : [operations.with(at, lie)];
    });
    expect(lies.length).toBeGreaterThan(20);
    const believed = lies.filter((history) => checkClaims(history, SETUPS).violation === undefined);
    expect(believed).toEqual([]);
  },
);

/** A claim that was told an older fence than it got. */
function lieAbout(operation: Operation): Operation | undefined {
  const { request, answer } = operation;
  const fence = answer?.facts.fence;
  if (request.op !== 'claim' || answer?.code !== 'ok' || fence === undefined) return undefined;
  return { ...operation, answer: { ...answer, facts: { ...answer.facts, fence: fence - 1 } } };
}

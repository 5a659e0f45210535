import { expect, test } from 'vitest';
import { firstDecided } from '../support/linear-check.ts';
import type { Operation } from '../support/linear-history.ts';
import { HTTP_SETUPS, runOverHttp } from '../support/linear-http.ts';
import { checkClaims } from '../support/linear-models.ts';
import { noteLongestBlock } from '../support/loop-blocks.ts';

/** One is enough, where what became of it can be decided. The long run is in linear-http.soak.test.ts. */
const SEEDS = [1, 2, 3];
/** A history that is decided at all most often takes a thousand. */
const CONFIGURATIONS = 50_000;
/** Seconds on an idle machine; a busy one must not fail it. */
const TIMEOUT_MS = 180_000;

test(
  'eight clients of a server that is stopped, killed and started again: one order explains every answer',
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    await firstDecided(SEEDS, async (seed) => {
      const { operations, kills } = await runOverHttp(seed, { count: 50, kills: 2 });
      expect(judge(operations)).toBeUndefined();
      expect(operations.length).toBeGreaterThanOrEqual(8 * 50);
      expect(kills).toBeGreaterThan(0);
      const won = operations.filter(({ request, answer }) => request.op === 'claim' && answer?.code === 'ok');
      expect(won.length).toBeGreaterThan(10);
      // The last of them with an older fence: no order has that.
      const last = won.at(-1);
      const lie = operations.map((operation) =>
        operation === last && operation.answer !== undefined
          ? { ...operation, answer: { code: 'ok', facts: { ...operation.answer.facts, fence: 0 } } }
          : operation,
      );
      expect(judge(lie)).toBeDefined();
    });
  },
);

function judge(operations: readonly Operation[]): string | undefined {
  return checkClaims(operations, HTTP_SETUPS, CONFIGURATIONS).violation;
}

noteLongestBlock(import.meta.filename);

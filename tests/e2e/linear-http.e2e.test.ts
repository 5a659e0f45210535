import { expect, test } from 'vitest';
import { HTTP_SETUPS, runOverHttp } from '../support/linear-http.ts';
import { checkClaims } from '../support/linear-models.ts';

const SEED = 1;
/** Seconds on an idle machine; a busy one must not fail it. */
const TIMEOUT_MS = 180_000;

test(
  'eight clients of a server that is stopped, killed and started again: one order explains every answer',
  {
    timeout: TIMEOUT_MS,
  },
  async () => {
    const { operations, kills } = await runOverHttp(SEED, { count: 50, kills: 2 });
    expect(checkClaims(operations, HTTP_SETUPS).violation).toBeUndefined();
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
    expect(checkClaims(lie, HTTP_SETUPS).violation).toBeDefined();
  },
);

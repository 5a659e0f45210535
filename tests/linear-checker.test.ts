import { describe, expect, it } from 'vitest';
import { checkHistory, UndecidedError } from './support/linear-check.ts';
import type { Answer, Operation, Request, TaskSetup } from './support/linear-history.ts';
import { BUGS } from './support/linear-memory-store.ts';
import { checkClaims, taskModel } from './support/linear-models.ts';
import { SETUPS } from './support/linear-requests.ts';
import { simulateHistory } from './support/linear-simulate.ts';

/** The long run is in linear-checker.soak.test.ts. */
const HISTORIES = 300;
const OPERATIONS = 60;
/** The first or the second of these shows every bug; more, so that another choice of requests need not be tuned. */
const SEEDS = 20;
const TIMEOUT_MS = 180_000;

/** Most bugs show after some hundred; the next seed is cheaper than a history that takes a million. */
const CONFIGURATIONS = 20_000;

const TASK: TaskSetup = { id: 'fg-aaaa', rank: 0, waits: false };
const NOON = Date.UTC(2026, 1, 10, 12);

describe('the checker', () => {
  it('accepts what happened at the same time in whichever order explains it', () => {
    const history = [
      told([0, 10], claim('ann'), { code: 'taken', facts: { owner: 'bob' } }),
      told([1, 9], claim('bob'), { code: 'ok', facts: { owner: 'bob', fence: 1, version: 2 } }),
    ];
    expect(verdict(history)).toBeUndefined();
  });

  it('refuses an order that real time forbids', () => {
    const history = [
      told([0, 1], claim('ann'), { code: 'taken', facts: { owner: 'bob' } }),
      told([2, 3], claim('bob'), { code: 'ok', facts: { owner: 'bob', fence: 1, version: 2 } }),
    ];
    expect(verdict(history)).toMatch(/ann: claim .* taken .*; expected .*"code":"ok"/);
  });

  it('refuses two owners', () => {
    const won = { code: 'ok', facts: { fence: 1 } };
    expect(verdict([told([0, 10], claim('ann'), won), told([0, 10], claim('bob'), won)])).toBeDefined();
  });

  it('takes what was never told for done or not done, as the rest has it', () => {
    const lost: Operation = { client: 'ann', request: claim('ann'), invoked_at: 0, settled_at: 5 };
    const taken = told([6, 7], claim('bob'), { code: 'taken', facts: { owner: 'ann', version: 2 } });
    const free = told([6, 7], claim('bob'), { code: 'ok', facts: { fence: 1, version: 2 } });
    expect(verdict([lost, taken])).toBeUndefined();
    expect(verdict([lost, free])).toBeUndefined();
    expect(verdict([taken])).toBeDefined();
  });

  it('lets nothing happen after it is settled', () => {
    const lost: Operation = { client: 'ann', request: claim('ann'), invoked_at: 0, settled_at: 5 };
    const open = told([6, 7], read(), { code: 'ok', facts: { owner: null, version: 1 } });
    const owned = told([8, 9], read(), { code: 'ok', facts: { owner: 'ann', version: 2 } });
    expect(verdict([lost, open, owned])).toBeDefined();
    expect(verdict([{ ...lost, settled_at: 8 }, open, owned])).toBeUndefined();
  });

  it('says so when it cannot decide', () => {
    const history = Array.from({ length: 12 }, (_, at) =>
      told([0, 100], claim(`worker-${at}`), { code: 'closed', facts: {} }),
    );
    expect(() => checkHistory([...history, ...tenReads()], taskModel(TASK, [TASK]), 20)).toThrow(
      '20 configurations did not decide it',
    );
  });
});

describe('histories of eight clients that are stopped and killed, with clocks that jump', () => {
  it.for(BUGS.map((bug) => [bug]))('show: %s', { timeout: TIMEOUT_MS }, ([bug]) => {
    let found: string | undefined;
    for (let seed = 0; seed < SEEDS && found === undefined; seed += 1)
      found = decideSoon(simulateHistory(seed, 200, bug));
    expect(found).toMatch(/^(fg-\w+|All tasks): No order explains this history/);
  });

  function decideSoon(history: readonly Operation[]): string | undefined {
    try {
      return checkClaims(history, SETUPS, CONFIGURATIONS).violation;
    } catch (error) {
      if (error instanceof UndecidedError) return undefined;
      throw error;
    }
  }

  it('are explained where there is no bug', { timeout: TIMEOUT_MS }, () => {
    const answers = new Map<string, number>();
    for (let seed = 0; seed < HISTORIES; seed += 1) {
      const history = simulateHistory(seed, OPERATIONS);
      const { violation } = checkClaims(history, SETUPS);
      if (violation !== undefined) throw new Error(`Seed ${seed}: ${violation}`);
      for (const { request, answer } of history) {
        const what = `${request.op} ${answer?.code ?? 'untold'}`;
        answers.set(what, (answers.get(what) ?? 0) + 1);
      }
    }
    // Everything that can be answered was, often.
    const rare = EXPECTED.filter((what) => (answers.get(what) ?? 0) < HISTORIES / 50);
    expect(rare).toEqual([]);
  });

  it('are the same for the same seed', () => {
    expect(simulateHistory(7, 200)).toEqual(simulateHistory(7, 200));
    expect(simulateHistory(7, 200)).not.toEqual(simulateHistory(8, 200));
  });
});

const EXPECTED = [
  ...['ok', 'taken', 'closed', 'parked', 'blocked', 'role', 'untold'].map((code) => `claim ${code}`),
  ...['ok', 'nothing_ready', 'untold'].map((code) => `next ${code}`),
  ...['ok', 'fence_conflict', 'state_invalid'].map((code) => `renew ${code}`),
  ...['ok', 'fence_conflict', 'claim_conflict', 'state_invalid'].map((code) => `release ${code}`),
  ...[
    'ok',
    'fence_conflict',
    'version_conflict',
    'state_invalid',
    'guard_rejected',
    'role_conflict',
    'untold',
  ].map((code) => `transition ${code}`),
  ...['ok', 'fence_conflict', 'version_conflict'].map((code) => `close ${code}`),
  ...['ok', 'version_conflict', 'state_invalid'].map((code) => `reopen ${code}`),
  'grace ok',
  'read ok',
];

function verdict(operations: readonly Operation[]): string | undefined {
  return checkClaims(operations, [TASK]).violation;
}

function claim(actor: string): Request {
  return { op: 'claim', task: TASK.id, actor, force: false, now: NOON };
}

function read(): Request {
  return { op: 'read', task: TASK.id, now: NOON };
}

function told([from, to]: readonly [number, number], request: Request, answer: Answer): Operation {
  return {
    client: 'actor' in request ? request.actor : 'reader',
    request,
    invoked_at: from,
    completed_at: to,
    answer,
  };
}

/** At the same time as everything, so that there are many orders. */
function tenReads(): Operation[] {
  return Array.from({ length: 10 }, () => told([0, 100], read(), { code: 'ok', facts: { version: 1 } }));
}

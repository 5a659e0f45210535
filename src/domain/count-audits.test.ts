import { expect, it } from 'vitest';
import type { Review, Run } from '#contract/attempt.ts';
import { LIMITS } from '#kernel/limits.ts';
import { findSpentAudits } from './count-audits.ts';

const WORK = { attempt_id: 'a', head_commit: 'c1', agent: 'critic' };
const AT = '2026-03-01T12:00:00.000Z';

/** Reviews of the work, each with its run; only what is looked at. */
const rows = (count: number, run: Partial<Run> = {}, review: Partial<Review> = {}) => {
  const ids = Array.from({ length: count }, (_, at) => `r${at}`);
  return {
    reviews: ids.map(
      (run_id) =>
        ({
          attempt_id: 'a',
          head_commit: 'c1',
          status: 'error',
          cleared_at: null,
          run_id,
          ...review,
        }) as Review,
    ),
    runs: ids.map(
      (id) => ({ id, agent: 'critic', outcome: 'failed', message: 'exit 3', ended_at: AT, ...run }) as Run,
    ),
  };
};
const TRIES = LIMITS.audit_tries;

it('an auditor is asked until it has failed too often, and not again then', () => {
  expect(findSpentAudits(rows(TRIES - 1), WORK)).toBeUndefined();
  expect(findSpentAudits(rows(TRIES), WORK)).toBe(
    `critic gave no verdict in ${TRIES} tries; the last: exit 3`,
  );
});

it.each<[string, Partial<Run>, Partial<Review>]>([
  ['faults of the agent or the world', { outcome: 'unavailable' }, {}],
  ['a missing login', { outcome: 'auth' }, {}],
  ['runs that a person stopped', { outcome: 'stopped' }, {}],
  ['runs that lost their watcher', { outcome: 'crashed' }, {}],
  ['runs at work', { outcome: null, ended_at: null }, {}],
  ['runs that gave a verdict', { outcome: 'completed' }, {}],
  ['runs of another auditor', { agent: 'other' }, {}],
  ['reviews of another commit', {}, { head_commit: 'c0' }],
  ['reviews of another attempt', {}, { attempt_id: 'b' }],
  ['reviews that were cleared', {}, { cleared_at: AT }],
  ['reviews before the last verdict', {}, { status: 'failed' }],
])('%s are not counted', (_what, run, review) => {
  expect(findSpentAudits(rows(TRIES, run, review), WORK)).toBeUndefined();
});

it('what was before a person resumed the auditor is not counted', () => {
  expect(findSpentAudits(rows(TRIES), { ...WORK, resumed_at: AT })).toBeUndefined();
  expect(findSpentAudits(rows(TRIES), { ...WORK, resumed_at: '2026-03-01T11:00:00.000Z' })).toBeDefined();
});

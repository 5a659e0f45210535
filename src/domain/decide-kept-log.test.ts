import { expect, it } from 'vitest';
import { decideKeptLog, type KeptLogFacts, type LogBounds } from './decide-kept-log.ts';

const LOG: KeptLogFacts = { bytes: 5_000, ended_at: 100, attempt: 'over', task: 'closed' };
const BOUNDS: LogBounds = { until: 101, surplus: 0, least_bytes: 1_000 };

it.each<[string, Partial<KeptLogFacts>, Partial<LogBounds>, ReturnType<typeof decideKeptLog>]>([
  ['is too old', {}, {}, 'goes'],
  ['is too old, of a deleted task', { task: 'deleted' }, {}, 'goes'],
  ['is as old as it may be', {}, { until: 100 }, 'allowed'],
  ['is young while all take too much', {}, { until: 0, surplus: 1 }, 'goes'],
  ['is young while all take as much as they may', {}, { until: 0, surplus: 0 }, 'allowed'],
  ['is as small as one that went', { bytes: 999 }, { surplus: 1 }, 'small'],
  ['is just large enough to go', { bytes: 1_000 }, {}, 'goes'],
  ['is that of a run that has not ended', { ended_at: null }, { surplus: 1 }, 'at_work'],
  ['is that of an unfinished attempt', { attempt: 'active' }, { surplus: 1 }, 'unfinished'],
  ['is that of an open task', { task: 'open' }, { surplus: 1 }, 'unfinished'],
  ['is that of a run without a row', { ended_at: 'unknown' }, { surplus: 1 }, 'unknown'],
  ['is that of an attempt without a row', { attempt: 'unknown' }, { surplus: 1 }, 'unknown'],
  ['is that of a task that is not here', { task: 'unknown' }, { surplus: 1 }, 'unknown'],
])('a log that %s', (_name, facts, bounds, expected) => {
  expect(decideKeptLog({ ...LOG, ...facts }, { ...BOUNDS, ...bounds })).toBe(expected);
});

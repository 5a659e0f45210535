import { describe, expect, it } from 'vitest';
import { classifyFailure } from './classify-failure.ts';

const now = Date.UTC(2026, 0, 1);

describe('classifyFailure', () => {
  it.each([
    [{ status: 429, message: 'x' }, 'usage_limit'],
    [{ type: 'rate_limit_error', message: 'x' }, 'usage_limit'],
    [{ type: 'usageLimitExceeded', message: 'x' }, 'usage_limit'],
    [{ type: 'RESOURCE_EXHAUSTED', message: 'x' }, 'usage_limit'],
    [{ status: 529, type: 'overloaded_error', message: 'x' }, 'usage_limit'],
    [{ status: 503, message: 'x' }, 'usage_limit'],
    [{ type: 'serverOverloaded', message: 'x' }, 'usage_limit'],
    [{ status: 401, message: 'x' }, 'auth'],
    [{ status: 403, type: 'permission_error', message: 'x' }, 'auth'],
    [{ type: 'billing_error', message: 'Credit balance is too low' }, 'auth'],
    [{ message: 'Claude AI usage limit reached|1767229200' }, 'usage_limit'],
    [{ message: '5-hour limit reached ∙ resets 3am' }, 'usage_limit'],
    [{ message: 'Invalid API key · Please run /login' }, 'auth'],
    [{ message: 'Error: 503 Service Unavailable' }, 'usage_limit'],
    [{ status: 400, message: 'rate limit is a word in this prompt' }, 'failed'],
    [{ status: 500, message: 'Internal error' }, 'failed'],
    [{ type: 'contextWindowExceeded', message: 'x' }, 'failed'],
    [{ message: 'Segmentation fault' }, 'failed'],
    [{ message: 'expected 1401 rows' }, 'failed'],
  ])('%j is %s', (report, outcome) => {
    expect(classifyFailure({ now, ...report })).toMatchObject({ outcome, message: report.message });
  });

  it.each([
    ['the time that was given', { resets_at: now + 5_000 }, 'x', 5_000],
    ['seconds since 1970 in the text', {}, 'usage limit reached|1767229200', 3_600_000],
    ['seconds in the text', {}, 'quota exceeded, retry in 12.5s', 12_500],
    ['minutes in the text', {}, 'rate limit: try again in 5 minutes', 300_000],
    ['a header in the text', {}, 'too many requests; retry-after: 60', 60_000],
    ['a quarter of an hour where nothing is said', {}, 'usage limit', 900_000],
    ['the same for a time that has passed', { resets_at: now - 1 }, 'x', 900_000],
    ['the same for a time in another year', { resets_at: now + 1e11 }, 'x', 900_000],
  ])('waits until %s', (_what, given, message, ms) => {
    const failure = classifyFailure({ now, status: 429, message, ...given });
    expect(failure.retry_after).toBe(new Date(now + ms).toISOString());
  });

  it('waits a minute for what is overloaded', () => {
    expect(classifyFailure({ now, status: 529, message: 'x' }).retry_after).toBe('2026-01-01T00:01:00.000Z');
  });

  it('names no time for what does not mend itself', () => {
    expect(classifyFailure({ now, status: 401, message: 'x' }).retry_after).toBeUndefined();
  });
});

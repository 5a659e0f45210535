import { describe, expect, it } from 'vitest';
import { classifyFailure } from './classify-failure.ts';

const now = Date.UTC(2026, 0, 1);

describe('classifyFailure', () => {
  it.each([
    [{ status: 429, message: 'x' }, 'usage_limit'],
    [{ type: 'rate_limit_error', message: 'x' }, 'usage_limit'],
    [{ type: 'usageLimitExceeded', message: 'x' }, 'usage_limit'],
    [{ type: 'RESOURCE_EXHAUSTED', message: 'x' }, 'usage_limit'],
    [{ status: 529, type: 'overloaded_error', message: 'x' }, 'unavailable'],
    [{ status: 503, message: 'x' }, 'unavailable'],
    [{ type: 'serverOverloaded', message: 'x' }, 'unavailable'],
    [{ status: 401, message: 'x' }, 'auth'],
    [{ status: 403, type: 'permission_error', message: 'x' }, 'auth'],
    [{ type: 'billing_error', message: 'Credit balance is too low' }, 'auth'],
    [{ message: 'Claude AI usage limit reached|1767229200' }, 'usage_limit'],
    [{ message: '5-hour limit reached ∙ resets 3am' }, 'usage_limit'],
    [{ message: 'Invalid API key · Please run /login' }, 'auth'],
    [{ message: 'Error: 503 Service Unavailable' }, 'unavailable'],
    [{ status: 400, message: 'rate limit is a word in this prompt' }, 'failed'],
    [{ status: 500, message: 'Internal error' }, 'unavailable'],
    [{ status: 408, message: 'x' }, 'unavailable'],
    [{ type: 'httpConnectionFailed', message: 'x' }, 'unavailable'],
    [{ type: 'httpConnectionFailed', status: 401, message: 'x' }, 'auth'],
    [{ type: 'responseStreamDisconnected', message: 'x' }, 'unavailable'],
    [{ type: 'api_error', message: 'x' }, 'unavailable'],
    [{ type: 'timeout_error', message: 'x' }, 'unavailable'],
    // As the programs say it when their provider cannot be reached.
    [{ message: 'API Error: Connection error.' }, 'unavailable'],
    [{ message: 'API Error: Request timed out.' }, 'unavailable'],
    [{ message: 'Unable to connect to API (ECONNREFUSED)' }, 'unavailable'],
    [{ message: 'getaddrinfo ENOTFOUND api.example.com' }, 'unavailable'],
    [{ message: 'TypeError: fetch failed' }, 'unavailable'],
    [{ message: 'stream disconnected before completion: error sending request for url' }, 'unavailable'],
    [{ message: 'unexpected status 502 Bad Gateway' }, 'unavailable'],
    [{ message: 'exceeded retry limit, last status: 500' }, 'unavailable'],
    [{ message: 'dial tcp: lookup api.example.com: Temporary failure in name resolution' }, 'unavailable'],
    [{ message: 'Unable to connect. Is the computer able to access the url?' }, 'unavailable'],
    [{ message: 'The socket connection was closed unexpectedly: socket hang up' }, 'unavailable'],
    [{ status: 400, message: 'ECONNREFUSED is a word in this prompt' }, 'failed'],
    [{ message: 'TypeError in line 500' }, 'failed'],
    [{ message: 'could not parse the patch' }, 'failed'],
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

  it('names a time for what is overloaded only where one was given', () => {
    expect(classifyFailure({ now, status: 529, message: 'x' }).retry_after).toBeUndefined();
    expect(classifyFailure({ now, status: 503, message: 'retry in 5s' }).retry_after).toBe(
      new Date(now + 5_000).toISOString(),
    );
  });

  it('names no time for what does not mend itself', () => {
    expect(classifyFailure({ now, status: 401, message: 'x' }).retry_after).toBeUndefined();
  });
});

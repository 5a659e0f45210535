import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Failure } from './session.ts';

/** What a program said in a place where it says nothing but errors; never what the agent wrote. */
export interface ErrorReport {
  readonly message: string;
  /** Of the provider's answer. */
  readonly status?: number | undefined;
  /** The program's own word for it: `rate_limit_error`, `usageLimitExceeded`. */
  readonly type?: string | undefined;
  /** When the provider takes requests again, in milliseconds since 1970. */
  readonly resets_at?: number | undefined;
  readonly now: number;
}

type Cause = 'usage_limit' | 'overload' | 'auth' | 'failed';

/** Tells what waiting mends from what a person has to mend, and both from what the agent did wrong. */
export function classifyFailure(report: ErrorReport): Failure {
  const { message } = report;
  switch (findCause(report)) {
    case 'auth':
      return { outcome: 'auth', message };
    case 'usage_limit':
      return { outcome: 'usage_limit', message, retry_after: whenAgain(report, LIMITS.usage_limit_retry_ms) };
    case 'overload':
      return { outcome: 'usage_limit', message, retry_after: whenAgain(report, LIMITS.overload_retry_ms) };
    case 'failed':
      return { outcome: 'failed', message };
  }
}

/** The number and the word of the program are believed before its sentence. */
function findCause({ status, type = '', message }: ErrorReport): Cause {
  const word = type.toLowerCase().replaceAll(/[^a-z]/g, '');
  if (/usagelimit|ratelimit|quota|resourceexhausted|toomanyrequests/.test(word)) return 'usage_limit';
  if (/overload|capacity|unavailable/.test(word)) return 'overload';
  if (/authentication|unauthorized|permissionerror|billing|authrequired/.test(word)) return 'auth';
  if (status === 429) return 'usage_limit';
  if (status === 503 || status === 529) return 'overload';
  if (status === 401 || status === 402 || status === 403) return 'auth';
  return status === undefined ? findCauseInText(message) : 'failed';
}

function findCauseInText(message: string): Cause {
  if (
    /usage limit|rate limit|limit reached|quota (?:exceeded|exhausted)|exceeded your .*quota|too many requests|\b429\b/i.test(
      message,
    )
  )
    return 'usage_limit';
  if (/overloaded|\b(?:503|529)\b/i.test(message)) return 'overload';
  if (
    /invalid api key|not logged in|please (?:run \/)?log ?in|unauthori[sz]ed|authentication|credit balance|\b401\b/i.test(
      message,
    )
  )
    return 'auth';
  return 'failed';
}

function whenAgain({ resets_at, message, now }: ErrorReport, otherwise_ms: number): string {
  const said = resets_at ?? findTime(message, now);
  // A time that has passed, or lies weeks ahead, is a misunderstanding.
  const sensible = said !== undefined && said > now && said - now < 32 * 86_400_000;
  return toIso(sensible ? said : now + otherwise_ms);
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** `…limit reached|1770000000`, `retry in 12.5s`, `try again in 5 minutes`, `retry-after: 60`. */
function findTime(message: string, now: number): number | undefined {
  const [, epoch] = /\|(\d{10})\b/.exec(message) ?? [];
  if (epoch !== undefined) return Number(epoch) * 1_000;
  const [, count, unit = 's'] =
    /(?:retry|again)(?:[- ]after|[- ]in)?:?\s+(\d+(?:\.\d+)?)\s*(s|m|h)?/i.exec(message) ?? [];
  return count === undefined ? undefined : now + Number(count) * (UNITS[unit.toLowerCase()] ?? 1_000);
}

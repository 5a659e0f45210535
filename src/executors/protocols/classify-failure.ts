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

type Cause = 'usage_limit' | 'unavailable' | 'auth' | 'failed';

/** Tells what waiting mends from what a person has to mend, and both from what the agent did wrong. */
export function classifyFailure(report: ErrorReport): Failure {
  const { message } = report;
  switch (findCause(report)) {
    case 'auth':
      return { outcome: 'auth', message };
    case 'usage_limit':
      return { outcome: 'usage_limit', message, retry_after: whenAgain(report, LIMITS.usage_limit_retry_ms) };
    case 'unavailable':
      return { outcome: 'unavailable', message, retry_after: findSensible(report) };
    case 'failed':
      return { outcome: 'failed', message };
  }
}

/** The number and the word of the program are believed before its sentence. */
function findCause({ status, type = '', message }: ErrorReport): Cause {
  const word = type.toLowerCase().replaceAll(/[^a-z]/g, '');
  if (/usagelimit|ratelimit|quota|resourceexhausted|toomanyrequests/.test(word)) return 'usage_limit';
  if (/authentication|unauthorized|permissionerror|billing|authrequired/.test(word)) return 'auth';
  if (status === 429) return 'usage_limit';
  if (status === 401 || status === 402 || status === 403) return 'auth';
  if (UNREACHED_WORD.test(word)) return 'unavailable';
  if (status === 408 || (status !== undefined && status >= 500)) return 'unavailable';
  return status === undefined ? findCauseInText(message) : 'failed';
}

/** `overloaded_error`, `api_error`, `serverOverloaded`, `httpConnectionFailed`, `responseStreamDisconnected`, `UNAVAILABLE`. */
const UNREACHED_WORD =
  /overload|capacity|unavailable|connectionfailed|connectionerror|streamdisconnected|toomanyfailedattempts|servererror|timeouterror|deadlineexceeded|networkerror|^apierror$/;

/** As the programs, their libraries and the system say that a host was not reached or did not answer as it should. */
const UNREACHED_TEXT: readonly RegExp[] = [
  /\b(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EPIPE|UND_ERR_[A-Z_]+)\b/,
  /connection ?(?:error|refused|reset|closed|timed ?out|aborted|failed)|connect(?:ion)? timeout/i,
  /fetch failed|socket hang up|getaddrinfo|network (?:error|is (?:down|unreachable))|no route to host|other side closed/i,
  /(?:unable|failed) to connect|could ?n[o']t (?:connect|resolve|reach)|could not (?:connect|resolve|reach)/i,
  /(?:dns|name) (?:lookup|resolution)|failed to lookup address|error sending request|stream (?:disconnected|closed) before/i,
  /request timed ?out|gateway time-?out|bad gateway|service unavailable|internal server error|overloaded/i,
  /\b(?:50[0234]|52[0-9])\b[^\n]{0,40}\b(?:error|gateway|service|server|unavailable|timeout|overloaded)\b/i,
  /\b(?:status|code|http|error)\b[^\n\d]{0,12}\b(?:50[0234]|52[0-9])\b/i,
];

function findCauseInText(message: string): Cause {
  if (
    /usage limit|rate limit|limit reached|quota (?:exceeded|exhausted)|exceeded your .{0,200}quota|too many requests|\b429\b/i.test(
      message,
    )
  )
    return 'usage_limit';
  if (
    /invalid api key|not logged in|please (?:run \/)?log ?in|unauthori[sz]ed|authentication|credit balance|\b401\b/i.test(
      message,
    )
  )
    return 'auth';
  return UNREACHED_TEXT.some((pattern) => pattern.test(message)) ? 'unavailable' : 'failed';
}

function whenAgain(report: ErrorReport, otherwise_ms: number): string {
  return findSensible(report) ?? toIso(report.now + otherwise_ms);
}

/** When it may be tried again, as far as that was said. */
function findSensible({ resets_at, message, now }: ErrorReport): string | undefined {
  const said = resets_at ?? findTime(message, now);
  // A time that has passed, or lies weeks ahead, is a misunderstanding.
  const isSensible = said !== undefined && said > now && said - now < 32 * 86_400_000;
  return isSensible ? toIso(said) : undefined;
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

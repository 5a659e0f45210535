/** Time comes in from outside, so that tests and replays decide what it is. */
export interface Clock {
  /** Integer milliseconds since 1970, wall clock. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

const OWN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/;

/**
 * NaN-free: undefined for anything that is not an ISO 8601 time. A time without a zone is UTC, as SQLite
 * writes it; Date.parse alone takes the reader's zone, and takes "task 5" for a day in 2001.
 */
export function parseIso(text: string): number | undefined {
  // As toIso writes it: nearly every time that is read.
  if (OWN.test(text)) return known(Date.parse(text));
  const found = ISO.exec(text);
  if (found === null) return undefined;
  const [, day, time = '00:00', zone = 'Z'] = found;
  return known(Date.parse(`${day}T${time}${zone}`));
}

function known(ms: number): number | undefined {
  return Number.isNaN(ms) ? undefined : ms;
}

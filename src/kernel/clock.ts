/** Time comes in from outside, so that tests and replays decide what it is. */
export interface Clock {
  /** Integer milliseconds since 1970, wall clock. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** NaN-free: undefined for anything that is not a date. */
export function parseIso(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

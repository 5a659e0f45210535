import type { Json } from '#kernel/json.ts';
import { parseIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';

/** Day first with two digits for the year, as older versions of Backlog.md wrote it. */
const SHORT = /^(\d\d)([-/.])(\d\d)\2(\d\d)$/;

/** A time in any form that one of the tools writes; without a zone it is UTC. */
export function readTime(value: Json | undefined): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  const short = SHORT.exec(text);
  const ms = parseIso(short === null ? text : `20${short[4]}-${short[3]}-${short[1]}`);
  // Go writes the year 1 for "never"; from 2200 on a stamp is damage.
  return ms === undefined || ms <= 0 || ms >= LIMITS.stamp_max_ms ? undefined : ms;
}

/** The latest of those that are known. */
export function latest(...times: readonly (number | undefined)[]): number | undefined {
  let last: number | undefined;
  for (const time of times) if (time !== undefined && (last === undefined || time > last)) last = time;
  return last;
}

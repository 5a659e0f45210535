import { join } from 'node:path';
import { toIso } from '#kernel/clock.ts';
import type { JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { changeHomeFile, parseReadableLines, readHomeFile, toHomeLine, toHomeText } from './home-file.ts';

const FILE = 'given-values.jsonl';
/** Of all agents together; the ones that were given longest ago go first. */
export const GIVEN_VALUES = 500;
/** Since a run was last given the value. */
export const GIVEN_DAYS = 90;
const DAY_MS = 86_400_000;

interface GivenValue {
  readonly agent: string;
  readonly value: string;
  readonly given_ms: number;
}

/**
 * What a run is given by `--env` stays known after its agent or profile was changed or removed, because what the run has
 * left behind may still hold it. Kept for redaction alone; written before the run can say anything.
 */
export async function noteGivenValues(
  home: string,
  {
    agent,
    env,
    now,
  }: { readonly agent: string; readonly env: Readonly<Record<string, string>>; readonly now: number },
): Promise<void> {
  const values = new Set(Object.values(env).filter((value) => value.length >= LIMITS.secret_min_length));
  if (values.size === 0) return;
  // Nearly always it is there already, of this day.
  const noted = readGiven(home).filter((one) => one.agent === agent && now - one.given_ms < DAY_MS);
  if ([...values].every((value) => noted.some((one) => one.value === value))) return;
  await changeHomeFile(home, FILE, (text) => {
    const others = parseGiven(text, home).filter((one) => one.agent !== agent || !values.has(one.value));
    const added = [...values].map((value) => ({ agent, value, given_ms: now }));
    const kept = [...others.filter((one) => isKept(one, now)), ...added].slice(-GIVEN_VALUES);
    return { text: toHomeText(kept.map((one) => toHomeLine(toJson(one)))), answer: undefined };
  });
}

/** What runs of these agents were given, as far as it is kept. */
export function listGivenValues(
  home: string,
  { agents, now }: { readonly agents: ReadonlySet<string | null>; readonly now: number },
): string[] {
  return readGiven(home).flatMap((one) => (agents.has(one.agent) && isKept(one, now) ? [one.value] : []));
}

function isKept({ given_ms }: GivenValue, now: number): boolean {
  return now - given_ms < GIVEN_DAYS * DAY_MS;
}

function toJson({ agent, value, given_ms }: GivenValue): JsonObject {
  return { agent, value, given_at: toIso(given_ms) };
}

function readGiven(home: string): GivenValue[] {
  return parseGiven(readHomeFile(home, FILE), home);
}

/** A line that cannot be read is of no use. */
function parseGiven(text: string | undefined, home: string): GivenValue[] {
  return parseReadableLines(text, join(home, FILE)).flatMap(({ value: line }) => {
    const { agent, value, given_at } = line ?? {};
    const given_ms = typeof given_at === 'string' ? Date.parse(given_at) : Number.NaN;
    if (typeof agent !== 'string' || typeof value !== 'string' || Number.isNaN(given_ms)) return [];
    return [{ agent, value, given_ms }];
  });
}

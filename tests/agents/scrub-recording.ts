import type { TranscriptEntry } from '#contract/transcript.ts';
import type { Recording } from '../support/agent-recordings.ts';

/** What a recording must not keep: where it was made, when, and names that were made up for the occasion. */
export interface Scrubbing {
  /** What a path begins with, and what is put in its place; the longer ones first. */
  readonly paths: readonly (readonly [from: string, to: string])[];
  /** When the conversation began, and what that is called in the recording. */
  readonly began: number;
  readonly now: number;
}

const MAX_TEXT = 300;
const MAX_LIST = 5;
const MINUTE = 60_000;

/** Keys whose values say how long something took, or which process it was. */
const MEASURED = /(?:_ms|Ms|pid|processId|_tokens_per_second)$/;
/** Of the machine. */
const MACHINE = new Set(['serverName', 'userAgent', 'platformOs', 'platformFamily', 'apiKeySource']);

/** Keeps every line and every field; texts, lists and times are made small and the same from run to run. */
export function scrubRecording(recording: Recording, scrubbing: Scrubbing): Recording {
  const scrub = createScrubber(scrubbing);
  const { head, lines, entries, end } = recording;
  // The conversation first: names are numbered in the order in which they come by.
  // What Forge said is compared word for word.
  const scrubbed = lines.map(({ from, line }) => ({ from, line: scrub(line, from === 'agent') }));
  return {
    head: { ...(scrub(head, false) as Recording['head']), now: scrubbing.now },
    lines: scrubbed,
    entries: entries.map((entry) => scrub(entry, true) as TranscriptEntry),
    end: scrub(end, true) as Recording['end'],
  };
}

/** `small` cuts texts and lists. */
type Scrub = (value: unknown, small: boolean) => unknown;

function createScrubber(scrubbing: Scrubbing): Scrub {
  const ids = new Map<string, string>();
  const toText = (text: string, small: boolean): string => {
    const clean = nameIds(scrubText(text, scrubbing), ids);
    return small && clean.length > MAX_TEXT ? `${clean.slice(0, MAX_TEXT - 1)}…` : clean;
  };
  const scrub = (value: unknown, small: boolean, key = ''): unknown => {
    if (typeof value === 'string') return MACHINE.has(key) ? 'unknown' : toText(value, small);
    if (typeof value === 'number')
      return MEASURED.test(key) && !isTime(value, scrubbing) ? 0 : toNumber(value, scrubbing);
    if (Array.isArray(value))
      return (small ? value.slice(0, MAX_LIST) : value).map((one: unknown) => scrub(one, small, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inside]) => [toText(name, small), scrub(inside, small, name)]),
    );
  };
  return (value, small) => scrub(value, small);
}

const ID =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?:ses|msg|prt|per|tool)_[0-9A-Za-z]{20,}|\breq_[0-9A-Za-z]{10,}/g;

function nameIds(text: string, ids: Map<string, string>): string {
  return text.replaceAll(ID, (id) => {
    const name = ids.get(id) ?? `id-${ids.size + 1}`;
    ids.set(id, name);
    return name;
  });
}

function scrubText(text: string, scrubbing: Scrubbing): string {
  let clean = text;
  for (const [from, to] of scrubbing.paths) clean = clean.replaceAll(from, to);
  return clean
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1')
    .replaceAll(/\b1[78]\d{11}\b/g, String(scrubbing.now))
    .replaceAll(/(?<=_)1[78]\d{11}(?=_)/g, String(scrubbing.now))
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (iso) => moveIso(iso, scrubbing))
    .replaceAll(/\b\d{1,2}:\d\d [AP]M\b/g, '0:00 AM')
    .replaceAll(/\/\d+\.sock\b/g, '/0.sock')
    .replaceAll(/(Wall time: )[\d.]+/g, '$10')
    .replaceAll(/(Chunk ID: )\w+/g, '$10');
}

/** Times keep their distance to the beginning, in minutes. */
function toNumber(value: number, { began, now }: Scrubbing): number {
  if (isNear(value, began)) return now + toMinutes(value - began);
  if (isNear(value * 1_000, began)) return (now + toMinutes(value * 1_000 - began)) / 1_000;
  return value;
}

function isTime(value: number, { began }: Scrubbing): boolean {
  return isNear(value, began) || isNear(value * 1_000, began);
}

function moveIso(iso: string, { began, now }: Scrubbing): string {
  const at = Date.parse(iso);
  return new Date(isNear(at, began) ? now + toMinutes(at - began) : now).toISOString();
}

function isNear(at: number, began: number): boolean {
  return Math.abs(at - began) < 40 * 86_400_000;
}

function toMinutes(ms: number): number {
  return Math.round(ms / MINUTE) * MINUTE;
}

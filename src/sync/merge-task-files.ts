import { birthOf, isSameTask } from '#domain/identity.ts';
import { joinGraphs, type TaskGraph } from '#domain/join-graphs.ts';
import { joinRecords } from '#domain/join-records.ts';
import { stampHandEdits } from '#domain/hand-edits.ts';
import { findLostValues, keepLostValues } from '#domain/lost-values.ts';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import { isSealed } from '#domain/record-seal.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { parseIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { compareText } from '#kernel/text.ts';
import { splitText } from './read-file-lines.ts';

export interface Merged {
  readonly text: string;
  readonly lines: number;
  /** Values that both sides changed; the ones that lost are kept in their lines. */
  readonly conflicts: number;
}

/**
 * Two versions of `.forge/tasks.jsonl` and their common ancestor as one, the same whichever is called ours. Lines that
 * are equal on both sides, or stand on one only, pass as they are, so that the work follows what changed.
 */
export function mergeTaskFiles(base: string, ours: string, theirs: string): Merged {
  const sides = { base: readSide(base), ours: readSide(ours), theirs: readSide(theirs) };
  const { result, conflicts, kept } = mergeLines(sides) ?? mergeWhole(sides);
  const unreadable = mergeSets(sides.base.unreadable, sides.ours.unreadable, sides.theirs.unreadable);
  const lines = [...result.keys()].sort(compareText).map((id) => result.get(id) ?? '');
  lines.push(...[...new Set([...unreadable, ...kept])].sort(compareText));
  return { text: toText(lines), lines: lines.length, conflicts };
}

/** The log only grows: every line of either side. */
export function mergeHistoryFiles(ours: string, theirs: string): Merged {
  const lines = new Set<string>();
  for (const text of [ours, theirs]) for (const line of splitText(text)) lines.add(line.text);
  const sorted = [...lines].sort(compareText);
  return { text: toText(sorted), lines: sorted.length, conflicts: 0 };
}

interface Side {
  /** The newest line of each task as it stands; more than one where a file has several of them. */
  readonly lines: ReadonlyMap<string, readonly string[]>;
  readonly unreadable: ReadonlySet<string>;
}

interface MergedLines {
  readonly result: Map<string, string>;
  readonly conflicts: number;
  /** Lines with an id that are no tasks all the same. */
  readonly kept: readonly string[];
}

interface Sides {
  readonly base: Side;
  readonly ours: Side;
  readonly theirs: Side;
}

function readSide(text: string): Side {
  const lines = new Map<string, string[]>();
  const unreadable = new Set<string>();
  for (const { text: line } of splitText(text)) {
    const id = idOf(line);
    if (id === undefined) unreadable.add(line);
    else if (lines.get(id)?.push(line) === undefined) lines.set(id, [line]);
  }
  return { lines, unreadable };
}

/** Lines that Forge wrote tell it without being parsed. */
function idOf(line: string): string | undefined {
  const [, quick] = /^\{"id":"([A-Za-z0-9._-]+)","title":/.exec(line) ?? [];
  if (quick !== undefined && line.endsWith('}')) return quick;
  return tryDecode(line)?.id;
}

/** Undefined where two tasks share a birth: then references have to follow, and the whole is looked at. */
function mergeLines({ base, ours, theirs }: Sides): MergedLines | undefined {
  const result = new Map<string, string>();
  const kept: string[] = [];
  let conflicts = 0;
  for (const id of new Set([...ours.lines.keys(), ...theirs.lines.keys()])) {
    const here = ours.lines.get(id) ?? [];
    const there = theirs.lines.get(id) ?? [];
    if (hasShortenedTwin(id, ours) || hasShortenedTwin(id, theirs)) return undefined;
    const [first = ''] = here.length > 0 ? here : there;
    const isPlain = here.length <= 1 && there.length <= 1;
    if (isPlain && (here.length === 0 || there.length === 0 || first === there[0])) {
      result.set(id, first);
      continue;
    }
    const merged = mergeTask(base.lines.get(id)?.at(-1), here, there);
    if (merged === undefined) return undefined;
    if (merged.record !== undefined) result.set(id, encodeRecord(merged.record));
    conflicts += merged.conflicts;
    kept.push(...merged.kept);
  }
  return { result, conflicts, kept };
}

/** Whether an id may be one that tells two tasks apart, with one of them still under its birth. */
function hasShortenedTwin(id: string, { lines }: Side): boolean {
  return id.length - id.indexOf('-') - 1 > 6 && lines.has(id.slice(0, -6));
}

function mergeTask(
  baseLine: string | undefined,
  here: readonly string[],
  there: readonly string[],
): { record: TaskRecord | undefined; conflicts: number; kept: string[] } | undefined {
  const kept: string[] = [];
  const base = baseLine === undefined ? undefined : tryDecode(baseLine);
  const read = (lines: readonly string[]): TaskRecord | 'different' | undefined => {
    let joined: TaskRecord | undefined;
    for (const line of lines) {
      const record = readEdited(line, base);
      if (record === undefined) {
        kept.push(line);
        continue;
      }
      if (joined !== undefined && !isSameTask(joined, record)) return 'different';
      joined = joined === undefined ? record : joinRecords(joined, record);
    }
    return joined;
  };
  const ours = read(here);
  const theirs = read(there);
  if (ours === 'different' || theirs === 'different') return undefined;
  if (ours === undefined || theirs === undefined) return { record: ours ?? theirs, conflicts: 0, kept };
  if (!isSameTask(ours, theirs)) return undefined;
  const joined = joinRecords(ours, theirs);
  const lost = base === undefined || !isSameTask(base, ours) ? [] : findLostValues(base, ours, theirs);
  return { record: keepLostValues(joined, lost), conflicts: lost.length, kept };
}

/** What somebody changed by hand since the common ancestor gets the stamp of a change. */
function readEdited(line: string, base: TaskRecord | undefined): TaskRecord | undefined {
  const record = tryDecode(line);
  if (record === undefined || base === undefined || isSealed(line) || !isSameTask(record, base))
    return record;
  const { updated_at } = JSON.parse(line) as { updated_at?: unknown };
  const updated = typeof updated_at === 'string' ? parseIso(updated_at) : undefined;
  return stampHandEdits(record, base, updated ?? record.created);
}

function mergeWhole({ base, ours, theirs }: Sides): MergedLines {
  const known = new Map([...toGraphs(base)].flatMap((graph) => [...graph]));
  const graphs = [...toGraphs(ours, known), ...toGraphs(theirs, known)];
  const joined = graphs.reduce<TaskGraph>(joinGraphs, new Map());
  const lines = [...ours.lines.values(), ...theirs.lines.values()].flat();
  const kept = lines.filter((line) => tryDecode(line) === undefined);
  const result = new Map([...joined].map(([id, record]) => [id, encodeRecord(record)]));
  return { result, conflicts: 0, kept };
}

/** A second task with the id of the first is a graph of its own. `known` is the common ancestor, for edits by hand. */
function toGraphs({ lines }: Side, known?: TaskGraph): Map<string, TaskRecord>[] {
  const main = new Map<string, TaskRecord>();
  const strays: Map<string, TaskRecord>[] = [];
  for (const [id, text] of [...lines].flatMap(([name, texts]) => texts.map((one) => [name, one] as const))) {
    const record = readEdited(text, known?.get(id));
    if (record === undefined) continue;
    const there = main.get(record.id);
    if (there === undefined) main.set(record.id, record);
    else if (birthOf(there) === birthOf(record) && isSameTask(there, record)) {
      main.set(record.id, joinRecords(there, record));
    } else strays.push(new Map([[record.id, record]]));
  }
  return [main, ...strays];
}

function tryDecode(line: string): TaskRecord | undefined {
  try {
    return decodeRecord(parseJson(line, 'The line') as JsonObject);
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

/** Of a set that people add to and take from: what either added, without what either took away. */
function mergeSets(
  base: ReadonlySet<string>,
  ours: ReadonlySet<string>,
  theirs: ReadonlySet<string>,
): Set<string> {
  const all = [...ours, ...theirs];
  return new Set(all.filter((line) => !base.has(line) || (ours.has(line) && theirs.has(line))));
}

function toText(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

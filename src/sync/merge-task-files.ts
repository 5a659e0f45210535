import { birthOf, identityOf, isSameTask } from '#domain/identity.ts';
import { joinGraphs, type TaskGraph } from '#domain/join-graphs.ts';
import { editedLine, writtenLine } from '#domain/edited-line.ts';
import { joinCopies } from '#domain/join-copies.ts';
import { keepIdentity } from '#domain/kept-identity.ts';
import { keepLostValues } from '#domain/lost-values.ts';
import { findLostValues } from '#domain/merge-losses.ts';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import { digestRecord } from '#domain/record-digests.ts';
import { isSealed } from '#domain/record-seal.ts';
import { countMade } from '#domain/made-edits.ts';
import { hasTaken } from '#domain/take-in-foreign.ts';
import { takeInEdits, type EditedLine, type ShownState } from '#domain/take-in-edits.ts';
import { lastStamp, type TaskRecord } from '#domain/task-record.ts';
import { isWrittenOver, takeBackEdit } from '#domain/untaken-edits.ts';
import { mergeUnreadable } from '#domain/unreadable-lines.ts';
import { isForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import { compareText } from '#kernel/text.ts';
import type { ChangedBack } from './find-changed-back.ts';
import { splitText } from './read-file-lines.ts';

export interface Merged {
  readonly text: string;
  readonly lines: number;
  /** Values that both sides changed; the ones that lost are kept in their lines. */
  readonly conflicts: number;
}

/**
 * Two versions of `.forge/tasks.jsonl` and their common ancestor as one, the same whichever is called ours. Lines that
 * are equal on both sides, or stand on one only, pass as they are, so that the work follows what changed. What a person
 * changed by hand in others counts as changed `now`.
 */
export function mergeTaskFiles(
  base: string,
  ours: string,
  theirs: string,
  {
    now,
    strange = NONE,
    changed_back,
  }: {
    readonly now: number;
    readonly strange?: Strange | undefined;
    /** Left out where no commits can be asked: what Forge wrote anew without an edit counts as changed back then. */
    readonly changed_back?: ChangedBack | undefined;
  },
): Merged {
  const files = { base: readSide(base), ours: readSide(ours), theirs: readSide(theirs) };
  const sides = { ...files, now, strange, changed_back };
  const { result, conflicts, kept } = mergeLines(sides) ?? mergeWhole(sides);
  const lines = [
    ...[...result.keys()].sort(compareText).map((id) => result.get(id) ?? ''),
    ...mergeUnreadable(sides.base.unreadable, sides.ours.unreadable, sides.theirs.unreadable),
    ...[...new Set(kept)].sort(compareText),
  ];
  return { text: toText(lines), lines: lines.length, conflicts };
}

/** Lines of the common ancestor that our side never had. */
type Strange = ReadonlySet<string>;
const NONE: Strange = new Set();

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
  /** In their order. */
  readonly unreadable: readonly string[];
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
  readonly now: number;
  readonly strange: Strange;
  readonly changed_back: ChangedBack | undefined;
}

function readSide(text: string): Side {
  const lines = new Map<string, string[]>();
  const unreadable: string[] = [];
  for (const { text: line } of splitText(text)) {
    const id = idOf(line);
    if (id === undefined) unreadable.push(line);
    else if (lines.get(id)?.push(line) === undefined) lines.set(id, [line]);
  }
  return { lines, unreadable };
}

/** Lines that Forge wrote tell it without being parsed. */
function idOf(line: string): string | undefined {
  const [, quick] = /^\{"id":"([A-Za-z0-9._-]+)","title":/.exec(line) ?? [];
  if (quick !== undefined && line.endsWith('}')) return quick;
  return tryDecode(line)?.record.id;
}

/** Undefined where two tasks share a birth: then references have to follow, and the whole is looked at. */
function mergeLines({ base, ours, theirs, now, strange, changed_back }: Sides): MergedLines | undefined {
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
    const merged = mergeTask(base.lines.get(id) ?? [], { here, there, now, strange, changed_back });
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
  baseLines: readonly string[],
  {
    here,
    there,
    now,
    strange,
    changed_back,
  }: { here: readonly string[]; there: readonly string[] } & Pick<Sides, 'now' | 'strange' | 'changed_back'>,
): { record: TaskRecord | undefined; conflicts: number; kept: string[] } | undefined {
  const isTakenOut = (line: string): boolean =>
    baseLines.includes(line) && !(here.includes(line) && there.includes(line));
  const kept = [...here, ...there].filter((line) => tryDecode(line) === undefined && !isTakenOut(line));
  const sealed = joinSame([...here, ...there].map(readSealed));
  const lastBase = baseLines.findLast((line) => tryDecode(line) !== undefined);
  const base = readBase(lastBase, sealed);
  const known = sealed === 'different' || isTakenIn(lastBase, sealed) ? sealed : joinSame([base, sealed]);
  const shown = base && { digests: digestRecord(readPlain(lastBase) ?? base), updated: lastStamp(base) };
  const began = baseLines.length === 1 ? baseLines[0] : undefined;
  // Of several lines of a task each was written upon the one before it, the first upon what both sides began with.
  const writtenUpon = (lines: readonly string[], at: number): ShownState | undefined => {
    const isOld = lines.length > 1 && baseLines.includes(lines[at] ?? '');
    return isOld ? undefined : (showsOf(lines[at - 1]) ?? shown);
  };
  const readSide = (
    lines: readonly string[],
    isBegun: boolean,
    back: ReadonlySet<string> | undefined,
  ): ReturnType<typeof joinSame> =>
    joinSame(
      lines.map(
        (line, at) =>
          (isBegun && lines.length === 1 ? readBack(line, began, { known, now, back }) : undefined) ??
          readEdited(line, known, now, {
            shown: isBegun ? writtenUpon(lines, at) : undefined,
            began: lastBase,
          }),
      ),
    );
  const ours = readSide(here, lastBase === undefined || !strange.has(lastBase), changed_back?.ours);
  const theirs = readSide(there, true, changed_back?.theirs);
  if (known === 'different' || ours === 'different' || theirs === 'different') return undefined;
  if (ours === undefined || theirs === undefined) return { record: ours ?? theirs, conflicts: 0, kept };
  if (!isSameTask(ours, theirs)) return undefined;
  const joined = joinCopies(ours, theirs);
  const lost = findLostValues(base !== undefined && isSameTask(base, ours) ? base : undefined, ours, theirs);
  return { record: keepLostValues(joined, lost), conflicts: lost.length, kept };
}

/** Undefined for a line that is no task. */
function showsOf(line: string | undefined): ShownState | undefined {
  const record = readPlain(line);
  return record && { digests: digestRecord(record), updated: lastStamp(record) };
}

/** What a line shows, without what Forge made of it since. */
function readPlain(line: string | undefined): TaskRecord | undefined {
  return line === undefined ? undefined : tryDecode(line)?.record;
}

function joinSame(records: readonly (TaskRecord | undefined)[]): TaskRecord | 'different' | undefined {
  let joined: TaskRecord | undefined;
  for (const record of records) {
    if (record === undefined) continue;
    if (joined !== undefined && !isSameTask(joined, record)) return 'different';
    joined = joined === undefined ? record : joinCopies(joined, record);
  }
  return joined;
}

/** What was edited by hand before the two sides parted is older than all that either did since. */
function readBase(
  line: string | undefined,
  known: TaskRecord | 'different' | undefined,
): TaskRecord | undefined {
  return line === undefined ? undefined : readEdited(line, known, 0);
}

/** Whether a line without stamps was taken in by a side: then that side has all of it that counts, and the rest is old. */
function isTakenIn(line: string | undefined, sealed: TaskRecord | undefined): boolean {
  const read = line === undefined ? undefined : tryDecode(line);
  if (line === undefined || read === undefined) return false;
  const edited = editedLine(line, read.json, read.record);
  return edited?.unstamped !== undefined && sealed !== undefined && hasTaken(sealed, edited);
}

/**
 * A line that was edited by hand before the sides parted, and that a side changed once more without Forge: what it shows
 * now counts, also where that is what it showed before the edit. Undefined for all others.
 */
function readBack(
  line: string,
  began: string | undefined,
  {
    known,
    now,
    back,
  }: {
    readonly known: TaskRecord | 'different' | undefined;
    readonly now: number;
    readonly back: ReadonlySet<string> | undefined;
  },
): TaskRecord | undefined {
  if (began === undefined || began === line || isSealed(began)) return undefined;
  const [before, after] = [tryDecode(began), tryDecode(line)];
  if (before === undefined || after === undefined || known === undefined || known === 'different')
    return undefined;
  const first = editedLine(began, before.json, before.record);
  if (first?.written === undefined || !isSameTask(known, after.record)) return undefined;
  const taken = takeInEdits(first, { known: undefined, now: 0 }).record;
  const edited =
    editedLine(line, after.json, after.record) ?? writtenLine(line, after.record, joinCopies(known, taken));
  if (edited?.seal !== first.seal) {
    const isChangedBack = isSealed(line) && (back === undefined || back.has(began));
    return isChangedBack ? readOverwritten(first, after.record, { known, now }) : undefined;
  }
  const last = digestRecord(before.record);
  if (isWrittenOver(known, edited, last)) return undefined;
  return takeInEdits(edited, { known, now, last, by_hand: true }).record;
}

/**
 * The same where Forge wrote the line anew on that side after a commit had changed the edit back, in a clone to which the edit
 * never came.
 */
function readOverwritten(
  { seal, record, written }: EditedLine,
  after: TaskRecord,
  { known, now }: { readonly known: TaskRecord; readonly now: number },
): TaskRecord | undefined {
  if ([...(after.hand?.keys() ?? [])].some((edit) => edit.startsWith(`${seal}:`))) return undefined;
  const back = takeBackEdit(record, after);
  if (back === undefined) return undefined;
  const line = { record: back, seal, written, updated: lastStamp(back) };
  const where = { known, now, last: digestRecord(record), by_hand: true };
  return joinCopies(after, takeInEdits(line, where).record);
}

function readSealed(line: string): TaskRecord | undefined {
  return isSealed(line) ? tryDecode(line)?.record : undefined;
}

/** What a person changed by hand gets the stamp of a change. */
function readEdited(
  line: string,
  known: TaskRecord | 'different' | undefined,
  now: number,
  { shown, began }: { readonly shown?: ShownState | undefined; readonly began?: string | undefined } = {},
): TaskRecord | undefined {
  const read = tryDecode(line);
  if (read === undefined) return undefined;
  const edited = editedLine(line, read.json, read.record);
  if (edited === undefined) return read.record;
  if (known === 'different' || known === undefined)
    return takeInEdits(edited, { known: undefined, now }).record;
  // Of a line without stamps only what differs from where the sides parted was written by its side.
  const where =
    edited.unstamped === undefined ? {} : { shown, by_hand: !isTakenSince(edited, { known, began }) };
  if (isSameTask(known, read.record)) return takeInEdits(edited, { known, now, ...where }).record;
  const kept = keepIdentity(line, read.json, { known, edited });
  return takeInEdits(kept?.edited ?? edited, { known: kept && known, now }).record;
}

/** Whether the other side took the very line in, after the sides parted: it says nothing more then. */
function isTakenSince(
  { seal, record }: EditedLine,
  { known, began }: { readonly known: TaskRecord; readonly began: string | undefined },
): boolean {
  const line = { seal, shows: digestRecord(record) };
  return countMade(known, line) > countMade(readPlain(began) ?? {}, line);
}

function mergeWhole({ base, ours, theirs, now }: Sides): MergedLines {
  const parted = toGraphs(base, { known: readAllSealed([ours, theirs]), now: 0 });
  const known = new Map(parted.flatMap((graph) => [...graph]));
  const here = toGraphs(ours, { known, now });
  const there = toGraphs(theirs, { known, now });
  const joined = [...here, ...there].reduce<TaskGraph>(joinGraphs, new Map());
  const sides = [parted, here, there].map(byIdentity);
  let conflicts = 0;
  const keep = (record: TaskRecord): TaskRecord => {
    const [before, a, b] = sides.map((side) => side.get(identityOf(record).key));
    if (a === undefined || b === undefined) return record;
    const lost = findLostValues(before, a, b);
    conflicts += lost.length;
    return keepLostValues(record, lost);
  };
  const lines = [...ours.lines.values(), ...theirs.lines.values()].flat();
  const kept = lines.filter((line) => tryDecode(line) === undefined);
  const result = new Map([...joined].map(([id, record]) => [id, encodeRecord(keep(record))]));
  return { result, conflicts, kept };
}

/** Whatever name a task has on a side. */
function byIdentity(graphs: readonly TaskGraph[]): Map<string, TaskRecord> {
  const found = new Map<string, TaskRecord>();
  for (const record of graphs.flatMap((graph) => [...graph.values()])) {
    const { key } = identityOf(record);
    const there = found.get(key);
    found.set(key, there === undefined ? record : joinCopies(there, { ...record, id: there.id }));
  }
  return found;
}

function readAllSealed(sides: readonly Side[]): TaskGraph {
  const lines = sides.flatMap((side) => [...side.lines.values()].flat());
  return new Map(lines.flatMap((line) => readSealed(line) ?? []).map((record) => [record.id, record]));
}

/** A second task with the id of the first is a graph of its own. `known` is the common ancestor, for edits by hand. */
function toGraphs(
  { lines }: Side,
  { known, now }: { known?: TaskGraph; now: number },
): Map<string, TaskRecord>[] {
  const main = new Map<string, TaskRecord>();
  const strays: Map<string, TaskRecord>[] = [];
  for (const [id, text] of [...lines].flatMap(([name, texts]) => texts.map((one) => [name, one] as const))) {
    const record = readEdited(text, known?.get(id), now);
    if (record === undefined) continue;
    const there = main.get(record.id);
    if (there === undefined) main.set(record.id, record);
    else if (birthOf(there) === birthOf(record) && isSameTask(there, record)) {
      main.set(record.id, joinCopies(there, record));
    } else strays.push(new Map([[record.id, record]]));
  }
  return [main, ...strays];
}

function tryDecode(line: string): { record: TaskRecord; json: JsonObject } | undefined {
  try {
    const json = parseJson(line, 'The line') as JsonObject;
    return { record: decodeRecord(json), json };
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

function toText(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

import { digestRecord } from './record-digests.ts';
import { isSealed } from './record-seal.ts';
import type { ShownState } from './taken-in.ts';
import { lastStamp } from './task-record.ts';
import { tryReadRecord } from './try-read-record.ts';

/** A line that shows again what it, or another edit of it, once showed. */
export interface PutBackLine {
  readonly text: string;
  readonly seal: string;
  /** The digests of what it showed last, which is gone from the file now. */
  readonly last: string;
  /**
   * Where this file never showed that, to the knowledge of the store: `edit`, the line has an edit that is known from
   * elsewhere, and only what was written into the file here makes it another one; `back`, the line is as Forge wrote it,
   * and only a commit tells that an edit was taken back.
   */
  readonly guessed?: 'edit' | 'back' | undefined;
  /**
   * Forge wrote the line anew in a clone that had not taken in the edit: it may never have come there, or a commit took it
   * back on the way. In an answer `text` is what that commit left.
   */
  readonly overwritten?: true | undefined;
  /**
   * The edit was taken in once, and no person put what the file showed last in its place: a commit that was looked at
   * before is the one that made it, not one that made it again.
   */
  readonly known?: true | undefined;
  /**
   * Of a line without stamps in a commit: what stood in its place, and in the place of that, back to a line that Forge
   * wrote; the oldest first, and none where it is still asked for. `last` says nothing then.
   */
  readonly stood?: readonly Predecessor[] | undefined;
  /** The store knows what the file showed in its place. */
  readonly is_shown?: true | undefined;
}

/** Only commits tell of such a line; who wrote the file last does not. */
export function isToldByCommits({ overwritten, stood }: PutBackLine): boolean {
  return overwritten === true || stood !== undefined;
}

export interface Predecessor {
  readonly text: string;
  readonly shows: ShownState;
}

/** The changes of a commit: lines with their signs. */
export type LineChanges = readonly string[];

/**
 * Whether a commit took away what the line showed last: then a person changed it back. Git does so too, with what no
 * commit holds, or by going to other commits. `log` has the changes of each commit, newest first.
 */
export function isTakenBack(log: readonly LineChanges[], line: PutBackLine): boolean {
  for (const changes of log) {
    const found = judgeChanges(changes, line);
    if (found !== undefined) return found;
  }
  return false;
}

/**
 * The same of one commit; undefined where it neither brought nor took what the line showed last. A line that Forge wrote
 * in its place has another seal, or has one at all: that took nothing back.
 */
export function judgeChanges(changes: LineChanges, { text, seal, last }: PutBackLine): boolean | undefined {
  const named = changes.filter((line) => line.includes(`"${seal}"`));
  const found = named.filter((line) => digestOf(line.slice(1)) === last);
  if (found.length === 0) return undefined;
  return found.every((line) => line.startsWith('-')) && findLeft(changes, { text, seal }) !== undefined;
}

/** What a commit brought in the place of a line. */
function findLeft(
  changes: LineChanges,
  { text, seal }: Pick<PutBackLine, 'text' | 'seal'>,
): string | undefined {
  const isStamped = hasStamps(text);
  const left = changes.find(
    (line) => line.startsWith('+') && line.includes(`"${seal}"`) && hasStamps(line) === isStamped,
  );
  return left?.slice(1);
}

/** What a commit tells of a line: null where it was not changed back, undefined where it tells nothing. */
function answerBy(changes: LineChanges, line: PutBackLine): PutBackLine | null | undefined {
  const isBack = judgeChanges(changes, line);
  if (isBack !== true) return isBack === undefined ? undefined : null;
  // Of a line that was written anew since, what the commit left of it is what counts.
  return line.overwritten === true ? { ...line, text: findLeft(changes, line) ?? line.text } : line;
}

/** Takes the changes of commits, the newest first, until every line is answered. */
export class TakenBackSearch {
  readonly #lines: readonly PutBackLine[];
  readonly #left: Set<PutBackLine>;
  readonly #found = new Map<PutBackLine, PutBackLine>();

  constructor(lines: readonly PutBackLine[]) {
    this.#lines = lines;
    this.#left = new Set(lines.filter(({ guessed }) => guessed !== 'edit'));
  }

  /** The lines that are not answered yet. */
  get left(): readonly PutBackLine[] {
    return [...this.#left];
  }

  get found(): readonly PutBackLine[] {
    return this.#lines.flatMap((line) => this.#found.get(line) ?? []);
  }

  /** `isLooked`: a look at the file came after the commit. */
  take(changes: LineChanges, isLooked = false): void {
    const all = new Set(changes);
    let gone: ReadonlyMap<string, Predecessor> | undefined;
    for (const line of this.#left) {
      if (isLooked && line.known === true) continue;
      if (line.stood !== undefined) {
        if (all.has(`+${this.#oldestOf(line)}`)) this.#takeStood(line, (gone ??= readGone(changes)));
        continue;
      }
      const answer = answerBy(changes, line);
      if (answer === undefined) continue;
      this.#left.delete(line);
      if (answer !== null) this.#found.set(line, answer);
    }
  }

  /** What was written into the file since the last commit: it tells what stood in the place of a line, and nothing else. */
  takeWritten(changes: LineChanges): void {
    const all = new Set(changes);
    const gone = readGone(changes);
    for (const line of this.#left)
      if (line.stood !== undefined && line.is_shown !== true && all.has(`+${line.text}`))
        this.#takeStood(line, gone);
  }

  #oldestOf(line: PutBackLine): string {
    return this.#found.get(line)?.stood?.[0]?.text ?? line.text;
  }

  #takeStood(line: PutBackLine, gone: ReadonlyMap<string, Predecessor>): void {
    const before = gone.get(line.seal);
    const known = this.#found.get(line)?.stood ?? [];
    if (before !== undefined) this.#found.set(line, { ...line, stood: [before, ...known] });
    if (before === undefined || isSealed(before.text)) this.#left.delete(line);
  }
}

/** The lines that a commit took away, by their tasks; the first of each. */
function readGone(changes: LineChanges): Map<string, Predecessor> {
  const gone = new Map<string, Predecessor>();
  for (const change of changes) {
    const text = change.slice(1);
    const record = change.startsWith('-') ? tryReadRecord(text) : undefined;
    if (record === undefined || gone.has(record.id)) continue;
    gone.set(record.id, { text, shows: { digests: digestRecord(record), updated: lastStamp(record) } });
  }
  return gone;
}

function hasStamps(line: string): boolean {
  return line.includes('"_v"');
}

function digestOf(line: string): string | undefined {
  const record = tryReadRecord(line);
  return record === undefined ? undefined : digestRecord(record);
}

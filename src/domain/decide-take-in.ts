import { LIMITS } from '#kernel/limits.ts';
import { writtenLine } from './edited-line.ts';
import { keepKnown } from './good-values.ts';
import { digestRecord } from './record-digests.ts';
import { hasTaken } from './take-in-foreign.ts';
import { takeInEdits, type EditedLine, type ShownState, type TakenIn } from './take-in-edits.ts';
import type { PutBackLine } from './taken-back.ts';
import type { TaskRecord } from './task-record.ts';
import { findUntaken } from './untaken-edits.ts';

/** A line of a file, read as a task. */
export interface IncomingLine {
  readonly record: TaskRecord;
  readonly text: string;
  /** It stands on a side of a conflict. */
  readonly is_side: boolean;
  /** Where a person may have changed values and left their stamps. */
  readonly edited: EditedLine | undefined;
  /** Keys of values that cannot be read, where the others can. */
  readonly bad?: ReadonlySet<string> | undefined;
  /** A line without stamps that is not the last one of its task in the file. */
  readonly is_former?: boolean | undefined;
}

/** What is known of the file; what takes a look is asked for only where it counts. */
export interface TakeInFacts {
  readonly known: TaskRecord | undefined;
  readonly now: number;
  /** Lines that a person, not git, left as they are; undefined where git was not asked yet. */
  readonly by_hand: ReadonlySet<string> | undefined;
  /** What stood in the place of lines without stamps, by their text; null where git cannot tell. */
  readonly stood: ReadonlyMap<string, ShownState | null> | undefined;
  /** How many lines are asked about already. */
  readonly asked: number;
  /** Whether the file had the line that this one is an edit of before. */
  readonly isAgain: (seal: string) => boolean;
  /** The digests of what that line showed when the file was last looked at. */
  readonly findShown: (seal: string) => string | undefined;
  /** What the file showed of the task when it was last looked at. */
  readonly findShownState: () => ShownState | undefined;
  /** The digests of states that the task was once in. */
  readonly listPast: () => readonly string[];
}

export interface TakeInPlan {
  readonly taken: TakenIn;
  /** Lines of which commits or a person must tell what they mean. */
  readonly asks: readonly PutBackLine[];
  /** The seal of the line, where the file has an edited line of it by this one. */
  readonly seal?: string | undefined;
  /** What the file shows in the place of that line now. */
  readonly shows?: string | undefined;
  /** What it shows of the task in a line without a seal. */
  readonly shows_state?: ShownState | undefined;
}

/** What the line says of its task, with stamps of their own for edits by hand. */
export function decideTakeIn(line: IncomingLine, facts: TakeInFacts): TakeInPlan {
  const plan = decideEdits(line, facts);
  if (facts.known === undefined || line.bad === undefined) return plan;
  const { taken } = plan;
  return { ...plan, taken: { ...taken, record: keepKnown(taken.record, facts.known, line.bad) } };
}

function decideEdits(line: IncomingLine, facts: TakeInFacts): TakeInPlan {
  const { record, text, is_side } = line;
  const { known, by_hand } = facts;
  const edited = line.edited ?? writtenLine(text, record, known);
  if (edited === undefined) {
    const asks = by_hand === undefined && !is_side ? listOverwritten(line, known) : [];
    return { taken: asItIs(record), asks };
  }
  if (edited.unstamped !== undefined && known !== undefined)
    return decideUnstamped({ ...line, edited }, { ...facts, known });
  // One that others were written upon was taken in before, and is not made again by them.
  if (known !== undefined && facts.stood?.has(text) === true && hasTaken(known, edited))
    return { taken: asItIs(known), asks: [] };
  const { seal } = edited;
  // A file that is only added to has several copies of a line; one of them says nothing of another.
  if (facts.isAgain(seal)) return { taken: takeInEdits(edited, { known, now: facts.now }), asks: [] };
  const shown = facts.findShown(seal);
  const guess = shown === undefined && !is_side ? guessShown(edited, known) : undefined;
  const last = shown ?? guess?.last;
  const taken = takeInEdits(edited, { known, now: facts.now, by_hand: by_hand?.has(text), last });
  if (!taken.is_back || by_hand !== undefined || last === undefined)
    return { taken, asks: [], seal, shows: digestRecord(record) };
  const isKnown = known !== undefined && hasTaken(known, edited) && !known.hand?.has(`${seal}:${last}`);
  const asked = { text, seal, last, guessed: guess?.guessed };
  return { taken, asks: [{ ...asked, ...(isKnown && { known: true }) }], seal };
}

function asItIs(record: TaskRecord): TakenIn {
  return { record, lost: [], is_back: false };
}

/** Of a line that another clone wrote: the edits that it has not taken in, and that the task still shows here. */
function listOverwritten({ record, text }: IncomingLine, known: TaskRecord | undefined): PutBackLine[] {
  if (known?.hand === undefined) return [];
  return findUntaken(record, known).map(({ seal, last }) => ({
    text,
    seal,
    last,
    guessed: 'back',
    overwritten: true,
  }));
}

/** What a file may have showed before, of which only this is known: that the task has edits of the same line. */
function guessShown(
  { record, seal, written }: EditedLine,
  known: TaskRecord | undefined,
): Pick<PutBackLine, 'last' | 'guessed'> | undefined {
  const edits = [...(known?.hand ?? [])].filter(([edit]) => edit.startsWith(`${seal}:`));
  const [newest] = edits.toSorted(([, one], [, other]) => other - one);
  if (newest === undefined || written === undefined) return undefined;
  const shows = digestRecord(record);
  if (shows === written) return { last: newest[0].slice(seal.length + 1), guessed: 'back' };
  return edits.some(([edit]) => edit === `${seal}:${shows}`) ? { last: written, guessed: 'edit' } : undefined;
}

/** The last of several lines of a task is what the file shows; those before it are what it showed once. */
function decideUnstamped(
  line: IncomingLine & { readonly edited: EditedLine },
  facts: TakeInFacts & { readonly known: TaskRecord },
): TakeInPlan {
  const { edited, record, text } = line;
  const { known, now, by_hand, listPast: past } = facts;
  if (line.is_former === true || line.is_side)
    return { taken: takeInEdits(edited, { known, now, past }), asks: [] };
  const stood = facts.stood?.get(text);
  const isTaken = hasTaken(known, edited);
  // It stood there before the last look, and says nothing new of values that were written since.
  if (stood === null && isTaken) return { taken: asItIs(known), asks: [] };
  const shown = stood === undefined ? facts.findShownState() : (stood ?? undefined);
  if (mayAsk(facts) && !isTaken) {
    const is_shown = shown === undefined ? undefined : (true as const);
    const asks = [{ text, seal: record.id, last: '', stood: [], is_shown }];
    return { taken: { record: known, lost: [], is_back: true }, asks, shows_state: shown };
  }
  const isByHand = by_hand?.has(text);
  // Taken in before, a line says no more than it did then, but by what it changed in this place.
  const isOld = shown === undefined && isByHand !== true && isTaken;
  const taken = isOld ? asItIs(known) : takeInEdits(edited, { known, now, by_hand: isByHand, shown, past });
  if (!taken.is_back || shown === undefined) {
    const shows_state = { digests: digestRecord(record), updated: edited.updated };
    return { taken, asks: [], shows_state };
  }
  const isKnown = isTaken && !known.hand?.has(`${edited.seal}:${shown.digests}`);
  const asked = { text, seal: record.id, last: shown.digests };
  // What stood there is remembered until it is known who changed it.
  return { taken, asks: [{ ...asked, ...(isKnown && { known: true }) }], shows_state: shown };
}

/**
 * A task that only a line without stamps tells of: commits may have it with stamps, and then the line is an edit of that.
 * Taken as it is, it would know nothing of what it replaced. `answers`: they will be asked.
 */
export function askFirst(
  { record, text, is_side }: IncomingLine,
  facts: Pick<TakeInFacts, 'by_hand' | 'asked'> & { readonly answers: boolean },
): PutBackLine | undefined {
  if (!facts.answers || is_side || !mayAsk(facts)) return undefined;
  return { text, seal: record.id, last: '', stood: [] };
}

function mayAsk({ by_hand, asked }: Pick<TakeInFacts, 'by_hand' | 'asked'>): boolean {
  return by_hand === undefined && asked < LIMITS.asked_lines;
}

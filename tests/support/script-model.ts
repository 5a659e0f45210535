import type { ConflictEntry } from '#domain/decide-settlement.ts';
import { LabelModel } from './script-labels.ts';

export const FIELDS = ['title', 'description', 'priority', 'zebra', 'metadata.k'] as const;
export type Field = (typeof FIELDS)[number];
export type Value = string | number;
/** A task as a line of the file, or as `task show` gives it. */
export type Line = Record<string, unknown> & { readonly id: string };

/** A value that was written, and the one that the writer saw in its place. */
export interface Write {
  readonly number: number;
  readonly task: string;
  readonly field: Field;
  /** Undefined where git may have brought back that there is none. */
  readonly value: Value | undefined;
  /** What stood there before the eyes of the writer. */
  readonly saw: Value | undefined;
  readonly clone: string;
  readonly how: string;
  /** Where only one write ever had the value. */
  readonly surelyReplaces: Write | undefined;
  /** Git took it away before Forge saw it, or brought it back: it may count, or not. */
  isDoubtful: boolean;
}

/** One clone in the end. */
export interface EndState {
  readonly clone: string;
  readonly tasks: ReadonlyMap<string, Line>;
  readonly conflicts: readonly Pick<ConflictEntry, 'id' | 'name' | 'lost'>[];
}

export interface Verdict {
  /** Values that neither stand, nor were replaced by a writer who saw them, nor are told. */
  readonly lost: readonly string[];
  /** Values that stand, although a writer who saw them replaced them. */
  readonly reverted: readonly string[];
}

/** Knows what each writer saw, and nothing of stamps, seals and digests. */
export class ScriptModel {
  readonly writes: Write[] = [];
  readonly labels = new LabelModel();
  readonly #comments: { readonly task: string; readonly text: string }[] = [];
  readonly #states: { readonly task: string; readonly clone: string; readonly status: string }[] = [];
  #number = 0;

  /** The clone may know now of all that was written so far; of later writes of others it knows nothing. */
  hears(clone: string): void {
    this.labels.hears(clone);
  }

  wrote(
    place: Pick<Write, 'task' | 'field' | 'clone' | 'how'>,
    value: Value | undefined,
    saw: Value | undefined,
  ): Write {
    const same = this.#of(place).filter((write) => write.value === saw);
    const write: Write = {
      ...place,
      number: (this.#number += 1),
      value,
      saw,
      surelyReplaces: same.length === 1 ? same[0] : undefined,
      isDoubtful: false,
    };
    this.writes.push(write);
    return write;
  }

  /**
   * A write into a file that holds edits which Forge has not seen. Where it puts back what stood there before them, all of
   * them together changed nothing.
   */
  edited(
    place: Pick<Write, 'task' | 'field' | 'clone' | 'how'>,
    { value, saw, unseen }: { value: Value; saw: Value | undefined; unseen: readonly object[] },
  ): Write {
    const before = this.#of(place).filter((write) => unseen.includes(write));
    const write = this.wrote(place, value, saw);
    if (before[0]?.saw === value) for (const one of [...before, write]) one.isDoubtful = true;
    return write;
  }

  commented(task: string, text: string): void {
    this.#comments.push({ task, text });
  }

  moved(task: string, clone: string, status: string): void {
    this.#states.push({ task, clone, status });
  }

  /** What was ever written there, for a writer who writes an old value again. */
  valuesOf(place: Pick<Write, 'task' | 'field'>): Value[] {
    return [...new Set(this.#of(place).flatMap(({ value }) => value ?? []))];
  }

  judge(states: readonly EndState[]): Verdict {
    const lost: string[] = [];
    const reverted: string[] = [];
    const places = Map.groupBy(this.writes, ({ task, field }) => `${task} ${field}`);
    for (const state of states) {
      for (const writes of places.values()) {
        const { task, field } = writes[0] as Write; // a group has at least one
        const line = state.tasks.get(task);
        if (line === undefined) {
          lost.push(`${state.clone}: ${task} is gone`);
          continue;
        }
        const told = state.conflicts.filter(({ id, name }) => id === task && name === field);
        const stands = valueIn(line, field);
        const gone = writes.filter((write) =>
          isLost(write, writes, [stands, ...told.map((one) => one.lost)]),
        );
        lost.push(...gone.map((write) => `${state.clone}: ${tell(write)} is gone; ${String(stands)} stands`));
        if (gone.length === 0 && isReverted(stands, writes))
          reverted.push(`${state.clone}: ${field} ${String(stands)} of ${task} stands again`);
      }
      lost.push(...this.#missing(state), ...this.labels.judge(state));
    }
    return { lost: [...new Set(lost)], reverted };
  }

  #of({ task, field }: Pick<Write, 'task' | 'field'>): Write[] {
    return this.writes.filter((write) => write.task === task && write.field === field);
  }

  #missing({ clone, tasks }: EndState): string[] {
    const comments = this.#comments.filter(({ task, text }) => {
      const all = (tasks.get(task)?.['comments'] ?? []) as readonly unknown[];
      return !JSON.stringify(all).includes(JSON.stringify(text));
    });
    // Closes and reopenings of several clones meet by rules of their own; of one clone the last stands.
    const moves = [...Map.groupBy(this.#states, ({ task }) => task).values()].flatMap((states) => {
      const last = states.at(-1);
      const isOne = states.every((state) => state.clone === last?.clone);
      return last !== undefined && isOne && tasks.get(last.task)?.['status'] !== last.status ? [last] : [];
    });
    return [
      ...comments.map(({ task, text }) => `${clone}: the comment ${text} of ${task} is gone`),
      ...moves.map(({ task, status }) => `${clone}: ${task} is not ${status}`),
    ];
  }
}

/** A writer who replaced a text has replaced all writes of that text: Forge does not tell them apart either. */
function isLost(write: Write, writes: readonly Write[], seen: readonly unknown[]): boolean {
  if (write.isDoubtful || seen.includes(write.value)) return false;
  return !writes.some((other) => other !== write && other.saw === write.value);
}

function isReverted(stands: Value | undefined, writes: readonly Write[]): boolean {
  const sure = writes.filter((write) => !write.isDoubtful);
  const standing = writes.filter((write) => write.value === stands);
  if (standing.length === 0) return sure.length > 0;
  return standing.every((write) => sure.some((other) => other.surelyReplaces === write));
}

function tell({ task, field, value, clone, how, number }: Write): string {
  return `${field} ${String(value)} of ${task} (write ${number} by ${clone}, ${how})`;
}

export function valueIn(line: Line, field: Field): Value | undefined {
  const value =
    field === 'metadata.k' ? (line['metadata'] as Line | undefined)?.['k'] : (line[field] as unknown);
  return value === '' || value === null ? undefined : (value as Value | undefined); // written by these steps alone
}

export function labelsIn(line: Line): readonly string[] {
  return (line['labels'] ?? []) as readonly string[];
}

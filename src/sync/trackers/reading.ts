import { ForgeError } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import type { AddNote, TrackerTask } from './tracker-task.ts';
import { findLife, findPriority, readType, UNKNOWN_LIFE, type LifeWord } from './tracker-words.ts';
import { readTime } from './tracker-time.ts';
import { isEmpty, isObject } from './take-fields.ts';

/** What every reader needs for one task of theirs. */
export interface Reading {
  readonly where: string;
  /** `metadata.beads`, for the notes. */
  readonly place: string;
  readonly kept: Map<string, Json>;
  readonly note: AddNote;
}

export type TypeAndLabel = Pick<TrackerTask, 'type'> & { readonly label: string | undefined };

export function readLife(word: string, reading: Reading, fallback: LifeWord = UNKNOWN_LIFE): LifeWord {
  const life = word === '' ? findLife('open') : findLife(word);
  const found = life ?? fallback;
  if (!found.exact) {
    keep(
      reading,
      'status',
      word,
      `"${word}" became ${found.status}${found.state === null ? '' : ` (${found.state})`}`,
    );
  }
  return found;
}

export function readPriority(word: string, reading: Reading, fallback = 2): number {
  if (word === '') return fallback;
  const priority = findPriority(word);
  if (priority === undefined)
    keep(reading, 'priority', word, `"${word}" is no priority here; it became ${fallback}`);
  return priority ?? fallback;
}

export function readTypeWord(word: string, field: string, { where, note }: Reading): TypeAndLabel {
  const read = readType(word);
  if (read.label !== undefined) note({ where, field, what: `"${word}" became ${read.type} with a label` });
  return read;
}

/** A time, or undefined with a note where there is something that is no time. */
export function readTimeOf(value: Json | undefined, field: string, reading: Reading): number | undefined {
  const time = readTime(value);
  if (time === undefined && !isEmpty(value)) keep(reading, field, value as Json, 'is not a time'); // not empty
  return time;
}

/** Their own metadata: an object's keys; anything else is kept as a whole. */
export function readMetadata(value: Json | undefined, reading: Reading): ReadonlyMap<string, Json> {
  if (isObject(value)) return new Map(Object.entries(value));
  if (!isEmpty(value)) keep(reading, 'metadata', value as Json, 'is not an object'); // not empty
  return new Map();
}

export function keep({ where, place, kept, note }: Reading, field: string, value: Json, what: string): void {
  kept.set(field, value);
  note({ where, field, what: `${what}; kept in ${place}.${field}` });
}

export function nothingFound(what: string, hint: string): ForgeError {
  return new ForgeError('not_found', what, { hint });
}

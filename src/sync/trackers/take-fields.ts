import type { Json } from '#kernel/json.ts';
import type { FieldTable } from './field-tables.ts';
import type { AddNote } from './tracker-task.ts';

/** Reads an object of theirs field by field; what nobody took is kept, so nothing can be forgotten. */
export interface TakenFields<Table extends FieldTable> {
  /** The value, or undefined where there is none. */
  take(name: keyof Table & string): Json | undefined;
  /** The same for a value that must be text; another kind is left to `rest`. */
  text(name: keyof Table & string): string;
  /** Everything that was not taken and says something, noted. */
  rest(): Map<string, Json>;
}

export interface TakeOptions {
  readonly where: string;
  /** Where the rest is kept, for the notes: `metadata.beads`. */
  readonly place: string;
  readonly note: AddNote;
}

export function takeFields<Table extends FieldTable>(
  entries: Iterable<readonly [string, Json]>,
  table: Table,
  { where, place, note }: TakeOptions,
): TakenFields<Table> {
  const left = new Map(entries);
  const take = (name: string): Json | undefined => {
    const value = left.get(name);
    left.delete(name);
    return value ?? undefined;
  };
  return {
    take,
    text: (name) => {
      const value = left.get(name) ?? '';
      if (typeof value !== 'string') return '';
      left.delete(name);
      return value;
    },
    rest: () => {
      const kept = new Map<string, Json>();
      for (const [name, value] of left) {
        if (isEmpty(value)) continue;
        const goes = Object.hasOwn(table, name) ? table[name] : undefined;
        if (goes?.includes('left out') === true) {
          note({ where, field: name, what: 'follows from the rest; left out' });
          continue;
        }
        kept.set(name, value);
        const known = goes === undefined ? 'is no field that Forge knows; ' : '';
        note({ where, field: name, what: `${known}kept in ${place}.${name}` });
      }
      return kept;
    },
  };
}

/** Empty text, list and object say nothing. */
export function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

export function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list, or one value that stands for a list of one. */
export function toList(value: Json | undefined): readonly Json[] {
  if (isEmpty(value)) return [];
  return Array.isArray(value) ? (value as readonly Json[]) : [value as Json]; // not empty, so not undefined
}

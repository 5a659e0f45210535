/** What a database asks of the programs that use it: the lowest schema that they must know. */
export interface SchemaFloors {
  readonly min_reader: number;
  readonly min_writer: number;
}

/**
 * `new`: nothing is in it. `older`: a write brings it up to date first. `usable`: of a newer program, which changed
 * nothing that this one relies on. `readable`: the same, but not to be written. `too_new`: neither.
 */
export type SchemaStanding = 'new' | 'older' | 'current' | 'usable' | 'readable' | 'too_new';

/** How a database with schema `found` stands to a program whose newest schema is `known`. */
export function judgeSchema(
  found: number,
  known: number,
  readFloors: () => SchemaFloors | undefined,
): SchemaStanding {
  if (found === known) return 'current';
  if (found === 0) return 'new';
  if (found < known) return 'older';
  const floors = readFloors();
  if (floors === undefined || known < floors.min_reader) return 'too_new';
  return known < floors.min_writer ? 'readable' : 'usable';
}

/** What a migration asks of older programs from then on. */
export type Raises = 'nothing' | 'min_writer' | 'min_reader';

/** A program that cannot read a database cannot write it either. */
export function raiseFloors(floors: SchemaFloors, raises: Raises, number: number): SchemaFloors {
  if (raises === 'nothing') return floors;
  return { min_reader: raises === 'min_reader' ? number : floors.min_reader, min_writer: number };
}

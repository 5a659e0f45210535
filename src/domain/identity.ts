import { shortHash } from '#kernel/checksum.ts';
import type { TaskRecord } from './task-record.ts';

const HASH_LENGTH = 6;

/**
 * A task is who made it, when, and under which id; two tasks that were born with one id are still two. Both then bear
 * that id and six characters of a hash of their identity, for good, so that every clone names them alike.
 */
export interface Identity {
  readonly birth: string;
  readonly key: string;
  /** The id that it has when another task was born with the same one. */
  readonly apart: string;
}

type Named = Pick<TaskRecord, 'id' | 'created' | 'created_by'>;

export function identityOf(record: Named): Identity {
  const birth = birthOf(record);
  return { birth, key: identityKey(birth, record), apart: nameApart(birth, record) };
}

/** The id that the task was born with: its own, unless that carries the hash of this very task. */
export function birthOf(record: Named): string {
  const { id } = record;
  if (isBirthName(id)) return id;
  const birth = id.slice(0, -HASH_LENGTH);
  return nameApart(birth, record) === id ? birth : id;
}

/** Of an id that is too short to carry a hash; of a longer one the record tells. */
export function isBirthName(id: string): boolean {
  return id.length - id.indexOf('-') - 1 <= HASH_LENGTH;
}

export function isSameTask(a: Named, b: Named): boolean {
  return a.created === b.created && a.created_by === b.created_by && birthOf(a) === birthOf(b);
}

function identityKey(birth: string, { created, created_by }: Named): string {
  return `${birth}\n${created}\n${created_by}`;
}

function nameApart(birth: string, record: Named): string {
  return birth + shortHash(identityKey(birth, record));
}

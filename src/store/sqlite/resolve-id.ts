import { ForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';

/** How many names an ambiguous beginning is answered with. */
const SHOWN = 6;

/**
 * A full id, or any unambiguous beginning of one, with or without the project's prefix. An exact id always
 * means itself, also when longer ids begin with it. Uses the primary key.
 */
export function resolveTaskId(db: Database, ref: string, table: 'tasks' | 'deleted_tasks' = 'tasks'): string {
  const wanted = ref.toLowerCase();
  const exact = db.get(`SELECT id FROM ${table} WHERE id = ?`, wanted);
  if (exact !== undefined) return exact.id as string;
  const found = /^[a-z0-9]+(-[a-z0-9]*)?$/.test(wanted) ? findByBeginning(db, wanted, table) : [];
  // Typed without its prefix, a whole id means itself as well: there is no character to add.
  const whole = found.filter((id) => id.endsWith(`-${wanted}`));
  const meant = whole.length === 1 ? whole : found;
  if (meant.length === 1) return meant[0] as string; // length is 1
  if (found.length > 1) {
    const shown = found.slice(0, SHOWN - 1).join(', ');
    throw new ForgeError(
      'ambiguous_id',
      `"${ref}" could be ${shown}${found.length >= SHOWN ? ' and more' : ''}`,
      {
        hint: 'Type one more character of the id',
        details: { id: ref, candidates: found.slice(0, SHOWN - 1) },
      },
    );
  }
  if (table === 'deleted_tasks') {
    throw new ForgeError('not_found', `No deleted task ${ref}`, { details: { id: ref } });
  }
  const deleted = db.get('SELECT id FROM deleted_tasks WHERE id = ?', wanted) !== undefined;
  throw new ForgeError('not_found', deleted ? `Task ${ref} was deleted` : `No task ${ref}`, {
    hint: deleted ? `forge task restore ${ref}` : `forge search --query ${JSON.stringify(ref)}`,
    details: { id: ref },
  });
}

function findByBeginning(db: Database, wanted: string, table: string): string[] {
  const from = (beginning: string): string[] =>
    db
      .all(
        `SELECT id FROM ${table} WHERE id >= ? AND id < ? ORDER BY id LIMIT ${SHOWN}`,
        beginning,
        `${beginning}\u{10ffff}`,
      )
      .map((row) => row.id as string);
  if (wanted.includes('-')) return from(wanted);
  // Without a hyphen it is the part after the prefix. Prefixes are few: step from one to the next by index.
  const found: string[] = [];
  for (let after = ''; found.length < SHOWN;) {
    const next = db.get(`SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT 1`, after)?.id as
      | string
      | undefined;
    if (next === undefined) break;
    const prefix = next.slice(0, next.indexOf('-') + 1);
    found.push(...from(`${prefix}${wanted}`));
    after = `${prefix}\u{10ffff}`;
  }
  return found.slice(0, SHOWN);
}

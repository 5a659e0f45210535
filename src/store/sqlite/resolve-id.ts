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
  if (whole.length === 1) return whole[0] as string; // length is 1
  // A former id is a whole id too: `1` of an imported task is not the beginning of another one.
  const former = table === 'tasks' ? findByFormerId(db, wanted) : [];
  if (former.length === 1) return former[0] as string; // length is 1
  if (former.length > 1) {
    throw new ForgeError('ambiguous_id', `"${ref}" is the former id of ${former.join(', ')}`, {
      details: { id: ref, candidates: former },
    });
  }
  if (found.length === 1) return found[0] as string; // length is 1
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
  const deleted = findDeleted(db, wanted);
  if (deleted !== undefined)
    throw new ForgeError('not_found', `Task ${deleted} was deleted`, {
      hint: `forge task restore ${deleted}`,
      details: { id: deleted },
    });
  const near = findNearIds(db, wanted);
  const [nearest] = near;
  if (nearest === undefined)
    throw new ForgeError('not_found', `No task ${ref}`, { hint: 'forge task list', details: { id: ref } });
  throw new ForgeError('not_found', `No task ${ref}; did you mean ${near.join(' or ')}?`, {
    hint: `forge task show ${nearest}`,
    details: { id: ref, candidates: near },
  });
}

/** By its whole id, with or without the prefix. */
function findDeleted(db: Database, wanted: string): string | undefined {
  if (db.get('SELECT id FROM deleted_tasks WHERE id = ?', wanted) !== undefined) return wanted;
  if (!/^[a-z0-9]+$/.test(wanted)) return undefined;
  const whole = findByBeginning(db, wanted, 'deleted_tasks').filter((id) => id.endsWith(`-${wanted}`));
  return whole.length === 1 ? whole[0] : undefined;
}

/** Longer ones are no typing error of one character that a person would see. */
const LONGEST_NEAR = 16;
const NEAR_SHOWN = 3;

/**
 * The ids that are one slip away: a character replaced, left out, added, or two neighbours swapped. Asked for by the
 * primary key, a thousand spellings at most, whatever the number of tasks.
 */
function findNearIds(db: Database, wanted: string): string[] {
  if (!/^[a-z0-9]+-[a-z0-9]+$/.test(wanted) || wanted.length > LONGEST_NEAR) return [];
  const sql = `SELECT t.id FROM json_each(?) spelling CROSS JOIN tasks t ON t.id = spelling.value
    ORDER BY t.id LIMIT ${NEAR_SHOWN}`;
  return db.all(sql, JSON.stringify([...listSlips(wanted)])).map((row) => row.id as string);
}

const ID_CHARACTERS = '0123456789abcdefghijklmnopqrstuvwxyz';

function listSlips(word: string): ReadonlySet<string> {
  const slips = new Set<string>();
  for (let at = 0; at <= word.length; at += 1) {
    const [before, one, after] = [word.slice(0, at), word.charAt(at), word.slice(at + 1)];
    for (const character of ID_CHARACTERS) {
      slips.add(before + character + one + after);
      if (one !== '' && one !== '-') slips.add(before + character + after);
    }
    slips.add(before + after);
    if (after !== '') slips.add(before + after.charAt(0) + one + after.slice(1));
  }
  slips.delete(word);
  return slips;
}

/** The ids that a task had in the tool it was imported from, as one text; most tasks have no metadata at all. */
export const FORMER_IDS = ['beads_id', 'backlog_md_id', 'task_master_id']
  .map((key) => `coalesce(t.metadata ->> '$.${key}', '')`)
  .join(" || ' ' || ");

/** Only where no whole id was found: it reads every task with metadata. */
function findByFormerId(db: Database, wanted: string): string[] {
  const sql = `SELECT t.id FROM tasks t WHERE t.metadata <> '{}'
    AND instr(' ' || lower(${FORMER_IDS}) || ' ', ?) > 0 ORDER BY t.id LIMIT ${SHOWN}`;
  return db.all(sql, ` ${wanted} `).map((row) => row.id as string);
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

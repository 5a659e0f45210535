import { FORMER_ID_KEYS, resolveTaskRef, type IdIndex, type IdKind } from '#domain/resolve-task-ref.ts';
import type { Database } from './database.ts';

const TABLES: Readonly<Record<IdKind, string>> = { tasks: 'tasks', deleted: 'deleted_tasks' };

/** As `resolveTaskRef` says. Uses the primary keys. */
export function resolveTaskId(db: Database, ref: string, kind: IdKind = 'tasks'): string {
  const ids = {
    tasks: indexOf(db, 'tasks'),
    deleted: indexOf(db, 'deleted'),
    listFormer: (word: string, most: number) => listFormer(db, word, most),
    listKnown: (known: ReadonlySet<string>, most: number) => listKnown(db, known, most),
  };
  return resolveTaskRef(ids, ref, kind);
}

function indexOf(db: Database, kind: IdKind): IdIndex {
  const table = TABLES[kind];
  return {
    has: (id) => db.get(`SELECT id FROM ${table} WHERE id = ?`, id) !== undefined,
    listBeginning: (beginning, most) =>
      db
        .all(
          `SELECT id FROM ${table} WHERE id >= ? AND id < ? ORDER BY id LIMIT ?`,
          beginning,
          `${beginning}\u{10ffff}`,
          most,
        )
        .map((row) => row.id as string),
    findNext: (after) =>
      db.get(`SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT 1`, after)?.id as string | undefined,
  };
}

/** Asked for by the primary key, one spelling after the other. */
function listKnown(db: Database, ids: ReadonlySet<string>, most: number): string[] {
  const sql = `SELECT t.id FROM json_each(?) spelling CROSS JOIN tasks t ON t.id = spelling.value
    ORDER BY t.id LIMIT ?`;
  return db.all(sql, JSON.stringify([...ids]), most).map((row) => row.id as string);
}

/** The ids that a task had in the tool it was imported from, as one text; most tasks have no metadata at all. */
export const FORMER_IDS = `concat_ws(' ', ${FORMER_ID_KEYS.map((key) => `t.metadata ->> '$.${key}'`).join(', ')})`;

/** Only where no whole id was found: it reads every task with metadata. */
function listFormer(db: Database, word: string, most: number): string[] {
  const sql = `SELECT t.id FROM tasks t WHERE t.metadata <> '{}'
    AND instr(' ' || lower(${FORMER_IDS}) || ' ', ?) > 0 ORDER BY t.id LIMIT ?`;
  return db.all(sql, ` ${word} `, most).map((row) => row.id as string);
}

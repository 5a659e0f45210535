import type { Exported } from '../sync-store.ts';
import type { Database, Row } from './database.ts';
import { readUnreadable } from './file-marks.ts';
import { encodeTransition } from '#domain/history-line.ts';
import { newestEvent } from './log-rows.ts';
import { rowToLine, SELECT_PARTS } from './row-to-line.ts';

const TASKS = `${SELECT_PARTS} ORDER BY t.id`;
const EDGES = `SELECT from_id AS owner, to_id AS id, dep_type AS type FROM dependencies
  UNION ALL SELECT from_id, to_id, dep_type FROM unresolved_dependencies ORDER BY 1, 2, 3`;
const COMMENTS = `SELECT task_id AS owner, id, author, body, reply_to, created_at, extra FROM comments
  ORDER BY task_id, created_at, id`;

const COUNT = 'SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM deleted_tasks) AS n';

type WriteLine = (line: string | Uint8Array) => void;

/** Every task as its canonical line, in the order of ids. One pass over four tables, side by side. */
export function exportTasks(
  db: Database,
  path: string,
  { write, begin }: { readonly write: WriteLine; readonly begin?: ((lines: number) => void) | undefined },
): Exported {
  return db.read(() => {
    begin?.(Number(db.get(COUNT)?.n ?? 0));
    const edges = groupByOwner(db.each(EDGES));
    const comments = groupByOwner(db.each(COMMENTS));
    const deleted = db.each('SELECT id, line FROM deleted_tasks ORDER BY id');
    let gone = deleted.next();
    let lines = 0;
    for (const row of db.each(TASKS)) {
      const id = row.id as string;
      for (; gone.done !== true && (gone.value.id as string) < id; gone = deleted.next()) {
        write(gone.value.line as string);
        lines += 1;
      }
      write(rowToLine(db, row, edges(id), comments(id)));
      lines += 1;
    }
    for (; gone.done !== true; gone = deleted.next()) {
      write(gone.value.line as string);
      lines += 1;
    }
    for (const line of readUnreadable(db, path)) write(line);
    return { lines, event_seq: newestEvent(db) };
  });
}

/** Every logged move, by task and time. */
export function exportHistory(db: Database, path: string, write: WriteLine): Exported {
  return db.read(() => {
    let lines = 0;
    for (const row of db.each(
      'SELECT * FROM transitions ORDER BY task_id, created_at, from_state, to_state, triggered_by',
    )) {
      write(encodeTransition(row));
      lines += 1;
    }
    for (const line of readUnreadable(db, path)) write(line);
    return { lines, event_seq: newestEvent(db) };
  });
}

/** Rows come in the order of their owners, and owners are asked for in that order. */
function groupByOwner(rows: Generator<Row>): (owner: string) => Row[] {
  let next = rows.next();
  return (owner) => {
    const group: Row[] = [];
    for (; next.done !== true && (next.value.owner as string) <= owner; next = rows.next()) {
      if (next.value.owner === owner) group.push(next.value);
    }
    return group;
  };
}

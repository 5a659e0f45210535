import type { FileMark } from '../sync-store.ts';
import type { Database, Row } from './database.ts';

const UPSERT = `INSERT INTO task_files (path, size, mtime, ctime, inode, digest, looked_at, event_seq)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET size = excluded.size, mtime = excluded.mtime,
  ctime = excluded.ctime, inode = excluded.inode, digest = excluded.digest, looked_at = excluded.looked_at,
  event_seq = excluded.event_seq`;

/** Uses the primary key. */
export function readMark(db: Database, path: string): FileMark | undefined {
  const row = db.get('SELECT * FROM task_files WHERE path = ?', path);
  return row === undefined ? undefined : rowToMark(row);
}

export function writeMark(db: Database, mark: FileMark): void {
  const { path, size, mtime, ctime, inode, digest, looked_at, event_seq } = mark;
  db.run(UPSERT, path, size, mtime, ctime, inode, digest, looked_at, event_seq);
}

/** What could not be read of a file, in place of what could not be read of it before. */
export function writeUnreadable(db: Database, path: string, lines: Iterable<string | Uint8Array>): void {
  db.run('DELETE FROM unreadable_lines WHERE path = ?', path);
  for (const line of lines) {
    const bytes = typeof line === 'string' ? Buffer.from(line, 'utf8') : line;
    db.run('INSERT INTO unreadable_lines (path, line) VALUES (?, ?) ON CONFLICT DO NOTHING', path, bytes);
  }
}

/** In the order of their bytes. */
export function readUnreadable(db: Database, path: string): Uint8Array[] {
  const rows = db.all('SELECT line FROM unreadable_lines WHERE path = ? ORDER BY line', path);
  return rows.map((row) => row.line as Uint8Array);
}

function rowToMark(row: Row): FileMark {
  return {
    path: row.path as string,
    size: row.size as number,
    mtime: row.mtime as string,
    ctime: row.ctime as string,
    inode: row.inode as string,
    digest: row.digest as string,
    looked_at: row.looked_at as number,
    event_seq: row.event_seq as number | null,
  };
}

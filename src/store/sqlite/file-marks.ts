import type { FileMark } from '../replication.ts';
import { foldedAt, missingMany, NEVER_SHOWN } from '../fold/shown-facts.ts';
import type { Database, Row } from './database.ts';

const NEWLINE = 0x0a;
const BREAK = Buffer.of(NEWLINE);

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

/** A file that was written has lines of Forge alone, also where it has more than the newest of each task. */
export function writeExportMark(db: Database, mark: FileMark): void {
  writeMark(db, mark);
  if (mark.event_seq !== null) return;
  db.run("DELETE FROM shown_lines WHERE path = ? AND (seal LIKE '~%' OR seal = ?)", mark.path, NEVER_SHOWN);
  db.run('DELETE FROM store_facts WHERE name IN (?, ?)', foldedAt(mark.path), missingMany(mark.path));
}

/**
 * What could not be read of a file, in place of what could not be read of it before. One row holds all of it, with its
 * newlines: the lines may be pieces of something, so their order counts, and one may stand there twice.
 */
export function writeUnreadable(db: Database, path: string, lines: readonly (string | Uint8Array)[]): void {
  db.run('DELETE FROM unreadable_lines WHERE path = ?', path);
  if (lines.length === 0) return;
  const parts = lines.flatMap((line) => [BREAK, typeof line === 'string' ? Buffer.from(line, 'utf8') : line]);
  const block = Buffer.concat(parts.slice(1));
  db.run('INSERT INTO unreadable_lines (path, line) VALUES (?, ?)', path, block);
}

/** In their order. Earlier versions made a row of each line, in the order of their bytes. */
export function readUnreadable(db: Database, path: string): Uint8Array[] {
  const rows = db.all('SELECT line FROM unreadable_lines WHERE path = ? ORDER BY line', path);
  return rows.flatMap((row) => splitBlock(row.line as Uint8Array));
}

/** Of all files but those that were only imported. */
export function countUnreadable(db: Database): number {
  const rows = db.all(
    "SELECT line FROM unreadable_lines WHERE path NOT LIKE 'import:%' AND path NOT LIKE 'git:theirs:%'",
  );
  return rows.reduce((sum, row) => sum + splitBlock(row.line as Uint8Array).length, 0);
}

function splitBlock(block: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start <= block.length;) {
    const next = block.indexOf(NEWLINE, start);
    const end = next < 0 ? block.length : next;
    lines.push(block.subarray(start, end));
    start = end + 1;
  }
  return lines;
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

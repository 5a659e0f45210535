import { type Dirent, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runTestGit } from './temp-repo.ts';

export interface StoreSnapshot {
  /** Every row of every table, or why they cannot be read. */
  readonly tables: Readonly<Record<string, readonly unknown[]>> | string;
  /** `PRAGMA integrity_check` and `user_version`. */
  readonly database: unknown;
  /** Text of every file of `.forge` and of the store's folder, the local replica among them; `-> target` for a link. */
  readonly files: Readonly<Record<string, string>>;
  readonly git: { readonly status: string; readonly refs: string };
}

/**
 * All that a command of a project could change, as plain data: a refused command leaves it equal.
 *
 *     const before = takeSnapshot(project.path);
 *     …
 *     expect(takeSnapshot(project.path)).toEqual(before);
 */
export function takeSnapshot(root: string): StoreSnapshot {
  const rows = readDatabase(join(root, '.git', 'forge', 'forge.db'));
  return {
    ...rows,
    files: { ...readFolder(root, '.forge'), ...readFolder(root, join('.git', 'forge')) },
    git: {
      status: runTestGit(root, ['status', '--porcelain', '--ignored', '--untracked-files=all']),
      refs: runTestGit(root, ['for-each-ref']),
    },
  };
}

/** What the tasks are, whatever version numbers, events and stamps say: for stores that were rebuilt. */
export function readTaskContent(root: string): unknown[] {
  using db = openDatabase(join(root, '.git', 'forge', 'forge.db'));
  const tasks = `SELECT id, title, description, status, state, close_reason, priority, type, assignee, parent_id, labels,
    github_issue, created_at, created_by, metadata, open_blockers FROM tasks ORDER BY id`;
  const edges = 'SELECT from_id, to_id, dep_type FROM dependencies ORDER BY 1, 2, 3';
  const comments = 'SELECT id, task_id, author, body, reply_to, created_at FROM comments ORDER BY id';
  return [tasks, edges, comments, 'SELECT id, deleted_at FROM deleted_tasks ORDER BY id'].map((sql) =>
    plain(db.prepare(sql).all()),
  );
}

function readDatabase(path: string): Pick<StoreSnapshot, 'tables' | 'database'> {
  try {
    using db = openDatabase(path);
    const names = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
      .map(({ name }) => String(name));
    // Names from the schema itself, so nothing foreign gets into the SQL.
    const tables = names.map((name) => [name, plain(db.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).all())]);
    const integrity = db.prepare('PRAGMA integrity_check').all();
    return {
      tables: Object.fromEntries(tables) as Record<string, unknown[]>, // pairs of name and rows
      database: plain([...integrity, db.prepare('PRAGMA user_version').get()]),
    };
  } catch (error) {
    return { tables: (error as Error).message, database: null };
  }
}

/** Reading and writing, because the last reader of a WAL that may not write leaves SQLite's files behind. */
function openDatabase(path: string): DatabaseSync & Disposable {
  const db = new DatabaseSync(path, { timeout: 5_000 });
  return Object.assign(db, { [Symbol.dispose]: () => db.close() });
}

/** Rows of node:sqlite have no prototype, which `toEqual` takes for a difference in nested values. */
function plain(rows: readonly unknown[]): unknown[] {
  return rows.map((row) => ({ ...(row as object) }));
}

/** The database itself is compared by its rows, and its -wal and -shm come and go with every reader. */
function readFolder(root: string, folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  const entries = readdirSync(join(root, folder), { withFileTypes: true, recursive: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (!/^forge\.db(-wal|-shm)?$/.test(entry.name) || entry.isSymbolicLink()) {
      files[relative(root, path)] = describe(entry, path);
    }
  }
  return files;
}

function describe(entry: Dirent, path: string): string {
  if (entry.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  return entry.isDirectory() ? '(folder)' : readFileSync(path, 'latin1'); // every byte counts, also what is not UTF-8
}

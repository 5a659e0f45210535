import { appendFileSync, type Dirent, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import type { ErrorCode, ErrorDetails } from '#kernel/errors.ts';
import type { ForgeCli } from './forge-cli.ts';
import { runTestGit } from './temp-repo.ts';

export interface StoreSnapshot {
  /** Every row of every table, or why they cannot be read. */
  readonly tables: Readonly<Record<string, readonly unknown[]>> | string;
  /** `PRAGMA integrity_check` and `user_version`. */
  readonly database: unknown;
  /** Every file of `.forge` and of the store's folder, the local replica among them; `-> target` for a link. */
  readonly files: Readonly<Record<string, string>>;
  readonly git: string;
}

/**
 * All that a command of a project could change, as plain data: a refused command leaves it equal.
 *
 *     const before = takeSnapshot(project.path);
 *     …
 *     expect(takeSnapshot(project.path)).toEqual(before);
 */
export function takeSnapshot(root: string): StoreSnapshot {
  const status = runTestGit(root, ['status', '--porcelain', '--ignored', '--untracked-files=all']);
  return { ...readStore(root), git: `${status}\n${runTestGit(root, ['for-each-ref'])}` };
}

/** The same without git, for a repository where git cannot be run from here. */
export function readStore(root: string): Omit<StoreSnapshot, 'git'> {
  return {
    ...readDatabase(join(root, '.git', 'forge', 'forge.db')),
    files: { ...readFolder(root, '.forge'), ...readFolder(root, join('.git', 'forge')) },
  };
}

export interface Refusal {
  readonly args: readonly string[];
  readonly code: ErrorCode;
  /** What the message says: what is wrong, with the id or the value. */
  readonly says: string | RegExp;
  /** The next step. */
  readonly hint?: string | RegExp;
  readonly details?: ErrorDetails;
}

/** How many commands run at once; each is started with and without --json. */
const AT_ONCE = 4;

/**
 * Every command fails as it should, in both forms, and all of them together change nothing at all. Where the project
 * runs commands in this process, the built program is asked for the first of them too.
 */
export async function expectRefused(
  project: ForgeCli & { readonly path: string; readonly program?: ForgeCli },
  refusals: readonly Refusal[],
): Promise<void> {
  const before = takeSnapshot(project.path);
  const [first] = refusals;
  if (project.program !== undefined && first !== undefined) await expectOne(project.program, first);
  const waiting = [...refusals];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await expectOne(project, next);
  };
  // All of them end before the first failure is told: the project goes away with it.
  const workers = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const worker of workers) if (worker.status === 'rejected') throw worker.reason;
  expect(takeSnapshot(project.path)).toEqual(before);
}

async function expectOne(cli: ForgeCli, { args, code, says, hint, details }: Refusal): Promise<void> {
  const { error } = await cli.fails(...args);
  const where = `forge ${args.map((word) => JSON.stringify(word.slice(0, 80))).join(' ')}`;
  expect.soft(error.code, where).toBe(code);
  expect.soft(error.message, where).toEqual(matching(says));
  if (hint !== undefined) expect.soft(error.hint, `hint of ${where}`).toEqual(matching(hint));
  if (details !== undefined) expect.soft(error.details, where).toMatchObject(details);
}

function matching(wanted: string | RegExp): unknown {
  return typeof wanted === 'string' ? expect.stringContaining(wanted) : expect.stringMatching(wanted);
}

/** Tasks with ids of the test's choice, as the next command finds them in the local replica. */
export function bringTasks(
  root: string,
  tasks: readonly ({ readonly id: string } & Record<string, unknown>)[],
): void {
  const at = '2026-02-10T09:00:00.000Z';
  const times = { created_at: at, created_by: 'Ada', updated_at: at };
  const lines = tasks.map((task) =>
    JSON.stringify({
      title: `Task ${task.id}`,
      status: 'open',
      priority: 2,
      type: 'task',
      ...times,
      ...task,
    }),
  );
  appendFileSync(join(root, '.git', 'forge', 'tasks.jsonl'), `${lines.join('\n')}\n`);
}

function readDatabase(path: string): Pick<StoreSnapshot, 'tables' | 'database'> {
  try {
    using db = openDatabase(path);
    const names = db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
      .map(({ name }) => String(name));
    const tables = names.map((name) => [
      name,
      plain(db.prepare(`SELECT * FROM "${name}" ORDER BY 1, 2`).all()),
    ]);
    const integrity = db.prepare('PRAGMA integrity_check').all();
    return {
      tables: Object.fromEntries(tables) as Record<string, unknown[]>, // pairs of a name and its rows
      database: plain([...integrity, db.prepare('PRAGMA user_version').get()]),
    };
  } catch (error) {
    return { tables: (error as Error).message, database: null };
  }
}

/** For writing too: a reader of a WAL that may not write leaves SQLite's files behind. */
function openDatabase(path: string): DatabaseSync & Disposable {
  const db = new DatabaseSync(path, { timeout: 5_000 });
  return Object.assign(db, { [Symbol.dispose]: () => db.close() });
}

/** Rows of node:sqlite have no prototype; a printed difference reads better with one. */
function plain(rows: readonly unknown[]): unknown[] {
  return rows.map((row) => ({ ...(row as object) })); // a row is an object
}

/** The database itself is compared by its rows, and its -wal and -shm come and go with every reader. */
function readFolder(root: string, folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && /^forge\.db(-wal|-shm)?$/.test(entry.name)) continue;
    files[relative(root, path)] = describe(entry, path);
  }
  return files;
}

function describe(entry: Dirent, path: string): string {
  if (entry.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  return entry.isDirectory() ? '(folder)' : readFileSync(path, 'latin1'); // byte for byte, also what is not UTF-8
}

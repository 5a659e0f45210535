import { existsSync } from 'node:fs';
import type { Run } from '#contract/attempt.ts';
import type { ResolvedDependency, Status } from '#contract/task.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { ProcessMark } from './attempt-store.ts';
import { isDaemonMark } from './daemon-store.ts';
import { judgeBeat } from './sqlite/daemon-rows.ts';
import { Database } from './sqlite/database.ts';
import { readPause } from './sqlite/read-pause.ts';
import { listOpenRuns, listRuns } from './sqlite/run-rows.ts';
import { checkReadable, OLDEST_READ, readSchemaVersion } from './sqlite/schema-version.ts';
import { listWatchedTasks } from './sqlite/watcher-rows.ts';
import { openSteadyTime } from './steady-time.ts';
import { toStoreFiles, type StoreLocation } from './store-location.ts';

/** A look into a store that must not change by it: another project's. Calls are single statements by key. */
export interface TaskReader extends Disposable {
  /** By their whole ids; those that are not there are left out. One statement, which the caller keeps short. */
  findTasks(ids: readonly string[]): Map<string, ReadTask>;
  /** Ids of what blocks it, closed ones and those of other projects too. */
  listBlockers(id: string): string[];
  /** Runs that have not ended. */
  countOpenRuns(): number;
  /** Who says to be at work here, and on what; the same process once for each. */
  listWatchers(): ReadWatcher[];
  /** The oldest first. */
  listRuns(query: { readonly since: string }): Run[];
  countTasks(): { open: number; in_progress: number; closed: number; ready: number };
  /** Since when agents claim nothing here; null while they may. */
  readPause(): string | null;
}

export interface ReadWatcher {
  readonly watcher: ProcessMark;
  /** What it said last to the store holds no more. */
  readonly is_over: boolean;
  readonly since: number;
  /** When it last said that it is there; null where it did not yet. */
  readonly beat_at: number | null;
  /** Of the run that it watches; null where it does something else for the task. */
  readonly run: { readonly agent: string; readonly executor: string } | null;
}

export type ReadTask = NonNullable<ResolvedDependency['resolved']>;

/** Others may be writing; a reader of a log waits for nobody, so this is for the rare moment of a recovery. */
const LOCK_TIMEOUT_MS = 2_000;

/**
 * Opens a database read-only. Nothing is made, upgraded or replayed: throws not_found where there is none, and
 * schema_newer or not_available for one of a schema that is too new or too old.
 */
export function openTaskReader(location: StoreLocation): TaskReader {
  const { database } = toStoreFiles(location);
  if (!existsSync(database)) throw new ForgeError('not_found', `There is no database yet: ${database}`);
  const db = new Database(database, { lock_timeout_ms: LOCK_TIMEOUT_MS, read_only: true });
  try {
    checkReadable(db);
    if (readSchemaVersion(db) < OLDEST_READ)
      throw new ForgeError('not_available', `The database has an older schema: ${database}`);
  } catch (error) {
    db.close();
    throw error;
  }
  return {
    findTasks(ids) {
      const rows = db.all(
        `SELECT id, title, status, state, priority, assignee FROM tasks
          WHERE id IN (SELECT value FROM json_each(?))`,
        JSON.stringify(ids),
      );
      return new Map(
        rows.map((row) => [
          row.id as string,
          {
            title: row.title as string,
            status: row.status as Status,
            state: row.state as string,
            priority: row.priority as number,
            assignee: row.assignee as string | null,
          },
        ]),
      );
    },
    listBlockers: (id) =>
      db
        .all(
          `SELECT to_id FROM dependencies WHERE from_id = ?1 AND dep_type = 'blocks'
            UNION ALL SELECT to_id FROM unresolved_dependencies WHERE from_id = ?1 AND dep_type = 'blocks'`,
          id,
        )
        .map((row) => row.to_id as string),
    countOpenRuns: () =>
      // Uses idx_runs_open.
      Number(db.get('SELECT count(*) AS n FROM runs WHERE ended_at IS NULL')?.n ?? 0),
    listRuns: (query) => listRuns(db, query),
    listWatchers: () => [...listRunWatchers(db), ...listTaskWatchers(db)],
    countTasks() {
      const row = db.get(`SELECT
          count(*) FILTER (WHERE status = 'open') AS open,
          count(*) FILTER (WHERE status = 'in_progress') AS in_progress,
          count(*) FILTER (WHERE status = 'closed') AS closed,
          count(*) FILTER (WHERE status = 'open' AND assignee IS NULL AND open_blockers = 0 AND parked = 0) AS ready
        FROM tasks`);
      const count = (name: string): number => Number(row?.[name] ?? 0);
      return {
        open: count('open'),
        in_progress: count('in_progress'),
        closed: count('closed'),
        ready: count('ready'),
      };
    },
    readPause: () => readPause(db),
    [Symbol.dispose]: () => db.close(),
  };
}

function listRunWatchers(db: Database): ReadWatcher[] {
  // Uses idx_runs_open.
  return listOpenRuns(db).flatMap(({ run: { agent, executor, created_at }, watcher, beat_at }) =>
    watcher === null
      ? []
      : [
          {
            watcher,
            is_over: isOver(db, watcher),
            since: Date.parse(created_at),
            beat_at,
            run: { agent, executor },
          },
        ],
  );
}

function listTaskWatchers(db: Database): ReadWatcher[] {
  return listWatchedTasks(db).map(({ watcher, since }) => ({
    watcher,
    is_over: isOver(db, watcher),
    since,
    beat_at: null,
    run: null,
  }));
}

/** Nothing is written by a look: one whose word this machine sees for the first time is not over. */
function isOver(db: Database, mark: ProcessMark): boolean {
  return isDaemonMark(mark) && judgeBeat(db, mark, openSteadyTime()()) === true;
}

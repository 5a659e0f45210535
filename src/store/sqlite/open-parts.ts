import { chmodSync, statSync } from 'node:fs';
import type { Clock } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { PRIVATE, type FileModes } from '../file-modes.ts';
import { catchUp, type CatchUpOptions } from './catch-up.ts';
import { Database } from './database.ts';
import { Replica } from './replica.ts';
import { writeGuard, newerSchema, readStanding } from './schema-version.ts';
import { isDamage } from './translate-error.ts';
import { readKeptWorkflow } from './workflow-row.ts';
import { toSlice, waitInSlices } from './wait-in-slices.ts';

export interface SqliteStoreOptions extends Pick<CatchUpOptions, 'notice' | 'meter'> {
  readonly database: string;
  /** The local replica; see the design's "three replicas". */
  readonly replica: string;
  readonly clock: Clock;
  readonly lock_timeout_ms?: number | undefined;
  /**
   * How to wait for another writer: `block` stands still for up to a slice at a time, which a command can afford and
   * costs it nothing; `await` lets the event loop go on, for servers. Blocks when left out.
   */
  readonly lock?: 'block' | 'await' | undefined;
  /** The machine's own clock, which leases are measured by. Left out: the writers' times stand for it. */
  readonly steady?: import('../steady-time.ts').ReadSteady | undefined;
  /**
   * Of a server that begins: no holder is judged before every holder has had one lease time from now, because none could be
   * heard of while the server was not there.
   */
  readonly begins?: true | undefined;
  /** Of what is made anew. Left out: it is the owner's alone. */
  readonly modes?: (() => FileModes) | undefined;
  /** Keeps other processes out while a database is set aside or made. Left out: there are none. */
  readonly hold?: import('./set-aside-database.ts').HoldLock | undefined;
  /** With `await`. */
  readonly gather?: Gather | undefined;
  /** False: damage is told, and nothing is done about it. */
  readonly heals?: boolean | undefined;
  /** Nothing will be written but what has to be joined in: a database of another schema stays as it is. */
  readonly reads?: boolean | undefined;
  /** The version of Forge, for the database to name. */
  readonly written_by?: string | undefined;
  readonly mayUpgrade?: import('./upgrade.ts').UpgradeOptions['mayUpgrade'];
  /** Of the folder that the database lies in. Left out: the system is asked. */
  readonly readFileSystem?: import('./choose-journal.ts').ReadFileSystem | undefined;
}

type Job = import('./write-transaction.ts').WriteJob;
type JobOutcome = import('./write-transaction.ts').JobOutcome;
/** Makes a write when its turn comes, with others that wait for theirs. */
export type Gather = (
  job: Job,
  run: (jobs: readonly Job[]) => Promise<readonly JobOutcome[]>,
) => Promise<unknown>;

/** What a store is made of. */
export interface StoreParts {
  readonly db: Database;
  /** The same connection for a command; another one where a write may wait in the middle of its transaction. */
  readonly reader: Database;
  readonly replica: Replica;
  readonly options: SqliteStoreOptions;
  readonly aside?: AsyncDisposable;
  /** A database of another schema, for reading alone. */
  readonly changes_nothing?: true;
}

/** What was found damaged may be mended by another process at the same time, which may be slower. */
const HEALINGS = 5;

export async function openOrHeal(options: SqliteStoreOptions): Promise<StoreParts> {
  for (let healings = 0; ; healings += 1) {
    try {
      return await openOnce(options);
    } catch (error) {
      if (!isDamage(error) || healings === HEALINGS) throw error;
    }
    await setAside(options);
  }
}

/** Sets a damaged database aside and makes it anew. Nothing happens to one that is sound. */
export async function healSqliteStore(options: SqliteStoreOptions): Promise<void> {
  const patience_ms = options.lock_timeout_ms ?? LIMITS.lock_timeout_ms;
  const lock_timeout_ms = options.lock === 'await' ? 0 : toSlice(patience_ms);
  await waitInSlices(() => setAside({ ...options, lock_timeout_ms }), patience_ms);
}

async function setAside(options: SqliteStoreOptions): Promise<void> {
  const { setAsideDatabase } = await import('./set-aside-database.ts');
  const aside = await setAsideDatabase(options.database, options);
  if (aside === undefined) return;
  options.notice?.(`The task database was damaged; it is made anew, and the old one is kept: ${aside}`);
  // At once, so that the process that opens it next has nothing more to tell.
  closeParts(await openOnce(options, 'healed'));
}

export function closeParts({ db, reader, replica }: Pick<StoreParts, 'db' | 'reader' | 'replica'>): void {
  replica.close();
  if (reader !== db) reader.close();
  db.close();
}

export async function openOnce(options: SqliteStoreOptions, why?: 'healed'): Promise<StoreParts> {
  if (!isThere(options.database)) {
    const { makeDatabase } = await import('./make-database.ts');
    await makeDatabase(options.database, { modes: options.modes?.() ?? PRIVATE, hold: options.hold });
  }
  const db = openDatabase(options);
  const standing = await closingOnError(db, () => readStanding(db));
  if (options.reads === true && (standing === 'older' || standing === 'readable')) {
    db.close();
    return openUnchanged(options, standing);
  }
  return closingOnError(db, async () => {
    if (standing === 'too_new' || standing === 'readable') throw newerSchema(db);
    const isNew = standing === 'new' || standing === 'older' ? await bringUpToDate(db, options) : false;
    showByWorkflow(db);
    const guard = writeGuard(db);
    // Another process may have changed it since: what is written now is decided by what it is now.
    db.guard = () => {
      guard();
      readKeptWorkflow(db);
    };
    const replica = new Replica(options.replica, options.modes);
    await catchUp(db, replica, { ...options, tells_rebuild: isNew && why !== 'healed' });
    if (options.begins === true) await beginLeases(db, options);
    if (options.gather === undefined) return { db, reader: db, replica, options };
    const { checkpointAside } = await import('./checkpoint-aside.ts');
    const aside = checkpointAside(options.database, () => db.moveLog());
    const { tellCommits } = await import('./commit-channel.ts');
    db.afterCommit = tellCommits(options.database);
    return { db, reader: showByWorkflow(openDatabase(options)), replica, options, aside };
  });
}

/** From now on: the table is there, or known not to be. */
function showByWorkflow(db: Database): Database {
  db.lookUpWorkflow = () => readKeptWorkflow(db);
  return db;
}

async function beginLeases(db: Database, { clock, steady }: SqliteStoreOptions): Promise<void> {
  const { graceLeases } = await import('./lease-rows.ts');
  const { WALL } = await import('./lease-lines.ts');
  const time = steady?.() ?? { clock: WALL, at: clock.now() };
  db.write(() => graceLeases(db, time));
}

async function bringUpToDate(db: Database, options: SqliteStoreOptions): Promise<boolean> {
  const { upgrade } = await import('./upgrade.ts');
  return upgrade(db, options);
}

/** For reading alone: the file stays as it is, to the byte. */
async function openUnchanged(
  options: SqliteStoreOptions,
  standing: 'older' | 'readable',
): Promise<StoreParts> {
  const db = openDatabase(options, { read_only: true });
  return closingOnError(db, async () => {
    const { readPast, refuseWrites, UnchangedReplica } = await import('./read-past.ts');
    const replica = new UnchangedReplica(options.replica, options.modes);
    if (standing === 'readable') refuseWrites(db);
    else {
      readPast(db, options);
      await catchUp(db, replica, { ...options, tells_rebuild: false });
    }
    return { db: showByWorkflow(db), reader: db, replica, options, changes_nothing: true as const };
  });
}

async function closingOnError<T>(db: Database, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    db.close();
    throw error;
  }
}

/** An empty file beside a log is no database: SQLite made it anew where one was moved or deleted that is in use. */
function isThere(path: string): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.size > 0) return found !== undefined;
    return statSync(`${path}-wal`, { throwIfNoEntry: false }) === undefined;
  } catch {
    return true; // Opening it says what is wrong.
  }
}

function openDatabase(options: SqliteStoreOptions, more: { readonly read_only?: true } = {}): Database {
  mendPermissions(options.database);
  return new Database(options.database, {
    lock_timeout_ms: options.lock_timeout_ms ?? LIMITS.lock_timeout_ms,
    ...(options.gather !== undefined && { checkpoint: 'aside' as const }),
    modes: options.modes,
    ...(options.reads === true && { reads: true as const }),
    ...more,
  });
}

/**
 * SQLite gives its log and its shared memory the permissions of the database. Made while that was read-only, they
 * would keep every later writer out.
 */
function mendPermissions(database: string): void {
  try {
    const shared = statSync(`${database}-shm`, { throwIfNoEntry: false });
    if (shared === undefined || (shared.mode & 0o200) !== 0) return;
    const { mode } = statSync(database);
    if ((mode & 0o200) === 0) return;
    chmodSync(`${database}-shm`, mode & 0o777);
    chmodSync(`${database}-wal`, mode & 0o777);
  } catch {
    // Not ours to look at or to change: opening the database says what is wrong.
  }
}

import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { ResolvedWorkflow } from '#domain/workflow.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { NO_WORKFLOW, type KeptWorkflow } from '../kept-workflow.ts';
import { PRIVATE, type FileModes } from '../file-modes.ts';
import { NO_SHARED_MEMORY, toFull, translateStoreError } from './translate-error.ts';

export type Row = Record<string, unknown>;
export type Value = SQLInputValue;

/** Below this, WAL can lose a commit that two connections race for (fixed in 3.51.3). */
const SQLITE_FLOOR = [3, 51, 3];
/** SQLite's codes for a file that cannot be written or made. */
const NOT_WRITABLE = [8, 14];

/** The only file that knows which SQLite driver is used; a swap is this file. */
export class Database {
  readonly path: string;
  /** Of what is made beside it. */
  readonly modes: () => FileModes;
  /** The project's workflow as it was last read here, and what reads it. */
  kept_workflow: KeptWorkflow | undefined;
  lookUpWorkflow: (() => KeptWorkflow) | undefined;
  /** Called in every write transaction before anything else; throws where this program may not write. */
  guard: (() => void) | undefined;
  /** Called before a write transaction begins. */
  beforeWrite: (() => void) | undefined;
  /** Called after each write transaction. */
  afterCommit: (() => void) | undefined;
  /** Of the file at `path`, where another one is read in its place. */
  pastSchema: number | undefined;
  #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** Of the file that is open. */
  readonly #inode: number;
  #wide = false;
  #isUnchanging = false;
  /** How long a reader waits for the file to itself where the disk is full; undefined where it must write. */
  readonly #reads_within_ms: number | undefined;
  #isAlone = false;
  /** It is a file of this process alone; see continueWith. */
  #isPrivate = false;
  /** Pages of the log after which a commit moves them to the database; 0 where somebody else does. */
  readonly #checkpoint_pages: number;
  #movesLog = false;

  get workflow(): ResolvedWorkflow {
    return (this.kept_workflow ?? this.lookUpWorkflow?.() ?? NO_WORKFLOW).workflow;
  }

  /** The states that park a task; the column `parked` is a copy of that. */
  get parkedStates(): ReadonlySet<string> {
    return this.workflow.parked_states;
  }

  constructor(
    path: string,
    options: {
      lock_timeout_ms: number;
      read_only?: true;
      /** For reading, so that a full disk does not matter. */
      reads?: true;
      checkpoint?: 'aside' | undefined;
      modes?: (() => FileModes) | undefined;
    },
  ) {
    this.path = path;
    this.modes = options.modes ?? (() => PRIVATE);
    this.#reads_within_ms = options.reads === true ? options.lock_timeout_ms : undefined;
    this.#checkpoint_pages = options.checkpoint === 'aside' ? 0 : LIMITS.checkpoint_pages;
    assertSqliteVersion(process.versions.sqlite ?? '0');
    const before = readInode(path);
    try {
      this.#db = new DatabaseSync(path, {
        timeout: options.lock_timeout_ms,
        readOnly: options.read_only === true,
      });
    } catch (error) {
      throw translateStoreError(error, path);
    }
    const after = readInode(path);
    // Somebody sets it aside in this moment: nobody can tell which of the two files this is.
    if (after === undefined || (before !== undefined && before !== after)) {
      this.#db.close();
      throw replaced(path);
    }
    this.#inode = after;
  }

  all(sql: string, ...values: Value[]): Row[] {
    return this.#translated(() => this.#prepare(sql).all(...values) as Row[]);
  }

  get(sql: string, ...values: Value[]): Row | undefined {
    return this.#translated(() => this.#prepare(sql).get(...values) as Row | undefined);
  }

  /** Row by row, for results that need not fit into memory. */
  *each(sql: string, ...values: Value[]): Generator<Row> {
    // A statement of its own: the shared one may be run again before this is through.
    const rows = this.#translated(() => this.#db.prepare(sql).iterate(...values));
    try {
      for (;;) {
        const next = this.#translated(() => rows.next());
        if (next.done === true) return;
        yield next.value as Row;
      }
    } finally {
      // A walk that ends early would hold its view of the database until the statement is collected as garbage.
      rows.return?.();
    }
  }

  run(sql: string, ...values: Value[]): { changes: number; last_row_id: number } {
    return this.#translated(() => {
      const result = this.#prepare(sql).run(...values);
      return { changes: Number(result.changes), last_row_id: Number(result.lastInsertRowid) };
    });
  }

  /** Several statements without parameters: migrations and pragmas. */
  execute(sql: string): void {
    this.#translated(() => this.#db.exec(sql));
  }

  /** One view for several reads. */
  read<T>(work: () => T): T {
    return this.#transaction('BEGIN', work);
  }

  /**
   * Another connection that sees what there is now, until it is closed. Undefined where no second one can be had: of a
   * file that is gone, or that a reader has to itself.
   */
  openSnapshot(): Database | undefined {
    if (this.#isPrivate || this.#isUnchanging || this.#isAlone) return undefined;
    const lock_timeout_ms = Number(this.get('PRAGMA busy_timeout')?.timeout);
    const snapshot = new Database(this.path, { lock_timeout_ms, read_only: true, modes: this.modes });
    snapshot.pastSchema = this.pastSchema;
    snapshot.execute('BEGIN');
    return snapshot;
  }

  /** Every read-then-write takes the writer's lock first, so that nothing changes in between. */
  write<T>(work: () => T): T {
    this.beforeWrite?.();
    this.#widen();
    const result = this.#transaction('BEGIN IMMEDIATE', () => {
      this.#checkPlace();
      this.guard?.();
      return work();
    });
    this.afterCommit?.();
    return result;
  }

  /**
   * A write that awaits something before it commits. Nobody else may use this connection meanwhile: they would be part
   * of it.
   */
  async writeAside<T>(work: () => Promise<T>): Promise<T> {
    this.beforeWrite?.();
    this.#widen();
    this.run('BEGIN IMMEDIATE');
    try {
      this.#checkPlace();
      this.guard?.();
      const result = await work();
      this.#commit();
      this.afterCommit?.();
      return result;
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw translateStoreError(error, this.path);
    }
  }

  #widen(): void {
    if (this.#wide || this.#isPrivate) return;
    // The local replica is fsynced before each commit and is the durability, so the database need not be. A rollback
    // journal is another matter: a power cut could damage the file.
    const synchronous = this.get('PRAGMA journal_mode')?.journal_mode === 'wal' ? 'NORMAL' : 'FULL';
    // Fewer, larger checkpoints: a claim changes nine pages (docs/decisions/0005-cost-of-a-claim.md).
    this.execute(
      `PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = ${this.#checkpoint_pages}; PRAGMA journal_size_limit = ${LIMITS.wal_bytes}`,
    );
    this.#wide = true;
  }

  /** Whoever writes to a file that was moved away or replaced would write past everybody else. */
  #checkPlace(): void {
    if (this.isReplaced()) throw replaced(this.path);
  }

  /** Another file stands at the path, or none. */
  isReplaced(): boolean {
    return !this.#isPrivate && readInode(this.path) !== this.#inode;
  }

  /** A file that is gone cannot be read for many reasons, and each of them is that. */
  #translate(error: unknown): unknown {
    const translated = translateStoreError(error, this.path);
    if (this.#isAlone && translated instanceof ForgeError && translated.code === 'read_only')
      return toFull(this.path, error);
    if (!(translated instanceof ForgeError) || translated.code !== 'io_failed') return translated;
    try {
      this.#checkPlace();
      return translated;
    } catch (replaced) {
      return replaced;
    }
  }

  /** Like write, but gives up at once when somebody else is writing. */
  tryWrite(work: () => void): boolean {
    try {
      this.waiting(0, () => this.write(work));
      return true;
    } catch (error) {
      if (error instanceof ForgeError && error.code === 'store_busy') return false;
      throw error;
    }
  }

  /** Moves what stands in the log, behind the next commit where one is under way, so that the log is begun anew. */
  moveLog(): void {
    this.#movesLog = this.#db.isTransaction;
    if (this.#movesLog) return;
    try {
      this.waiting(0, () => this.get('PRAGMA wal_checkpoint(RESTART)'));
    } catch {
      // It loses nothing by waiting for the next time.
    }
  }

  #commit(): void {
    this.run('COMMIT');
    if (this.#movesLog) this.moveLog();
  }

  /** `work`, in which a lock is waited for at most so long; as long as ever without. */
  waiting<T>(lock_ms: number | undefined, work: () => T): T {
    if (lock_ms === undefined) return work();
    const before = Number(this.get('PRAGMA busy_timeout')?.timeout ?? 0);
    this.execute(`PRAGMA busy_timeout = ${lock_ms}`);
    try {
      return work();
    } finally {
      this.execute(`PRAGMA busy_timeout = ${before}`);
    }
  }

  /** A pure function that SQL may call. */
  define(name: string, work: (...texts: string[]) => string): void {
    this.#db.function(name, { deterministic: true, varargs: true }, (...values) =>
      values.every((value) => typeof value === 'string') ? work(...values) : null,
    );
  }

  /** Goes on with a file that no other process uses and that may be gone with this one. */
  continueWith(path: string): void {
    const again = new DatabaseSync(path);
    again.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    this.#statements.clear();
    this.#db.close();
    this.#db = again;
    this.#isPrivate = true;
  }

  isInTransaction(): boolean {
    return this.#db.isTransaction;
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }

  #transaction<T>(begin: string, work: () => T): T {
    this.run(begin);
    try {
      const result = work();
      this.#commit();
      return result;
    } catch (error) {
      // Some errors (a full disk) roll back by themselves; a second ROLLBACK would hide the first error.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      throw translateStoreError(error, this.path);
    }
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #translated<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!this.#openUnchanging(error) && !this.#openAlone(error)) throw this.#translate(error);
      return this.#translated(work);
    }
  }

  /**
   * On a file system that cannot be written SQLite cannot make the shared memory that reading a log takes. Where there
   * is no log, the file alone is all there is, and can be read as one that does not change. True where that was done.
   */
  #openUnchanging(error: unknown): boolean {
    const { errcode } = error as { errcode?: unknown };
    if (typeof errcode !== 'number' || !NOT_WRITABLE.includes(errcode & 0xff)) return false;
    if (this.#isUnchanging || this.#db.isTransaction) return false;
    if (
      isWritable(dirname(this.path)) ||
      (statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
    )
      return false;
    const url = process.getBuiltinModule('node:url').pathToFileURL(this.path);
    url.searchParams.set('immutable', '1');
    const again = new DatabaseSync(url, { readOnly: true });
    this.#statements.clear();
    this.#db.close();
    this.#db = again;
    this.#isUnchanging = true;
    return true;
  }

  /**
   * On a full disk SQLite cannot make that shared memory either. A connection that has the file to itself does without
   * it, log or not; while another process works with the file, the shared memory is there. True where that was done.
   */
  #openAlone(error: unknown): boolean {
    if (this.#reads_within_ms === undefined || this.#isAlone || this.#db.isTransaction) return false;
    if ((error as { errcode?: unknown }).errcode !== NO_SHARED_MEMORY) return false;
    this.#statements.clear();
    this.#db.close();
    this.#db = new DatabaseSync(this.path, { timeout: this.#reads_within_ms });
    this.#db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON');
    this.#isAlone = true;
    return true;
  }
}

export function assertSqliteVersion(version: string): void {
  const parts = version.split('.').map(Number);
  for (const [i, floor] of SQLITE_FLOOR.entries()) {
    const part = parts[i] ?? 0;
    if (part > floor) return;
    if (part < floor) {
      throw new ForgeError(
        'dependency_missing',
        `SQLite ${version} is too old; Forge needs ${SQLITE_FLOOR.join('.')}`,
        {
          hint: 'Use Node 24.15 or newer',
        },
      );
    }
  }
}

function readInode(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino;
  } catch {
    return undefined; // Opening it says what is wrong.
  }
}

function replaced(path: string): ForgeError {
  return new ForgeError('store_corrupt', `The task database was replaced while it was open: ${path}`, {
    hint: 'Run the command again',
    details: { path },
  });
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** What can be seen in a database that these scripts make, in memory. */
export function lookInMemory<T>(
  scripts: readonly string[],
  look: (all: (sql: string, ...values: string[]) => Row[]) => T,
): T {
  using db = new DatabaseSync(':memory:');
  for (const script of scripts) db.exec(script);
  return look((sql, ...values) => db.prepare(sql).all(...values) as Row[]);
}

import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { awaitLanding } from '../await-landing.ts';
import { holdsTask, listForeign, markForeign } from './foreign-edges.ts';
import { forgetWatch, isWorkedOn, listOpenWork } from './open-work-rows.ts';
import {
  closeParts,
  openOrHeal,
  type Gather,
  type SqliteStoreOptions,
  type StoreParts,
} from './open-parts.ts';
import { checkReadable } from './schema-version.ts';
import { listBlocked, listReady } from './ready-queries.ts';
import { readMark, readUnreadable, writeExportMark, writeMark } from './file-marks.ts';
import { healingStore, type Reopenable } from './healing-store.ts';
import { readFact, writeFact } from './store-facts.ts';
import { monotonicNow } from '../monotonic-time.ts';
import { lazyAttempts } from './lazy-attempts.ts';
import { once } from './load-once.ts';
import { getTask, listTasks } from './task-queries.ts';
import { tellUnreadable } from './unreadable-rows.ts';
import { patientStore, toSlice, waitInSlices } from './wait-in-slices.ts';
import { readKeptWorkflow, useWorkflow } from './workflow-row.ts';
import type { ProjectStore } from '../project-store.ts';
import type { StoreCare } from '../store-care.ts';
import type { Writer } from '../store.ts';
import type { Replication } from '../replication.ts';

/**
 * Opens the store, making or upgrading its schema first and replaying what a crash kept from it. A damaged database is
 * set aside and made anew from the replica.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqliteStore> {
  if (options.lock === 'await') return openAwaiting(options);
  const patience_ms = options.lock_timeout_ms ?? LIMITS.lock_timeout_ms;
  const sliced = { ...options, lock_timeout_ms: toSlice(patience_ms) };
  const parts = await waitInSlices(() => openOrHeal(sliced), patience_ms);
  return heal(parts, options, {
    open: () => waitInSlices(() => openOrHeal(sliced), patience_ms),
    wrap: (store) => patientStore(tellUnreadable(store, options.database), patience_ms),
  });
}

/** The same, done again on another database where this one turns out to be damaged. */
function heal(
  parts: StoreParts,
  options: SqliteStoreOptions,
  how: { readonly open: () => Promise<StoreParts>; readonly wrap: (store: SqliteStore) => SqliteStore },
): SqliteStore {
  const toOpen = (now: StoreParts): Reopenable<SqliteStore> => {
    const plain = createStore(now);
    let closed: Promise<void> | undefined;
    return {
      store: how.wrap(plain),
      async reopen() {
        const { reopenParts } = await import('./reopen-parts.ts');
        await (closed ??= Promise.resolve(plain[Symbol.asyncDispose]()));
        return toOpen(await reopenParts(now, options, how.open));
      },
    };
  };
  const opened = toOpen(parts);
  return options.heals === false ? opened.store : healingStore(opened);
}

export type { SqliteStoreOptions } from './open-parts.ts';

export type SqliteStore = ProjectStore & Replication & StoreCare;

async function openAwaiting(options: SqliteStoreOptions): Promise<SqliteStore> {
  const { awaitLocks, gatherWrites, untilUnlocked, WriteTurns } = await import('../await-locks.ts');
  const lock_timeout_ms = options.lock_timeout_ms ?? LIMITS.lock_timeout_ms;
  const turns = new WriteTurns();
  const gather: Gather = gatherWrites(turns, lock_timeout_ms);
  const open = (): Promise<StoreParts> => openOrHeal({ ...options, lock_timeout_ms: 0, gather });
  const openPatiently = (): Promise<StoreParts> => untilUnlocked(open, monotonicNow() + lock_timeout_ms);
  return heal(await openPatiently(), options, {
    open: openPatiently,
    wrap: (store) => awaitLocks(tellUnreadable(store, options.database), { turns, lock_timeout_ms }),
  });
}

/** What SQLite counts begins anew with each connection. */
let opened = 0;

type Job = import('./write-transaction.ts').WriteJob;
/** What a cold read needs is here; the rest loads when it is called. */
function createStore({ db, reader, replica, options, aside, changes_nothing }: StoreParts): SqliteStore {
  const { steady, gather, clock, notice, readFileSystem } = options;
  const serial = (opened += 1);
  const onTask = once(() => import('./task-writes.ts'));
  const onClaim = once(() => import('./claim-writes.ts'));
  const onMove = once(() => import('./move-writes.ts'));
  const onLease = once(() => import('./lease-rows.ts'));
  const onGraph = once(() => import('./graph-writes.ts'));
  const transactions = once(() => import('./write-transaction.ts'));
  const onRequests = once(() => import('./idempotency-rows.ts'));
  const onEvents = once(() => import('./event-queries.ts'));
  const write = async <W, T>(
    by: Writer,
    load: () => Promise<W>,
    work: (writes: W, tx: Transaction) => T,
  ): Promise<T> => {
    if (changes_nothing === true)
      throw new ForgeError('read_only', 'The task database was opened for reading: it has another schema');
    const { writeInTransaction, writeTogether } = await transactions();
    const writes = await load();
    const job: Job = { by, work: (tx) => work(writes, tx) };
    return awaitLanding(async () => {
      if (gather === undefined)
        return writeInTransaction({ db, replica, steady }, by, (tx) => work(writes, tx));
      return (await gather(job, (jobs) => writeTogether({ db, replica, steady, bounded: true }, jobs))) as T; // what this job gave
    });
  };
  let waits: import('./event-waits.ts').EventWaits | undefined;
  const onWaits = once(async () => {
    const { EventWaits } = await import('./event-waits.ts');
    const { tellCommits } = await import('./commit-channel.ts');
    db.afterCommit ??= tellCommits(db.path);
    return (waits = new EventWaits(reader));
  });
  const onAttempts = once(async () => {
    const { bindAttempts } = await import('./bind-attempts.ts');
    const nothing = async () => undefined;
    return bindAttempts({
      reader,
      clock,
      steady,
      notice,
      write: (by, work) => write(by, nothing, (_, tx) => work(tx)),
    });
  });
  // Each takes several statements; without a transaction another process could write between them.
  const report = async <T>(read: (reports: typeof import('./report-queries.ts')) => T): Promise<T> => {
    const reports = await import('./report-queries.ts');
    return reader.read(() => read(reports));
  };
  const look = async <T>(read: (looks: typeof import('./task-looks.ts')) => T): Promise<T> => {
    const looks = await import('./task-looks.ts');
    return reader.read(() => read(looks));
  };
  const page = async <T>(read: (pages: typeof import('./page-queries.ts')) => T): Promise<T> => {
    const pages = await import('./page-queries.ts');
    return reader.read(() => read(pages));
  };
  const graph = async <T>(read: (graphs: typeof import('./graph-queries.ts')) => T): Promise<T> => {
    const graphs = await import('./graph-queries.ts');
    return reader.read(() => read(graphs));
  };
  return {
    ...lazyAttempts(onAttempts),
    ...(changes_nothing === true && { changes_nothing }),
    async readFormat() {
      checkReadable(reader);
    },
    createTask: (task, by) => write(by, onTask, (writes, tx) => writes.createTask(tx, task)),
    updateTask: (change, by) => write(by, onTask, (writes, tx) => writes.updateTask(tx, change)),
    claimTask: (claim, by) => write(by, onClaim, (writes, tx) => writes.claimTask(tx, claim)),
    claimNext: (claim, by) => write(by, onClaim, (writes, tx) => writes.claimNext(tx, claim)),
    releaseTask: (release, by) => write(by, onClaim, (writes, tx) => writes.releaseTask(tx, release)),
    closeTask: (close, by) => write(by, onMove, (writes, tx) => writes.closeTask(tx, close)),
    reopenTask: (reopen, by) => write(by, onMove, (writes, tx) => writes.reopenTask(tx, reopen)),
    addComment: (comment, by) => write(by, onTask, (writes, tx) => writes.addComment(tx, comment)),
    deleteTask: (remove, by) => write(by, onGraph, (writes, tx) => writes.deleteTask(tx, remove)),
    restoreTask: (restore, by) => write(by, onGraph, (writes, tx) => writes.restoreTask(tx, restore)),
    addDependency: (edge, by) => write(by, onGraph, (writes, tx) => writes.addDependency(tx, edge)),
    removeDependency: (edge, by) => write(by, onGraph, (writes, tx) => writes.removeDependency(tx, edge)),

    mapStates: (map, by) => write(by, onMove, (writes, tx) => writes.mapStates(tx, map)),
    moveTask: (move, by) => write(by, onMove, (writes, tx) => writes.moveTask(tx, move)),
    async recordHookResults(results) {
      const { recordHookResults } = await onMove();
      db.write(() => recordHookResults(db, results));
    },
    renewLease: (renewal, by) => write(by, onLease, (writes, tx) => writes.renewLease(tx, renewal)),
    readKeptWorkflow: async () => {
      if (reader !== db) readKeptWorkflow(db);
      return readKeptWorkflow(reader);
    },
    async setWorkflow(change, by) {
      try {
        await write(
          by,
          () => import('./set-workflow.ts'),
          (rows, tx) => rows.setWorkflow(tx, change),
        );
      } catch (error) {
        // Where nothing can be written, and where a reader would have to wait, the column says what it said.
        const isPutOff =
          isForgeError(error) &&
          (error.code === 'read_only' || (options.reads === true && error.code === 'store_busy'));
        if (!isPutOff) throw error;
        if (reader !== db) useWorkflow(db, change);
        return useWorkflow(reader, change);
      }
      return readKeptWorkflow(reader);
    },
    pauseProject: (paused, by) => write(by, onClaim, (writes, tx) => writes.pauseProject(tx, paused)),
    async readPause() {
      const { readPause } = await import('./read-pause.ts');
      return readPause(reader);
    },
    isWorkedOn: async (id) => isWorkedOn(reader, id),
    forgetWatch: async (id) => forgetWatch(db, id),
    async readStanding(id) {
      const { readStanding } = await onMove();
      return reader.read(() => readStanding(reader, id));
    },
    async listTransitions(query) {
      const { listTransitions } = await onMove();
      return reader.read(() => listTransitions(reader, query));
    },

    noteEvent: ({ type, data }, by) =>
      write(by, onMove, (_writes, tx) => tx.emitProject(data as Readonly<Record<string, unknown>>, type)),

    listForeign: async () => listForeign(reader),
    listOpenWork: async () => listOpenWork(reader),
    markForeign: async (closed) => markForeign(db, closed),
    holdsTask: async (id) => holdsTask(reader, id),

    getTask: async (id) => reader.read(() => getTask(reader, id)),
    listReady: async (query) =>
      query.sort === 'impact' ? reader.read(() => listReady(reader, query)) : listReady(reader, query),
    listTasks: async (query) => listTasks(reader, query),
    pageTasks: (query) => page((pages) => pages.pageTasks(reader, query)),
    pageReady: (query) => page((pages) => pages.pageReady(reader, query)),
    listBlocked: async (query) => reader.read(() => listBlocked(reader, query)),
    explainReady: (query) => report((reports) => reports.explainReady(reader, query)),
    listHeads: (ids) => look((looks) => looks.listHeads(reader, ids)),
    readPlace: (id) => look((looks) => looks.readPlace(reader, id)),
    walkTasks: (walk) => look((looks) => looks.walkTasks(reader, walk)),
    listBriefs: (query) => look((looks) => looks.listBriefs(reader, query)),
    findMove: (query) => look((looks) => looks.findMove(reader, query)),
    findGrant: async (query) => (await onMove()).findGrant(reader, query),
    listNewestComments: (query) => look((looks) => looks.listNewestComments(reader, query)),
    hasNewsOf: (id, after) => look((looks) => looks.hasNewsOf(reader, id, after)),
    newestEntryOf: (id) => look((looks) => looks.newestEntryOf(reader, id)),
    findEntry: (query) => look((looks) => looks.findEntry(reader, query)),
    findTask: (id) => report((reports) => reports.findTask(reader, id)),
    readDeleted: (ref) => report((reports) => reports.readDeleted(reader, ref)),
    readHistory: (query) => report((reports) => reports.readHistory(reader, query)),
    readStats: (query) => report((reports) => reports.readStats(reader, query)),
    readUnreadable: async (path) => readUnreadable(reader, path),
    readMarks: async (paths) => paths.flatMap((path) => readMark(reader, path) ?? []),
    async saveMark(mark) {
      if (changes_nothing === true) return;
      try {
        db.tryWrite(() => writeMark(db, mark));
      } catch (error) {
        if (!(error instanceof ForgeError) || error.code !== 'read_only') throw error;
      }
    },
    async foldTasks(request, by) {
      const { openFoldStore } = await import('./fold-store.ts');
      const { foldTasks } = await import('../fold/fold-tasks.ts');
      const folded = db.waiting(request.lock_ms, () =>
        foldTasks(openFoldStore({ db, replica }), request, by),
      );
      if (folded.renamed.length === 0 || changes_nothing === true) return folded;
      const { writeRenamed } = await import('./attempt-record-files.ts');
      await writeRenamed(reader, folded.renamed);
      return folded;
    },
    async foldHistory(request, by) {
      const { openFoldStore } = await import('./fold-store.ts');
      const { foldHistory } = await import('../fold/fold-history.ts');
      return db.waiting(request.lock_ms, () => foldHistory(openFoldStore({ db, replica }), request, by));
    },
    async *exportTasks(path) {
      const { exportTasks } = await import('./export-lines.ts');
      yield* exportTasks(reader, path);
    },
    async readChangedTasks(path, since) {
      const { readChangedTasks } = await import('./changed-lines.ts');
      return readChangedTasks(reader, path, since);
    },
    async readChangedHistory(path, since) {
      const { readChangedHistory } = await import('./changed-lines.ts');
      return readChangedHistory(reader, path, since);
    },
    async *exportHistory(path) {
      const { exportHistory } = await import('./export-lines.ts');
      yield* exportHistory(reader, path);
    },
    async listConflicts(id) {
      const { listConflicts } = await import('./conflict-rows.ts');
      return reader.read(() => listConflicts(reader, id));
    },
    async pageConflicts(query) {
      const { pageConflicts } = await import('./conflict-rows.ts');
      return reader.read(() => pageConflicts(reader, query));
    },
    settleConflicts: (settle, by) =>
      write(
        by,
        () => import('./conflict-rows.ts'),
        (rows, tx) => rows.settleConflicts(tx, settle),
      ),
    async compactReplica(by) {
      const { compactReplica } = await import('./collect-garbage.ts');
      return compactReplica({ db, replica }, by);
    },
    async prune(until, by) {
      const { prune } = await import('./collect-garbage.ts');
      return prune({ db, replica }, until, by);
    },
    pruneEvents: async (until) => (await import('./collect-garbage.ts')).pruneEvents(db, until),
    keepBounded: async (now) => {
      if (changes_nothing === true) return { events: 0, replica: false };
      return (await import('./keep-bounded.ts')).keepBounded({ db, replica }, now);
    },
    async readKept() {
      const { readKept } = await import('./read-kept.ts');
      return reader.read(() => readKept({ db: reader, replica }));
    },
    async diagnose(now) {
      const { diagnose } = await import('./diagnose.ts');
      return reader.read(() => diagnose({ db: reader, replica, readFileSystem }, now));
    },
    async repair(by) {
      const { recount } = await import('./diagnose.ts');
      recount(db);
      const { compactReplica } = await import('./collect-garbage.ts');
      compactReplica({ db, replica }, by);
    },
    readStamp: async () => {
      const others = `${serial}.${Number(reader.get('PRAGMA data_version')?.data_version)}`;
      // To a connection that only reads, the commits of our own are those of others.
      return reader === db ? `${others}.${Number(db.get('SELECT total_changes() AS n')?.n)}` : others;
    },
    newestEvent: async () => Number(reader.get('SELECT max(seq) AS seq FROM events')?.seq ?? 0),
    waitFor: async (after, wait = {}) => (await onWaits()).waitFor(after, wait),
    async readEvents(query) {
      const { readEvents } = await onEvents();
      return reader.read(() => readEvents(reader, query));
    },
    async beginRequest(request) {
      const rows = await onRequests();
      return db.write(() => rows.beginRequest(db, request));
    },
    async finishRequest(request, answer) {
      const rows = await onRequests();
      db.write(() => rows.finishRequest(db, request, answer));
    },
    async dropRequest(request) {
      const rows = await onRequests();
      db.write(() => rows.dropRequest(db, request));
    },
    async readFeed() {
      const { readFeed } = await onEvents();
      return reader.read(() => readFeed(reader));
    },
    markExported: async (marks) =>
      db.write(() => {
        for (const mark of marks) writeExportMark(db, mark);
        const newest = Math.max(0, ...marks.map((mark) => mark.event_seq ?? 0));
        if (newest > readFact(db, 'exported_seq')) writeFact(db, 'exported_seq', newest);
      }),
    readTree: (query) => graph((graphs) => graphs.readTree(reader, query)),
    readGraph: (query) => graph((graphs) => graphs.readGraph(reader, query)),
    async [Symbol.asyncDispose]() {
      await aside?.[Symbol.asyncDispose]();
      waits?.close();
      closeParts({ db, reader, replica });
    },
  };
}

type Transaction = import('./write-transaction.ts').WriteTransaction;

import { decideSettlement, listLost, type ConflictEntry } from '#domain/decide-settlement.ts';
import { findChanged, type FilePart } from '#domain/find-changed.ts';
import { encodeTransition } from '#domain/history-line.ts';
import { isPastDeletion, pruneRecord } from '#domain/prune-record.ts';
import { encodeRecord } from '#domain/record-codec.ts';
import { compareText } from '#kernel/text.ts';
import { foldHistory } from '../fold/fold-history.ts';
import { foldTasks } from '../fold/fold-tasks.ts';
import { foldedAt, isUnsealed, missingMany } from '../fold/shown-facts.ts';
import type {
  ChangedLines,
  ConflictPage,
  ConflictQuery,
  ExportPart,
  FileMark,
  Replication,
} from '../replication.ts';
import { listEvents } from './memory-events.ts';
import { memoryFoldStore } from './memory-fold-store.ts';
import { resolveTaskId } from './memory-ids.ts';
import { readLine, writeRow } from './memory-rows.ts';
import { savePlan, toDeciding, toError, toSeen } from './memory-seen.ts';
import { memoryShown } from './memory-shown.ts';
import type { MemoryTables, TransitionRow } from './memory-tables.ts';
import { newestEvent, writeMemory, type MemoryParts, type MemoryTransaction } from './memory-transaction.ts';

export function memorySync(parts: MemoryParts): Omit<Replication, 'newestEvent'> {
  const { tables } = parts;
  const { marks, unreadable } = tables;
  const store = memoryFoldStore(parts);
  const note = async (work: () => void): Promise<void> => tables.journal.keep(work);
  return {
    readMarks: async (paths) => structuredClone(paths.flatMap((path) => marks.get(path) ?? [])),
    saveMark: (mark) => note(() => marks.set(mark.path, mark)),
    markExported: (files) => note(() => markExported(tables, files)),
    readUnreadable: async (path) => structuredClone([...(unreadable.get(path) ?? [])]),
    foldTasks: async (request, by) => structuredClone(foldTasks(store, request, by)),
    foldHistory: async (request, by) => structuredClone(foldHistory(store, request, by)),
    async *exportTasks(path) {
      yield toPart(tables, path, listTaskLines(tables));
    },
    async *exportHistory(path) {
      yield toPart(tables, path, listMoveLines(tables));
    },
    readChangedTasks: async (path, since) => readChangedTasks(tables, path, since),
    readChangedHistory: async (path, since) => readChangedHistory(tables, path, since),
    listConflicts: async (id) => structuredClone(listConflicts(tables, id)),
    pageConflicts: async (query) => structuredClone(pageConflicts(tables, query)),
    settleConflicts: async (settle, by) => writeMemory(parts, by, (tx) => settleConflicts(tx, settle)),
    prune: async (until, by) => writeMemory(parts, by, (tx) => prune(tx, until)),
  };
}

/** A file that was written has lines of Forge alone, also where it has more than the newest of each task. */
function markExported(tables: MemoryTables, files: readonly FileMark[]): void {
  const { marks, facts } = tables;
  const shown = memoryShown(tables);
  for (const mark of files) {
    const { path, event_seq } = mark;
    marks.set(path, mark);
    if (event_seq !== null) {
      if (event_seq > (facts.get('exported_seq') ?? 0)) facts.set('exported_seq', event_seq);
      continue;
    }
    for (const line of shown.listShownOf(path))
      if (isUnsealed(line.seal)) shown.forgetShown({ path, ...line });
    for (const name of [foldedAt(path), missingMany(path)]) facts.delete(name);
  }
}

function toPart(tables: MemoryTables, path: string, lines: readonly string[]): ExportPart {
  const all = [...lines, ...(tables.unreadable.get(path) ?? [])];
  return { lines: all, total: lines.length, event_seq: newestEvent(tables) };
}

/** Deleted tasks too, in the order of ids. */
function listTaskLines({ tasks, deleted }: MemoryTables): string[] {
  const living = tasks.list().map(({ record }) => ({ id: record.id, line: encodeRecord(record) }));
  const all = [...living, ...deleted.list()].sort((a, b) => compareText(a.id, b.id));
  return all.map(({ line }) => line);
}

function readChangedTasks(tables: MemoryTables, path: string, since: number): ChangedLines | undefined {
  const { tasks, deleted } = tables;
  const ids = findChangedIds(tables, path, { since, part: 'tasks' });
  if (ids === undefined) return undefined;
  const linesOf = (id: string): string[] => {
    const row = tasks.get(id);
    const line = row === undefined ? deleted.get(id)?.line : encodeRecord(row.record);
    return line === undefined ? [] : [line];
  };
  const lines = new Map([...ids].map((id) => [id, linesOf(id)]));
  return { lines, total: tasks.size + deleted.size, event_seq: newestEvent(tables) };
}

function readChangedHistory(tables: MemoryTables, path: string, since: number): ChangedLines | undefined {
  const { transitions } = tables;
  const ids = findChangedIds(tables, path, { since, part: 'history' });
  if (ids === undefined) return undefined;
  const isNew = ({ event_seq }: TransitionRow): boolean => event_seq !== null && event_seq > since;
  const rows = transitions.list().sort(compareMoves);
  const moved = [...ids].filter((id) => rows.some((row) => row.task_id === id && isNew(row)));
  const lines = new Map(moved.map((id) => [id, rows.filter(({ task_id }) => task_id === id).map(toLine)]));
  return { lines, total: transitions.size, event_seq: newestEvent(tables) };
}

function findChangedIds(
  tables: MemoryTables,
  path: string,
  { since, part }: { readonly since: number; readonly part: FilePart },
): ReadonlySet<string> | undefined {
  if ((tables.unreadable.get(path) ?? []).length > 0) return undefined;
  const events = listEvents(tables);
  const told = events
    .filter(({ seq }) => seq > since)
    .map(({ task_id, triggered_by, data }) => {
      const { changed } = JSON.parse(data) as { changed?: unknown };
      return { task_id, triggered_by, changed };
    });
  return findChanged(told, { since, oldest: events[0]?.seq ?? 1, part });
}

/** By task and time. */
function listMoveLines({ transitions }: MemoryTables): string[] {
  return transitions.list().sort(compareMoves).map(toLine);
}

function toLine({ trigger_reason, rejection, ...move }: TransitionRow): string {
  return encodeTransition({ ...move, reason: trigger_reason, rejection: rejection ? 1 : 0 });
}

function compareMoves(a: TransitionRow, b: TransitionRow): number {
  return (
    compareText(a.task_id, b.task_id) ||
    compareText(a.created_at, b.created_at) ||
    compareText(a.from_state, b.from_state) ||
    compareText(a.to_state, b.to_state) ||
    compareText(a.triggered_by, b.triggered_by)
  );
}

function listConflicts(tables: MemoryTables, ref: string | undefined): ConflictEntry[] {
  if (ref !== undefined) {
    const row = tables.tasks.get(resolveTaskId(tables, ref));
    return row === undefined ? [] : listLost(row.record);
  }
  const all = listQuarrels(tables).flatMap(({ entries }) => entries);
  return all.sort((a, b) => compareText(a.id, b.id));
}

/** One task at a time; `after` counts those that were read. */
function pageConflicts(tables: MemoryTables, { after, max_rows, max_bytes }: ConflictQuery): ConflictPage {
  const rest = listQuarrels(tables).slice(after?.row ?? 0);
  let bytes = 0;
  const over = rest.findIndex((one, at) => {
    if (at > 0 && (at >= max_rows || bytes + one.bytes > max_bytes)) return true;
    bytes += one.bytes;
    return false;
  });
  const read = over === -1 ? rest : rest.slice(0, over);
  const next = { deleted: false, row: (after?.row ?? 0) + read.length };
  const entries = read.flatMap((one) => one.entries);
  return { entries, bytes, ...(over !== -1 && { after: next }) };
}

/** Tasks with values that lost, behind them deleted ones. */
function listQuarrels({ tasks, deleted }: MemoryTables): { entries: ConflictEntry[]; bytes: number }[] {
  const records = [
    ...tasks.list().map(({ record }) => record),
    ...deleted.list().map(({ line }) => readLine(line)),
  ];
  return records.flatMap((record) => {
    const entries = listLost(record);
    return entries.length === 0 ? [] : [{ entries, bytes: encodeRecord(record).length }];
  });
}

function settleConflicts(
  tx: MemoryTransaction,
  settle: Parameters<Replication['settleConflicts']>[0],
): { id: string; settled: string[]; left: number } {
  const { tables } = tx;
  const before = tx.read(resolveTaskId(tables, settle.id));
  const plan = decideSettlement(toSeen(before), settle, toDeciding(tx));
  if (plan.outcome !== 'save') throw toError(tables, before, plan);
  savePlan(tx, before, plan);
  return { id: before.record.id, settled: [...plan.settled], left: plan.left };
}

function prune(tx: MemoryTransaction, until: number): { removals: number; deleted_tasks: number } {
  const { tables } = tx;
  let removals = 0;
  for (const { record, version, fence } of tables.tasks.list()) {
    const pruned = pruneRecord(record, until);
    if (pruned.removals === 0) continue;
    removals += pruned.removals;
    writeRow(tables, pruned.record, { version: version + 1, fence });
  }
  const gone = tables.deleted.list().filter(({ line }) => isPastDeletion(readLine(line), until));
  for (const { id } of gone) tables.deleted.delete(id);
  const pruned = { removals, deleted_tasks: gone.length };
  // Without an event the task files would count as holding all there is, and keep what was forgotten.
  if (removals + gone.length > 0)
    tx.tell({ type: 'project.changed', task_id: null, data: { changed: ['tasks'], pruned } });
  return pruned;
}

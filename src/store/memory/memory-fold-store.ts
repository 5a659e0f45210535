import { birthOf } from '#domain/identity.ts';
import { toEncoded } from '#domain/encoded-record.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { readJson } from '#kernel/read-json.ts';
import type { EventData, FoldEvent, FoldRows, FoldStore } from '../fold/fold-rows.ts';
import { applyRecord, readKnown } from './memory-apply.ts';
import { listEvents } from './memory-events.ts';
import { insertMove, renameMoves } from './memory-log.ts';
import { readLine, removeRow } from './memory-rows.ts';
import { memoryShown, renameOwnRuns } from './memory-shown.ts';
import type { MemoryTables } from './memory-tables.ts';
import { newestEvent, writeMemory, type MemoryParts, type MemoryTransaction } from './memory-transaction.ts';

const FOLDED_BY = 'system:fold';

export function memoryFoldStore(parts: MemoryParts): FoldStore {
  return { write: (by, work) => writeMemory(parts, by, (tx) => work(openRows(tx))) };
}

function openRows(tx: MemoryTransaction): FoldRows {
  const { tables } = tx;
  const { marks, unreadable, facts } = tables;
  return {
    ...memoryShown(tables),
    readMark: (path) => marks.get(path),
    writeMark: (mark) => marks.set(mark.path, mark),
    writeUnreadable: (path, lines) => unreadable.set(path, lines.map(toBytes)),
    findFact: (name) => facts.get(name),
    writeFact: (name, value) => facts.set(name, value),

    newestEvent: () => newestEvent(tables),
    oldestEvent: () => listEvents(tables)[0]?.seq ?? 1,
    newestEventOf: (id) => listTaskEvents(tables, id).at(-1)?.seq ?? 0,
    listTaskEvents: (id) => listTaskEvents(tables, id),
    listManyChanged: () => listManyChanged(tables),
    tellProject: (data) =>
      void tx.tell({ type: 'project.changed', task_id: null, triggered_by: FOLDED_BY, data }),

    countTasks: () => tables.tasks.size + tables.deleted.size,
    readDigests: () => new Map(listRecords(tables).map((record) => [record.id, toEncoded(record).digest])),
    readSharedBirths: () =>
      new Set(
        listRecords(tables).flatMap((record) => (birthOf(record) === record.id ? [] : [birthOf(record)])),
      ),
    readKnown: (id) => readKnown(tables, id),
    apply: (before, record, { silent }) =>
      applyRecord(tx, before, record, { silent, triggered_by: FOLDED_BY }),
    // Lines are made from records when they are asked for.
    renewLine: () => undefined,
    rename: (from, to) => rename(tables, from, to),
    inBulk: (work) => work(),
    settle: () => undefined,
    addMove: (move) => insertMove(tables, { task_id: move.task_id, at: move.at, event_seq: null }, move),
  };
}

function toBytes(line: string | Uint8Array): Uint8Array {
  return typeof line === 'string' ? new TextEncoder().encode(line) : line;
}

/** Of deleted tasks too. */
function listRecords({ tasks, deleted }: MemoryTables): TaskRecord[] {
  return [...tasks.list().map(({ record }) => record), ...deleted.list().map(({ line }) => readLine(line))];
}

function listTaskEvents(tables: MemoryTables, id: string): FoldEvent[] {
  return listEvents(tables)
    .filter(({ task_id }) => task_id === id)
    .map(({ seq, triggered_by, data }) => ({ seq, triggered_by, data: readJson(data) as EventData }));
}

function listManyChanged(tables: MemoryTables): number[] {
  return listEvents(tables)
    .filter(({ type, task_id }) => task_id === null && type === 'project.changed')
    .filter(({ data }) => (readJson(data) as EventData).changed?.includes('tasks'))
    .map(({ seq }) => seq);
}

/** A task that was told apart from another goes on under a new name, and what was done for it goes with it. */
function rename(tables: MemoryTables, from: string, to: string): void {
  removeRow(tables, from);
  tables.deleted.delete(from);
  renameMoves(tables, from, to);
  const { attempts, runs, reviews, merges, approvals, watches } = tables;
  for (const row of attempts.list()) if (row.task_id === from) attempts.set(row.id, { ...row, task_id: to });
  for (const row of runs.list()) if (row.task_id === from) runs.set(row.id, { ...row, task_id: to });
  for (const row of approvals.list())
    if (row.task_id === from) approvals.set(row.id, { ...row, task_id: to });
  for (const row of reviews.list())
    if (row.review.task_id === from)
      reviews.set(row.review.id, { ...row, review: { ...row.review, task_id: to } });
  for (const row of merges.list())
    if (row.merge.task_id === from)
      merges.set(row.merge.id, { ...row, merge: { ...row.merge, task_id: to } });
  const watch = watches.get(from);
  watches.delete(from);
  if (watch !== undefined) watches.set(to, { ...watch, task_id: to });
  renameOwnRuns(tables, from, to);
}

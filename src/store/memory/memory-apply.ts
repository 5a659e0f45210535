import { undoElsewhere } from '#domain/decide-delete.ts';
import { toEncoded, type EncodedRecord } from '#domain/encoded-record.ts';
import { numbersOfDeleted, planApplication } from '#domain/plan-application.ts';
import type { LocalNumbers } from '#domain/plan-write.ts';
import { isDeleted, textValue, type TaskRecord } from '#domain/task-record.ts';
import type { FoldedTask } from '../fold/fold-rows.ts';
import { adoptWaiting, readLine, removeRow, writeRow } from './memory-rows.ts';
import { toKey, type MemoryTables } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { workflowOf } from './memory-workflow.ts';

/** A task as the store holds it, deleted or not. */
export function readKnown({ tasks, deleted }: MemoryTables, id: string): FoldedTask | undefined {
  const row = tasks.get(id);
  if (row !== undefined) return { record: row.record, numbers: row, is_here: true, stored: row };
  const gone = deleted.get(id);
  if (gone === undefined) return undefined;
  const numbers = numbersOfDeleted(gone.undo);
  return { record: readLine(gone.line), numbers, is_here: false, stored: undefined };
}

/**
 * Puts a record that came from elsewhere in the place of what was known of its task; `record` is the join, so that nothing
 * of it is lost.
 */
export function applyRecord(
  tx: MemoryTransaction,
  before: FoldedTask | undefined,
  record: TaskRecord,
  how: { readonly silent: boolean; readonly triggered_by?: string },
): EncodedRecord {
  const { tables } = tx;
  const { id } = record;
  const encoded = toEncoded(record);
  const { numbers, toEvents } = planApplication(before, record, { workflow: workflowOf(tables) });
  if (isDeleted(record)) writeDeleted(tables, encoded, { numbers, content: before });
  else {
    tables.deleted.delete(id);
    writeRow(tables, record, numbers);
    adoptWaiting(tables, id);
  }
  if (!how.silent)
    for (const event of toEvents()) tx.tell({ ...event, task_id: id, triggered_by: how.triggered_by });
  return encoded;
}

function writeDeleted(
  tables: MemoryTables,
  { record, line }: EncodedRecord,
  { numbers, content }: { readonly numbers: LocalNumbers; readonly content: FoldedTask | undefined },
): void {
  const { id } = record;
  removeRow(tables, id);
  // What an older deletion kept for its undo is not what this one deleted.
  const undo =
    content?.is_here === true ? undoElsewhere(content.record, numbers) : tables.deleted.get(id)?.undo;
  tables.deleted.set(id, { id, deleted_at: textValue(record, 'deleted_at'), line, undo });
  for (const edge of tables.waiting.list())
    if (edge.to === id) tables.waiting.set(toKey(edge.from, id, edge.type), { ...edge, closed: true });
}

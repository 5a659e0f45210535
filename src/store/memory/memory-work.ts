import { ENOUGH_FOUND, pickMeant, type WorkKind } from '#domain/pick-meant.ts';
import type { HeldTask } from '#domain/run-hold.ts';
import type { WorkEvent } from '#domain/work-event.ts';
import { isArchived } from '#domain/workflow-fields.ts';
import { compareText } from '#kernel/text.ts';
import type { MemoryTables } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';

/** What the tables of attempts and of what belongs to them have in common. */

/** The whole id that a reference means, as `pickMeant` says. */
export function resolveWorkId(tables: MemoryTables, kind: WorkKind, ref: string): string {
  const wanted = ref.toLowerCase();
  const ids = tables[kind]
    .keys()
    .filter((id) => id.startsWith(wanted))
    .sort(compareText);
  const found = ids.slice(0, ENOUGH_FOUND).map((id) => ({ id }));
  return pickMeant(kind, ref, found).id;
}

export function tellAll(tx: MemoryTransaction, events: readonly WorkEvent[]): void {
  for (const event of events) tx.tell(event);
}

/** By a whole id; undefined for a task that is not there any more. */
export function readHeld({ tasks }: MemoryTables, id: string): HeldTask | undefined {
  const row = tasks.get(id);
  if (row === undefined) return undefined;
  const { record, fence } = row;
  const { state, assignee } = record.life;
  return { id, state, assignee, fence, archived: isArchived(record) };
}

/** Rows of the same moment stay in the order in which they came. */
export function sortByTime<Row>(rows: readonly Row[], read: (row: Row) => string): Row[] {
  return rows.toSorted((a, b) => compareText(read(a), read(b)));
}

import { decideSettlement, listLost, type ConflictEntry } from '#domain/decide-settlement.ts';
import { compareText } from '#kernel/text.ts';
import type { ConflictPage, ConflictPlace, ConflictQuery, ConflictSettlement } from '../replication.ts';
import type { Database } from './database.ts';
import { readLine, readRecord, rowToRecord, toUnreadable } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import { savePlan, toDeciding, toError, toSeen } from './save-plan.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** Of one task by its primary key; of all by a walk over all tasks. */
export function listConflicts(db: Database, ref: string | undefined): ConflictEntry[] {
  if (ref !== undefined) {
    const stored = readRecord(db, resolveTaskId(db, ref));
    return stored === undefined ? [] : listLost(stored.record);
  }
  const all: ConflictEntry[] = [];
  for (let after: ConflictPlace | undefined; ;) {
    const page = pageConflicts(db, { after, max_rows: Infinity, max_bytes: Infinity });
    all.push(...page.entries);
    after = page.after;
    if (after === undefined) return all.sort((a, b) => compareText(a.id, b.id));
  }
}

/**
 * Nothing points to tasks that have any. Whether a row has some stands in its header; of a deleted task all fields have
 * the stamp of the deletion unless its line tells of others.
 */
const WALK = `SELECT t.rowid AS place, t.id,
    octet_length(t.description) + octet_length(t.metadata) + coalesce(octet_length(t.extra), 0)
    + coalesce(octet_length(t.stamps), 0) + coalesce(octet_length(t.conflicts), 0) AS size
  FROM tasks t WHERE t.rowid >= ? AND t.rowid < ? AND t.conflicts IS NOT NULL ORDER BY t.rowid`;
const WALK_DELETED = `SELECT rowid AS place, id, octet_length(line) AS size FROM deleted_tasks
  WHERE rowid >= ? AND rowid < ? AND instr(line, '"_v"') > 0 ORDER BY rowid`;
const FIRST = 'SELECT min(rowid) AS first FROM tasks WHERE rowid > ?';
const FIRST_DELETED = 'SELECT min(rowid) AS first FROM deleted_tasks WHERE rowid > ?';

/** Tasks that have none are passed over in SQL. Row numbers are nearly without gaps: they stand for the number of rows. */
export function pageConflicts(db: Database, query: ConflictQuery): ConflictPage {
  const { after = { deleted: false, row: 0 }, max_rows, max_bytes } = query;
  const { deleted } = after;
  const [walk, read] = deleted ? [WALK_DELETED, readDeleted] : [WALK, readLiving];
  const first = db.get(deleted ? FIRST_DELETED : FIRST, after.row)?.first;
  if (typeof first !== 'number')
    return { entries: [], bytes: 0, ...(!deleted && { after: { deleted: true, row: 0 } }) };
  const entries: ConflictEntry[] = [];
  const end = first + max_rows;
  let [row, bytes] = [first - 1, 0];
  for (const { place, id, size } of db.each(walk, first, end)) {
    if (bytes > 0 && bytes + (size as number) > max_bytes) return { entries, bytes, after: { deleted, row } };
    bytes += size as number;
    row = place as number;
    entries.push(...read(db, id as string));
  }
  return { entries, bytes, after: { deleted, row: end - 1 } };
}

const LIVING = `SELECT t.*, u.parent_id AS unresolved_parent
  FROM tasks t LEFT JOIN unresolved_parents u ON u.task_id = t.id WHERE t.id = ?`;

/** Neither its comments nor its edges can have lost. */
function readLiving(db: Database, id: string): ConflictEntry[] {
  const row = db.get(LIVING, id); // by the primary keys
  if (row === undefined) return [];
  try {
    return listLost(rowToRecord(row, [], []));
  } catch (error) {
    throw toUnreadable(db, id, error);
  }
}

export function settleConflicts(
  tx: WriteTransaction,
  settle: ConflictSettlement,
): { id: string; settled: string[]; left: number } {
  const before = tx.find(settle.id);
  const plan = decideSettlement(toSeen(before), settle, toDeciding(tx));
  if (plan.outcome !== 'save') throw toError(tx, before, plan);
  savePlan(tx, before, plan);
  return { id: before.record.id, settled: [...plan.settled], left: plan.left };
}

function readDeleted(db: Database, id: string): ConflictEntry[] {
  const line = db.get('SELECT line FROM deleted_tasks WHERE id = ?', id)?.line;
  return listLost(readLine(line as string));
}

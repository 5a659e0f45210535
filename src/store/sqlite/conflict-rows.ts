import { splitConflictKey } from '#domain/lost-values.ts';
import {
  claimRecord,
  closeRecord,
  editRecord,
  moveRecord,
  reopenRecord,
  type ElementEdit,
} from '#domain/task-changes.ts';
import { fieldValue, isDeleted, textValue, type Life, type TaskRecord } from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { compareText } from '#kernel/text.ts';
import type { Json } from '#kernel/json.ts';
import type {
  ConflictEntry,
  ConflictPage,
  ConflictPlace,
  ConflictQuery,
  ConflictSettlement,
} from '../sync-store.ts';
import { checkSeen } from './save-plan.ts';
import type { Database } from './database.ts';
import { readLine, readRecord, rowToRecord, toUnreadable } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** Of one task by its primary key; of all by a walk over all tasks. */
export function listConflicts(db: Database, ref: string | undefined): ConflictEntry[] {
  if (ref !== undefined) {
    const stored = readRecord(db, resolveTaskId(db, ref));
    return stored === undefined ? [] : toEntries(stored.record);
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

/** Neither its comments nor its edges can have lost. */
function readLiving(db: Database, id: string): ConflictEntry[] {
  const row = db.get('SELECT t.*, NULL AS unresolved_parent FROM tasks t WHERE t.id = ?', id);
  if (row === undefined) return [];
  try {
    return toEntries(rowToRecord(row, [], []));
  } catch (error) {
    throw toUnreadable(db, id, error);
  }
}

export function settleConflicts(
  tx: WriteTransaction,
  settle: ConflictSettlement,
): { id: string; settled: string[]; left: number } {
  const before = tx.read(resolveTaskId(tx.db, settle.id));
  checkSeen(tx, before, { fence: settle.fence });
  const { record } = before;
  const entries = toEntries(record);
  const meant = entries.filter(({ name }) => settle.field === undefined || name === settle.field);
  if (meant.length === 0) {
    const what = settle.field === undefined ? '' : ` of ${settle.field}`;
    throw new ForgeError('not_found', `${record.id} has no value${what} that lost a merge`, {
      hint: 'forge conflicts',
      details: { id: record.id, names: entries.map(({ name }) => name) },
    });
  }
  const removed = new Map<string, ElementEdit>(meant.map(({ key }) => [key, { value: undefined }]));
  let after = editRecord(record, { conflicts: removed }, tx.by.now);
  if (settle.take_lost)
    for (const { name, lost } of meant) after = takeLost(after, name, lost as Json, tx.by.now);
  tx.save(before, after, { type: 'task.updated', changed: meant.map(({ name }) => name) });
  return { id: record.id, settled: meant.map(({ name }) => name), left: entries.length - meant.length };
}

function toEntries(record: TaskRecord): ConflictEntry[] {
  const entries: ConflictEntry[] = [];
  for (const [key, { value }] of record.conflicts.elements) {
    if (value === undefined) continue;
    const { name, stamp } = splitConflictKey(key);
    entries.push({
      id: record.id,
      title: textValue(record, 'title'),
      name,
      key,
      lost: value,
      stands: valueThatStands(record, name),
      at: toIso(stamp),
    });
  }
  return entries.sort((a, b) => compareText(a.key, b.key));
}

function valueThatStands(record: TaskRecord, name: string): Json {
  if (name === 'life') {
    const { status, state, assignee, close_reason, closed_at } = record.life;
    return { status, state, assignee, close_reason, closed_at };
  }
  if (!name.startsWith('metadata.')) return fieldValue(record, name);
  return record.metadata.elements.get(name.slice('metadata.'.length))?.value ?? null;
}

function takeLost(record: TaskRecord, name: string, lost: Json, now: number): TaskRecord {
  if (name.startsWith('metadata.')) {
    const key = name.slice('metadata.'.length);
    return editRecord(record, { metadata: new Map([[key, { value: lost ?? undefined }]]) }, now);
  }
  if (name !== 'life') return editRecord(record, { fields: new Map([[name, lost]]) }, now);
  const { status, state, assignee, close_reason } = lost as unknown as Life;
  if (status === 'closed') return closeRecord(record, close_reason ?? 'done', now);
  if (status === 'in_progress' && assignee !== null) return claimRecord(record, assignee, now);
  return record.life.status === 'closed'
    ? reopenRecord(record, assignee, now)
    : moveRecord(record, { status: 'open', state, assignee }, now);
}

/** Deleted in one place, edited later in another: the edit survives beneath the deletion. */
function readDeleted(db: Database, id: string): ConflictEntry[] {
  const line = db.get('SELECT line FROM deleted_tasks WHERE id = ?', id)?.line;
  const record = readLine(line as string);
  const deleted = record.fields.get('deleted_at');
  if (deleted === undefined || !isDeleted(record)) return [];
  const edited = [...record.fields].filter(([, field]) => field.stamp > deleted.stamp).map(([name]) => name);
  if (edited.length === 0) return [];
  return [
    {
      id: record.id,
      title: textValue(record, 'title'),
      name: 'deleted',
      key: 'deleted',
      lost: Object.fromEntries(edited.map((name) => [name, fieldValue(record, name)])),
      stands: null,
      at: toIso(deleted.stamp),
    },
  ];
}

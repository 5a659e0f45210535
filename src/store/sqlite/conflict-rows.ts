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
import type { ConflictEntry, ConflictSettlement } from '../sync-store.ts';
import { checkSeen } from './save-plan.ts';
import type { Database } from './database.ts';
import { readLine, readRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** Few tasks have any, and nothing points to them: a scan. */
export function listConflicts(db: Database, ref: string | undefined): ConflictEntry[] {
  const only = ref === undefined ? undefined : resolveTaskId(db, ref);
  const ids = db
    .all('SELECT id FROM tasks WHERE conflicts IS NOT NULL ORDER BY id')
    .map((row) => row.id as string);
  const living = ids
    .filter((id) => only === undefined || id === only)
    .flatMap((id) => {
      const stored = readRecord(db, id);
      return stored === undefined ? [] : toEntries(stored.record);
    });
  return only === undefined ? [...living, ...listEditedDeleted(db)] : living;
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
function listEditedDeleted(db: Database): ConflictEntry[] {
  return db.all('SELECT line FROM deleted_tasks ORDER BY id').flatMap((row) => {
    const record = readLine(row.line as string);
    const deleted = record.fields.get('deleted_at');
    if (deleted === undefined || !isDeleted(record)) return [];
    const edited = [...record.fields]
      .filter(([, field]) => field.stamp > deleted.stamp)
      .map(([name]) => name);
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
  });
}

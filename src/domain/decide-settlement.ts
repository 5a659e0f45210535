import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { compareText } from '#kernel/text.ts';
import { decideSeen, type Seen } from './decide-seen.ts';
import { splitConflictKey } from './lost-values.ts';
import {
  claimRecord,
  closeRecord,
  editRecord,
  moveRecord,
  reopenRecord,
  type ElementEdit,
} from './task-changes.ts';
import type { Deciding, SeenTask, TaskPlan } from './task-plan.ts';
import { fieldValue, isDeleted, textValue, type Life, type TaskRecord } from './task-record.ts';
import type { TaskRefusal } from './task-refusal.ts';

/** A value that lost a merge and is not settled. */
export interface ConflictEntry {
  readonly id: string;
  readonly title: string;
  /** A field's name, `metadata.<key>`, `life`, or `deleted`. */
  readonly name: string;
  readonly key: string;
  readonly lost: unknown;
  readonly stands: unknown;
  /** When the lost value was written. */
  readonly at: string;
}

/** What a task has lost, in the order of keys. */
export function listLost(record: TaskRecord): ConflictEntry[] {
  if (isDeleted(record)) return listLostToDeletion(record);
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

/** Deleted in one place, edited later in another: the edit survives beneath the deletion. */
function listLostToDeletion(record: TaskRecord): ConflictEntry[] {
  const deleted = record.fields.get('deleted_at')?.stamp ?? 0;
  const edited = [...record.fields].filter(([, field]) => field.stamp > deleted).map(([name]) => name);
  if (edited.length === 0) return [];
  const lost = Object.fromEntries(edited.map((name) => [name, fieldValue(record, name)]));
  const title = textValue(record, 'title');
  const [name, key] = ['deleted', 'deleted'];
  return [{ id: record.id, title, name, key, lost, stands: null, at: toIso(deleted) }];
}

export interface Settlement extends Pick<Seen, 'fence'> {
  /** Of one name; of all where it is left out. */
  readonly field?: string | undefined;
  /** The lost value is to stand again; else the one that stands. */
  readonly take_lost: boolean;
}

export interface SettlementPlan extends TaskPlan {
  readonly settled: readonly string[];
  /** How many are left. */
  readonly left: number;
}

export function decideSettlement(
  task: SeenTask,
  { fence, field, take_lost }: Settlement,
  { now }: Deciding,
): SettlementPlan | TaskRefusal {
  const other = decideSeen(task, { fence });
  if (other !== undefined) return other;
  const { record } = task;
  const entries = listLost(record);
  const meant = entries.filter(({ name }) => field === undefined || name === field);
  const settled = meant.map(({ name }) => name);
  if (meant.length === 0) return { outcome: 'nothing_lost', field, names: entries.map(({ name }) => name) };
  const removed = new Map<string, ElementEdit>(meant.map(({ key }) => [key, { value: undefined }]));
  let after = editRecord(record, { conflicts: removed }, now);
  if (take_lost)
    for (const { name, lost } of meant) after = takeLost(after, { name, lost: lost as Json }, now);
  return {
    outcome: 'save',
    after,
    happening: { type: 'task.updated', changed: settled },
    settled,
    left: entries.length - meant.length,
  };
}

function valueThatStands(record: TaskRecord, name: string): Json {
  if (name === 'life') {
    const { status, state, assignee, close_reason, closed_at } = record.life;
    return { status, state, assignee, close_reason, closed_at };
  }
  const key = metadataKey(name);
  return key === undefined ? fieldValue(record, name) : (record.metadata.elements.get(key)?.value ?? null);
}

function takeLost(
  record: TaskRecord,
  { name, lost }: { readonly name: string; readonly lost: Json },
  now: number,
): TaskRecord {
  const key = metadataKey(name);
  if (key !== undefined)
    return editRecord(record, { metadata: new Map([[key, { value: lost ?? undefined }]]) }, now);
  if (name !== 'life') return editRecord(record, { fields: new Map([[name, lost]]) }, now);
  const { status, state, assignee, close_reason } = lost as unknown as Life; // kept by `findLifeLoss`
  if (status === 'closed') return closeRecord(record, close_reason ?? 'done', now);
  if (status === 'in_progress' && assignee !== null) return claimRecord(record, assignee, now);
  return record.life.status === 'closed'
    ? reopenRecord(record, assignee, now)
    : moveRecord(record, { status: 'open', state, assignee }, now);
}

const METADATA = 'metadata.';

function metadataKey(name: string): string | undefined {
  return name.startsWith(METADATA) ? name.slice(METADATA.length) : undefined;
}

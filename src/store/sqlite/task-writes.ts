import type { Comment, Task } from '#contract/task.ts';
import { checkElements } from '#domain/bound-elements.ts';
import { decideComment } from '#domain/decide-comment.ts';
import {
  decideUpdate,
  listUpdateNeeds,
  planUpdate,
  type UpdateFacts,
  type UpdateNeeds,
} from '#domain/decide-update.ts';
import { checkMetadataSize } from '#domain/metadata.ts';
import { encodeMetadata } from '#domain/record-codec.ts';
import { editRecord, newRecord, type Edit, type ElementEdit } from '#domain/task-changes.ts';
import { dependencyKey, type TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { findUnfinished } from '#domain/worked-attempts.ts';
import { assert } from '#kernel/assert.ts';
import { generateTaskId, idLength, randomBase36 } from '#kernel/ids.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { randomBytes } from '../random-bytes.ts';
import type { NewTaskInput, TaskStore, TaskUpdate, UpdateResult } from '../store.ts';
import { listWorked } from './attempt-facts.ts';
import { readClaimFacts } from './claim-facts.ts';
import { refuseParentCycle } from './cycle-checks.ts';
import type { Database } from './database.ts';
import { readClosedFrom } from './log-rows.ts';
import type { StoredRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import { savePlan, toDeciding, toError, toSeen } from './save-plan.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The port's writes on single tasks; each runs inside one WriteTransaction. */

export function createTask(tx: WriteTransaction, input: NewTaskInput): Task {
  const { db, by } = tx;
  const parent_id = input.parent_id === null ? null : resolveTaskId(db, input.parent_id);
  const blockers = [
    ...input.depends_on.map((ref) => resolveTaskId(db, ref)),
    ...(input.foreign_depends_on ?? []),
  ];
  const record = newRecord(
    {
      id: freeId(db, input.id_prefix),
      created_by: by.actor.name,
      fields: {
        title: input.title,
        description: input.description,
        priority: input.priority,
        type: input.type,
        parent_id,
        github_issue: input.github_issue,
      },
      assignee: input.assignee,
      state: input.state,
      labels: [...new Set(input.labels)],
      dependencies: [...new Set(blockers.map((id) => dependencyKey(id, 'blocks')))],
      metadata: input.metadata,
    },
    by.now,
  );
  checkMetadataSize(encodeMetadata(record));
  checkElements(undefined, record);
  const complete = editRecord(record, { fields: input.workflow_fields ?? new Map() }, by.now);
  return tx.save(undefined, complete, { type: 'task.created', changed: [] }).task;
}

export function updateTask(tx: WriteTransaction, update: TaskUpdate): UpdateResult {
  const { db } = tx;
  const before = tx.read(resolveTaskId(db, update.id));
  const [seen, deciding] = [toSeen(tx, before), toDeciding(tx)];
  const facts = readUpdateFacts(tx, before, { update, needs: listUpdateNeeds(seen, update, deciding) });
  const decision = decideUpdate(seen, update, { facts, deciding });
  if (decision.outcome === 'lost')
    return { ...toTask(before.record, before.version, db.workflow), claimed: false };
  if (decision.outcome !== 'change') throw toError(tx, before, decision);
  const edit = toEdit(tx, before.record, update);
  const { task, fence } = savePlan(tx, before, planUpdate(seen, { life: decision.life, edit }, deciding));
  return decision.claimed ? { ...task, claimed: true, fence } : task;
}

function readUpdateFacts(
  tx: WriteTransaction,
  before: StoredRecord,
  { update, needs }: { readonly update: TaskUpdate; readonly needs: UpdateNeeds },
): UpdateFacts {
  const { id } = before.record;
  const { agents } = update;
  assert(needs.claim === undefined || agents !== undefined, 'a change of owner says which agents there are');
  return {
    claim:
      needs.claim === undefined || agents === undefined
        ? undefined
        : readClaimFacts(tx, before, { way: needs.claim.way, assignee: needs.claim.assignee, agents }),
    unfinished: needs.unfinished ? findUnfinished(listWorked(tx.db, id)) : undefined,
    closed_from: needs.closed_from ? readClosedFrom(tx.db, id) : undefined,
  };
}

export function addComment(
  tx: WriteTransaction,
  comment: Parameters<TaskStore['addComment']>[0],
): Comment & { task_id: string } {
  const before = tx.read(resolveTaskId(tx.db, comment.id));
  const new_id = `c-${randomBase36(10, randomBytes)}`;
  const decision = decideComment(toSeen(tx, before), { ...comment, new_id }, toDeciding(tx));
  if (decision.outcome !== 'save') throw toError(tx, before, decision);
  savePlan(tx, before, decision);
  return { ...decision.comment, task_id: before.record.id };
}

/** Random, and not taken by any task that is or was. The table's highest row number stands for its size: exact without deletions, and instant. */
function freeId(db: Database, prefix: string): string {
  const rows = Number(db.get('SELECT max(rowid) AS n FROM tasks')?.n ?? 0);
  const taken =
    'SELECT 1 AS taken FROM tasks WHERE id = ?1 UNION ALL SELECT 1 FROM deleted_tasks WHERE id = ?1';
  for (let length = idLength(rows); ; length += 1) {
    for (let tries = 0; tries < LIMITS.id_tries; tries += 1) {
      const id = generateTaskId(prefix, length, randomBytes);
      if (db.get(taken, id) === undefined) return id;
    }
  }
}

function toEdit(tx: WriteTransaction, record: TaskRecord, update: TaskUpdate): Edit {
  const fields = new Map<string, Json>();
  for (const name of ['title', 'description', 'priority', 'type', 'github_issue'] as const) {
    const value = update[name];
    if (value !== undefined) fields.set(name, value);
  }
  if (update.parent_id !== undefined) {
    const parent_id = update.parent_id === null ? null : resolveTaskId(tx.db, update.parent_id);
    if (parent_id !== null) refuseParentCycle(tx, record.id, parent_id);
    fields.set('parent_id', parent_id);
  }
  for (const [name, value] of update.workflow_fields ?? []) fields.set(name, value);
  const labels = new Map<string, ElementEdit>();
  for (const label of update.labels_remove ?? []) labels.set(label, { value: undefined });
  for (const label of update.labels_add ?? []) labels.set(label, { value: true });
  const metadata = new Map<string, ElementEdit>();
  for (const key of update.metadata_unset ?? []) metadata.set(key, { value: undefined });
  for (const [key, value] of update.metadata_set ?? []) metadata.set(key, { value });
  return { fields, labels, metadata };
}

import type { Comment, Task } from '#contract/task.ts';
import { applyLife, type DecidedLife } from '#domain/apply-life.ts';
import { checkComments, checkElements } from '#domain/bound-elements.ts';
import { decideClaim } from '#domain/decide-claim.ts';
import { changedNames, eventOf } from '#domain/describe-change.ts';
import { decideLife, type LifeDecision } from '#domain/decide-life.ts';
import { explainRefusal, keptParked } from '#domain/explain-refusal.ts';
import { checkMetadataSize } from '#domain/metadata.ts';
import { encodeMetadata } from '#domain/record-codec.ts';
import { commentRecord, editRecord, newRecord, type Edit, type ElementEdit } from '#domain/task-changes.ts';
import { dependencyKey, lastStamp, type TaskRecord } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { assert } from '#kernel/assert.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { generateTaskId, idLength, randomBase36 } from '#kernel/ids.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { randomBytes } from '../random-bytes.ts';
import type { NewTaskInput, TaskStore, TaskUpdate, UpdateResult } from '../store.ts';
import { checkUnfinished } from './check-attempts.ts';
import { checkReopening } from './check-parking.ts';
import { checkSeenState, checkVersion } from './check-version.ts';
import { readClaimFacts, toRefusal, workflowOf } from './claim-facts.ts';
import { refuseParentCycle } from './cycle-checks.ts';
import type { Database } from './database.ts';
import type { StoredRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
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
  const { db, by } = tx;
  const before = tx.read(resolveTaskId(db, update.id));
  checkVersion(before, update);
  const wish = decideLife(before.record.life, { ...update, actor: by.actor }, by.workflow);
  if (wish.outcome === 'refused') throw refusal(before.record, wish);
  if (wish.outcome === 'kept_parked')
    throw keptParked({ id: before.record.id, state: before.record.life.state });
  const decision = wish.outcome === 'claim' ? decideUpdateClaim(tx, before, { update, wish }) : wish;
  if (decision === 'lost')
    return { ...toTask(before.record, before.version, tx.db.workflow), claimed: false };
  checkSeenState(before, update, tx.db);
  if (decision.outcome === 'close') checkUnfinished(db, before.record, false);
  if (decision.outcome === 'reopen') checkReopening(tx, before.record);
  const edited = editRecord(before.record, toEdit(db, before.record, update), by.now);
  checkMetadataSize(encodeMetadata(edited));
  checkElements(before.record, edited);
  const after = applyLife(edited, decision, by.now, by.workflow);
  const saved = tx.save(before, after, {
    type: eventOf(before.record, after),
    changed: changedNames(before.record, after),
    reason: decision.outcome === 'close' ? decision.reason : null,
  });
  const claimed = wish.outcome === 'claim' && wish.way === 'claim' && wish.named;
  return claimed ? { ...saved.task, claimed: true, fence: saved.fence } : saved.task;
}

/** `lost`: somebody has it, which ends the agent loop's claim without an error. Throws every other refusal. */
function decideUpdateClaim(
  tx: WriteTransaction,
  before: StoredRecord,
  { update, wish }: { readonly update: TaskUpdate; readonly wish: LifeDecision & { outcome: 'claim' } },
): DecidedLife | 'lost' {
  const { assignee, way } = wish;
  assert(update.agents !== undefined, 'a change of owner says which agents there are');
  const asked = { way, assignee, agents: update.agents };
  const decision = decideClaim(readClaimFacts(tx, before, asked), workflowOf(tx));
  if (decision.outcome === 'mine') return { outcome: 'keep' };
  if (decision.outcome === 'claim') return { ...decision, assignee };
  if (decision.outcome === 'taken' && way === 'claim') return 'lost';
  throw explainRefusal(toRefusal(tx, before, decision));
}

export function addComment(
  tx: WriteTransaction,
  comment: Parameters<TaskStore['addComment']>[0],
): Comment & { task_id: string } {
  const before = tx.read(resolveTaskId(tx.db, comment.id));
  checkVersion(before, { fence: comment.fence });
  const { record } = before;
  if (comment.reply_to !== null && !record.comments.has(comment.reply_to)) {
    throw new ForgeError('not_found', `No comment ${comment.reply_to} on ${record.id}`, {
      hint: `forge task show ${record.id}`,
      details: { id: record.id, comment: comment.reply_to },
    });
  }
  checkComments(record, comment.body);
  // The line's largest stamp is its updated_at, so a comment comes after what is there like any other write.
  const at = Math.max(tx.by.now, lastStamp(record) + 1);
  const added: Comment = {
    id: `c-${randomBase36(10, randomBytes)}`,
    author: tx.by.actor.name,
    body: comment.body,
    reply_to: comment.reply_to,
    created_at: toIso(at),
  };
  tx.save(before, commentRecord(record, added), {
    type: 'task.commented',
    changed: ['comments'],
    more: { comment: added },
  });
  return { ...added, task_id: record.id };
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

function toEdit(db: Database, record: TaskRecord, update: TaskUpdate): Edit {
  const fields = new Map<string, Json>();
  for (const name of ['title', 'description', 'priority', 'type', 'github_issue'] as const) {
    const value = update[name];
    if (value !== undefined) fields.set(name, value);
  }
  if (update.parent_id !== undefined) {
    const parent_id = update.parent_id === null ? null : resolveTaskId(db, update.parent_id);
    if (parent_id !== null) refuseParentCycle(db, record.id, parent_id);
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

function refusal(record: TaskRecord, decision: LifeDecision & { outcome: 'refused' }): ForgeError {
  const { id } = record;
  const hints = {
    reopen: `forge task reopen ${id}`,
    release: `forge release ${id}`,
    owner: `forge task update ${id} --status in_progress --assignee <identity>`,
    state: `forge task update ${id} --status open --state backlog`,
    transition: `forge task transition ${id} <state>`,
  };
  return new ForgeError('state_invalid', `${id} cannot be changed that way: ${decision.why}`, {
    hint: hints[decision.next],
    details: { id, status: record.life.status, state: record.life.state },
  });
}

import type { Comment, Task } from '#contract/task.ts';
import { decideComment } from '#domain/decide-comment.ts';
import { decideParent } from '#domain/decide-dependency.ts';
import {
  decideUpdate,
  listUpdateNeeds,
  planUpdate,
  type UpdateFacts,
  type UpdateNeeds,
} from '#domain/decide-update.ts';
import { toFieldEdit } from '#domain/field-edit.ts';
import { chooseId, planCreate } from '#domain/plan-create.ts';
import { toTask } from '#domain/to-task.ts';
import { findUnfinished } from '#domain/worked-attempts.ts';
import { assert } from '#kernel/assert.ts';
import { randomBase36 } from '#kernel/ids.ts';
import { randomBytes } from '../random-bytes.ts';
import type { NewTaskInput, TaskStore, TaskUpdate, UpdateResult } from '../store.ts';
import { listWorked } from './attempt-facts.ts';
import { readClaimFacts } from './claim-facts.ts';
import type { Database } from './database.ts';
import { findWayUp } from './graph-walks.ts';
import { readClosedFrom } from './log-rows.ts';
import type { StoredRecord } from './record-rows.ts';
import { resolveTaskId } from './resolve-id.ts';
import { savePlan, toDeciding, toError, toSeen } from './save-plan.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The port's writes on single tasks; each runs inside one WriteTransaction. */

export function createTask(tx: WriteTransaction, input: NewTaskInput): Task {
  const { db } = tx;
  const parent_id = input.parent_id === null ? null : resolveTaskId(db, input.parent_id);
  const blockers = [
    ...input.depends_on.map((ref) => resolveTaskId(db, ref)),
    ...(input.foreign_depends_on ?? []),
  ];
  const id = freeId(db, input.id_prefix);
  const { after, happening } = planCreate(id, { ...input, parent_id, blockers }, toDeciding(tx));
  return tx.save(undefined, after, happening).task;
}

export function updateTask(tx: WriteTransaction, update: TaskUpdate): UpdateResult {
  const { db } = tx;
  const before = tx.find(update.id);
  const [seen, deciding] = [toSeen(before), toDeciding(tx)];
  const facts = readUpdateFacts(tx, before, { update, needs: listUpdateNeeds(seen, update, deciding) });
  const decision = decideUpdate(seen, update, { facts, deciding });
  if (decision.outcome === 'lost')
    return { ...toTask(before.record, before.version, db.workflow), claimed: false };
  if (decision.outcome !== 'change') throw toError(tx, before, decision);
  const edit = toFieldEdit({ ...update, parent_id: findParent(tx, before, update.parent_id) });
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
  const before = tx.find(comment.id);
  const new_id = `c-${randomBase36(10, randomBytes)}`;
  const decision = decideComment(toSeen(before), { ...comment, new_id }, toDeciding(tx));
  if (decision.outcome !== 'save') throw toError(tx, before, decision);
  savePlan(tx, before, decision);
  return { ...decision.comment, task_id: before.record.id };
}

/** Not taken by any task that is or was. The table's highest row number stands for its size: exact without deletions, and instant. */
function freeId(db: Database, prefix: string): string {
  const tasks = Number(db.get('SELECT max(rowid) AS n FROM tasks')?.n ?? 0);
  const taken =
    'SELECT 1 AS taken FROM tasks WHERE id = ?1 UNION ALL SELECT 1 FROM deleted_tasks WHERE id = ?1';
  const is_taken = (id: string): boolean => db.get(taken, id) !== undefined;
  return chooseId({ prefix, tasks, random: randomBytes, is_taken });
}

function findParent(
  tx: WriteTransaction,
  before: StoredRecord,
  ref: string | null | undefined,
): string | null | undefined {
  if (typeof ref !== 'string') return ref;
  const { id } = before.record;
  const parent = resolveTaskId(tx.db, ref);
  const refusal = decideParent(id, parent, findWayUp(tx, id, parent));
  if (refusal !== undefined) throw toError(tx, before, refusal);
  return parent;
}

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
import { randomBase36 } from '#kernel/ids.ts';
import { randomBytes } from '../random-bytes.ts';
import type { NewTaskInput, TaskStore, TaskUpdate, UpdateResult } from '../store.ts';
import { readClaimFacts } from './memory-claims.ts';
import { resolveTaskId } from './memory-ids.ts';
import { findWayUp } from './memory-edges.ts';
import { readClosedFrom } from './memory-moves.ts';
import { savePlan, toDeciding, toError, toSeen } from './memory-seen.ts';
import type { TaskRow } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';
import { listWorked } from './memory-worked.ts';
import { workflowOf } from './memory-workflow.ts';

/** The port's writes on single tasks. */

export function createTask(tx: MemoryTransaction, input: NewTaskInput): Task {
  const { tables } = tx;
  const parent_id = input.parent_id === null ? null : resolveTaskId(tables, input.parent_id);
  const blockers = [
    ...input.depends_on.map((ref) => resolveTaskId(tables, ref)),
    ...(input.foreign_depends_on ?? []),
  ];
  const is_taken = (id: string): boolean => tables.tasks.has(id) || tables.deleted.has(id);
  const wish = { prefix: input.id_prefix, tasks: tables.tasks.size, random: randomBytes, is_taken };
  const plan = planCreate(chooseId(wish), { ...input, parent_id, blockers }, toDeciding(tx));
  return tx.save(undefined, plan.after, plan.happening).task;
}

export function updateTask(tx: MemoryTransaction, update: TaskUpdate): UpdateResult {
  const { tables } = tx;
  const before = tx.read(resolveTaskId(tables, update.id));
  const [seen, deciding] = [toSeen(before), toDeciding(tx)];
  const facts = readUpdateFacts(tx, before, { update, needs: listUpdateNeeds(seen, update, deciding) });
  const decision = decideUpdate(seen, update, { facts, deciding });
  if (decision.outcome === 'lost')
    return { ...toTask(before.record, before.version, workflowOf(tables)), claimed: false };
  if (decision.outcome !== 'change') throw toError(tables, before, decision);
  const edit = toFieldEdit({ ...update, parent_id: findParent(tx, before, update.parent_id) });
  const { task, fence } = savePlan(tx, before, planUpdate(seen, { life: decision.life, edit }, deciding));
  return decision.claimed ? { ...task, claimed: true, fence } : task;
}

function readUpdateFacts(
  tx: MemoryTransaction,
  before: TaskRow,
  { update: { agents }, needs }: { readonly update: TaskUpdate; readonly needs: UpdateNeeds },
): UpdateFacts {
  const { id } = before.record;
  const { claim } = needs;
  return {
    // A caller that may make a claim of an update says which agents there are.
    claim:
      claim === undefined || agents === undefined
        ? undefined
        : readClaimFacts(tx, before, { way: claim.way, assignee: claim.assignee, agents }),
    unfinished: findUnfinished(listWorked(tx.tables, id)),
    closed_from: needs.closed_from ? readClosedFrom(tx.tables, id) : undefined,
  };
}

function findParent(
  tx: MemoryTransaction,
  before: TaskRow,
  ref: string | null | undefined,
): string | null | undefined {
  if (typeof ref !== 'string') return ref;
  const { id } = before.record;
  const parent = resolveTaskId(tx.tables, ref);
  const refusal = decideParent(id, parent, findWayUp(tx.tables, id, parent));
  if (refusal !== undefined) throw toError(tx.tables, before, refusal);
  return parent;
}

export function addComment(
  tx: MemoryTransaction,
  comment: Parameters<TaskStore['addComment']>[0],
): Comment & { task_id: string } {
  const before = tx.read(resolveTaskId(tx.tables, comment.id));
  const new_id = `c-${randomBase36(10, randomBytes)}`;
  const decision = decideComment(toSeen(before), { ...comment, new_id }, toDeciding(tx));
  if (decision.outcome !== 'save') throw toError(tx.tables, before, decision);
  savePlan(tx, before, decision);
  return { ...decision.comment, task_id: before.record.id };
}

import { decideAgentMove } from '#domain/decide-agent-move.ts';
import { changesSteps, findGateLoosening, type GateFacts } from '#domain/decide-gate-change.ts';
import { listPlanners } from '#domain/gate-targets.ts';
import { isDeleted, type TaskRecord } from '#domain/task-record.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { otherFields, showWorkflowFields } from '#domain/workflow-fields.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Writer } from '../store.ts';
import { findUnfinished, hasGivenUp } from './attempt-facts.ts';
import type { Database } from './database.ts';

/**
 * Throws permission_denied where an agent would move a task past a gate that has not been passed, and where a token that
 * may not run programs would change what checks a task. Every write of a task
 * comes by here, so that no way of moving one has rules of its own.
 */
export function checkGates(db: Database, by: Writer, before: TaskRecord, after: TaskRecord): void {
  if (by.vouches === false) checkSteps(by, before, after);
  if (by.actor.kind !== 'agent') return;
  checkLoosening(by, before, after);
  if (before.life.state === after.life.state) return;
  const { id, life } = before;
  // As it stood before: what the same write takes away still counts.
  const task = { id, ...life, ...showWorkflowFields(otherFields(before)) };
  const unfinished = findUnfinished(db, id) !== undefined;
  const { state: to } = after.life;
  const { actor, workflow = DEFAULT_RESOLVED } = by;
  const given_up = hasGivenUp(db, id, listPlanners(workflow));
  const decision = decideAgentMove(workflow, { actor, task, unfinished, given_up, to });
  if (decision.outcome === 'allowed') return;
  throw new ForgeError('permission_denied', `${actor.name} cannot move ${id} to ${to}: ${decision.why}`, {
    hint: `forge task show ${id}`,
    details: { id, from: life.state, to, gate: decision.gate },
  });
}

/** Of people; what an agent may bring is told by `checkLoosening`. A deleted task comes back with what it had. */
function checkSteps({ actor }: Writer, before: TaskRecord, after: TaskRecord): void {
  if (actor.kind !== 'user' || isDeleted(before)) return;
  if (!changesSteps(toFacts(before), toFacts(after))) return;
  const { id } = before;
  throw new ForgeError(
    'permission_denied',
    `${actor.name} cannot change the checks of ${id}: they become commands, which needs a token with the scope exec`,
    { hint: 'forge token create --scope exec', details: { id, needed: 'exec' } },
  );
}

function toFacts(record: TaskRecord): GateFacts {
  return showWorkflowFields(otherFields(record));
}

function checkLoosening(by: Writer, before: TaskRecord, after: TaskRecord): void {
  const { actor, workflow = DEFAULT_RESOLVED } = by;
  const why = findGateLoosening(workflow, actor, { before: toFacts(before), after: toFacts(after) });
  if (why === undefined) return;
  const { id } = before;
  throw new ForgeError('permission_denied', `${actor.name} cannot change ${id}: ${why}`, {
    hint: `forge task comment ${id} "…"`,
    details: { id },
  });
}

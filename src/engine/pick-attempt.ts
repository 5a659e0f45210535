import type { Attempt } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { isPlanning, submitTarget } from '#domain/gate-targets.ts';
import { kindOf, roleOf, standingState } from '#domain/workflow.ts';
import { isRegistered } from '#git/checkout-record.ts';
import { rescueCheckout } from '#git/rescue-checkout.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError, isForgeError, type ErrorCode } from '#kernel/errors.ts';
import type { Json } from '#kernel/json.ts';
import { openControl, toCheckout } from './attempt-workspace.ts';
import type { Engine } from './engine.ts';
import { stopRuns } from './retire-attempts.ts';
import { moveOrBlock } from './settle-run.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** Why a task waits with several attempts. */
export const PICK_CODES = {
  wait: 'pick_attempt',
  none_green: 'no_green_attempt',
  /** Somebody is at archiving the others. */
  picked: 'picked',
} as const;

export interface Pick {
  readonly attempt: Attempt;
  /** Of the task that the choice was made on: of two who choose at the same time one does. */
  readonly version: number;
  /** The number of the claim that the choice was made under; left out where it does not matter. */
  readonly fence?: number | undefined;
  readonly reason: string;
}

/**
 * From now on the task has this one attempt: the others are archived with all that they hold, and a task that was being
 * worked on goes to its gate. Throws version_conflict where somebody changed the task meanwhile, fence_conflict where
 * the claim is over. What was cut off here is done by the next call.
 */
export async function pickAttempt(
  place: WorkPlace,
  engine: Engine,
  { attempt, version, fence, reason }: Pick,
): Promise<Task> {
  const { workflow, store } = engine;
  const { task } = await store.readStanding(attempt.task_id);
  const state = standingState(workflow, task);
  const isWorked = kindOf(workflow, state) === 'active' && !isPlanning(workflow, state);
  const note = {
    code: PICK_CODES.picked,
    message: `Attempt ${attempt.number} was picked`,
    at: toIso(engine.by.now),
  };
  await store.updateTask({ id: task.id, version, fence, workflow_fields: annotation(note) }, engine.by);
  await archiveOthers(place, attempt);
  if (!isWorked) return store.updateTask({ id: task.id, workflow_fields: annotation(null) }, engine.by);
  await handOver(place, engine, { task, role: roleOf(workflow, state) ?? '', agent: attempt.agent });
  const to = submitTarget(workflow, state);
  return to === undefined ? store.getTask(task.id) : moveOrBlock(engine, task.id, { to, reason });
}

/** Whatever it waited for, it does no more; and its version rises. */
function annotation(value: Json): ReadonlyMap<string, Json> {
  return new Map([['error_annotation', value]]);
}

async function archiveOthers(place: WorkPlace, picked: Attempt): Promise<void> {
  const { store, clock } = place;
  const hours = place.settings().workspace.cleanup_hours;
  const control = await openControl(place);
  for (const other of await store.listAttempts({ task_id: picked.task_id, state: 'active' })) {
    if (other.id === picked.id) continue;
    await stopRuns(place, { attempt_id: other.id });
    const checkout = toCheckout(place, control, other);
    if (isRegistered(control, checkout))
      await place.folders.hold(other, 'rescue', () => rescueCheckout(control, checkout));
    const { state } = await store.getAttempt(picked.id);
    if (state !== 'active') throw notActive(picked, state);
    const cleanup_at = toIso(clock.now() + hours * 3_600_000);
    const change = { id: other.id, state: 'archived', cleanup_at } as const;
    place.watch({ kind: 'attempt', attempt: await store.changeAttempt(change, systemWriter(place)) });
  }
}

/** Whose attempt was picked goes on with the task, unless somebody was named for that. */
async function handOver(
  place: WorkPlace,
  engine: Engine,
  { task, role, agent }: { readonly task: Task; readonly role: string; readonly agent: string | null },
): Promise<void> {
  if (agent === null || agent === task.assignee || task.roles?.[role] !== undefined) return;
  if (place.agents.find(agent) === undefined) return;
  const agents = await engine.agents.readAll();
  try {
    await engine.store.updateTask({ id: task.id, assignee: agent, agents }, systemWriter(place));
  } catch (error) {
    // What is paused is given nothing; the task goes to its gate all the same.
    if (!isForgeError(error) || !PAUSES.has(error.code)) throw error;
  }
}

const PAUSES: ReadonlySet<string> = new Set(['agent_paused', 'project_paused'] satisfies ErrorCode[]);

export function notActive({ id, task_id, number }: Attempt, state: Attempt['state']): ForgeError {
  return new ForgeError('state_invalid', `Attempt ${number} at ${task_id} is ${state} and cannot be picked`, {
    hint: `forge task attempts ${task_id}`,
    details: { id, task_id, state },
  });
}

import type { Attempt } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { kindOf, roleOf } from '#domain/workflow.ts';
import { beginMerge, hasBegunMerge } from '#git/begin-merge.ts';
import { readRef } from '#git/read-ref.ts';
import { followEvents } from '#store/follow-events.ts';
import { findWorkspace, openControl, toCheckout } from './attempt-workspace.ts';
import type { Engine } from './engine.ts';
import { harvestAttempt } from './settle-run.ts';
import { transitionTask } from './transition-task.ts';
import type { WorkPlace } from './work.ts';

/** Whoever wrote it gets one chance to make it fit; what fails again is for a person. */
export async function isRepairable(place: WorkPlace, task: Task): Promise<boolean> {
  const attempt = (await place.store.listAttempts({ task_id: task.id, state: 'active' })).at(-1);
  if (attempt === undefined) return false;
  const failed = (await place.store.listMerges({ task_id: task.id })).filter(
    ({ attempt_id, state }) => attempt_id === attempt.id && (state === 'conflict' || state === 'ci_failed'),
  );
  return failed.length === 1 && attempt.agent !== null && place.agents.find(attempt.agent) !== undefined;
}

/** Puts the target into the coder's checkout and sends the task back to them, as soon as the move that failed is over. */
export async function repairMerge(
  place: WorkPlace,
  engine: Engine,
  { task, from }: { readonly task: Task; readonly from: string },
): Promise<void> {
  const { workflow, store } = engine;
  const to = workflow.states.get(from)?.next?.find((name) => kindOf(workflow, name) === 'active');
  if (to === undefined || !(await untilIn(place, task.id, from))) return;
  const attempt = await putTarget(place, task);
  if (attempt === undefined) return;
  const now = await store.getTask(task.id);
  const holder = now.roles?.[roleOf(workflow, to) ?? ''];
  const agent = holder === undefined ? now.assignee : 'agent' in holder ? holder.agent : null;
  if (agent === null || place.agents.find(agent) === undefined) return;
  const reason = `${agent} makes it fit ${attempt.target}`;
  await transitionTask(engine, { id: task.id, to, reason, version: now.version });
}

/**
 * Before every start of an agent: where the last merge of the attempt did not fit and no agent has worked on it since,
 * the target is put into its checkout, unless it is there. What lies there is committed first.
 */
export async function beginRepair(place: WorkPlace, task: Task): Promise<void> {
  const { store } = place;
  const [attempt, ...others] = await store.listAttempts({ task_id: task.id, there: true, state: 'active' });
  if (attempt === undefined || others.length > 0) return;
  const merge = (await store.listMerges({ task_id: task.id })).findLast(
    ({ attempt_id }) => attempt_id === attempt.id,
  );
  if (merge?.state !== 'conflict' && merge?.state !== 'ci_failed') return;
  const runs = await store.listRuns({ attempt_id: attempt.id });
  if (runs.some(({ created_at }) => created_at >= (merge.finished_at ?? ''))) return;
  if (hasBegunMerge(toCheckout(place, await openControl(place), attempt))) return;
  await harvestAttempt(place, { task, attempt, agent: attempt.agent });
  await putTarget(place, task);
}

/** The attempt whose checkout has the merge of the target now; undefined where there is none, or no target. */
async function putTarget(place: WorkPlace, task: Task): Promise<Attempt | undefined> {
  const control = await openControl(place);
  const workspace = await findWorkspace(place, control, task.id);
  if (workspace === undefined) return undefined;
  const { attempt, checkout } = workspace;
  const target = await readRef(place.repo, `refs/heads/${attempt.target}`);
  if (target === undefined || attempt.head_commit === null) return undefined;
  const merged = { head: attempt.head_commit, target };
  await place.folders.hold(attempt, 'merge', () => beginMerge(control, checkout, merged));
  return attempt;
}

/** How long the move that failed may take to be over. */
const MOVE_MS = 10_000;

async function untilIn({ store }: WorkPlace, id: string, state: string): Promise<boolean> {
  const events = await followEvents(store);
  const until = performance.now() + MOVE_MS;
  for (;;) {
    if ((await store.getTask(id)).state === state) return true;
    const timeout_ms = until - performance.now();
    if (timeout_ms <= 0) return false;
    await events.next({ timeout_ms });
  }
}

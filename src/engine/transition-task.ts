import type { Task } from '#contract/task.ts';
import { toClaimer } from '#domain/claimer.ts';
import { isMoveEdge } from '#domain/decide-move.ts';
import { findMoveOwner } from '#domain/move-owner.ts';
import { planTransition, type AskedTransition } from '#domain/plan-transition.ts';
import { unknownState } from '#domain/unknown-state.ts';
import { endsAsDone, findEdge, kindOf, roleOf, standingState } from '#domain/workflow.ts';
import { holderName } from '#domain/workflow-fields.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { HookResult, Standing } from '#store/store.ts';
import { endLost } from './end-lost.ts';
import type { Engine } from './engine.ts';
import { refuseUnavailable, runAftermath, runGuards, type Move } from './run-hooks.ts';
import { findHoldLoss, type Hold } from './work.ts';

export interface TransitionRequest extends AskedTransition {
  readonly id: string;
  readonly version?: number | undefined;
  readonly fence?: number | undefined;
  /** Only while a run has the task by this; throws fence_conflict where it has lost it. */
  readonly held?: Hold | undefined;
}

/**
 * A task from state to state: version and edge, guards without a transaction, one transaction that checks again and
 * writes state, version, log and event, then what follows. The answer is the task after all of it.
 */
export async function transitionTask(engine: Engine, request: TransitionRequest, depth = 0): Promise<Task> {
  const asked = await engine.store.readStanding(request.id);
  const done = await retry(request.version === undefined, async (attempt) => {
    const standing = attempt === 0 ? asked : await engine.store.readStanding(asked.task.id);
    checkVersion(standing.task, request.version);
    checkHeld(standing, request);
    const plan = planTransition(standing, request, { ...engine.by, workflow: engine.workflow });
    const { from, to, rejection, workflow_fields } = plan;
    if (!engine.workflow.states.has(to)) throw refuseUnknown(engine, standing.task.id, to);
    const edge = findEdge(engine.workflow, from, to);
    const { reason, fence } = request;
    const agents = await engine.agents.readAll();
    const write = { id: standing.task.id, to, reason, fence, agents, version: standing.task.version };
    // The store says what is wrong with a move that there is no edge for.
    if (!isMoveEdge(edge)) return { written: (await engine.store.moveTask(write, engine.by)).task };
    const move = { from, to, edge, owner: findOwner(engine, to, standing) };
    const guarded = await prepareMove(engine, move, standing);
    const moved = await engine.store.moveTask({ ...write, rejection, workflow_fields }, engine.by);
    const written = moved.task;
    return { written, guarded, move };
  });
  return done.move === undefined ? done.written : finishMove(engine, done.move, { ...done, depth });
}

function refuseUnknown({ workflow }: Engine, id: string, to: string): ForgeError {
  return unknownState(workflow, to, {
    code: 'state_invalid',
    toCommand: (state) => `forge task transition ${id} ${state}`,
  });
}

/** Everything that may refuse a move, before anything is written. */
export async function prepareMove(engine: Engine, move: Move, standing: Standing): Promise<HookResult[]> {
  const known = { ...move, for_agent: await isForAgent(engine, move, standing) };
  await refuseUnavailable(engine, known, standing);
  if (endsAsDone(engine.workflow, move.to)) await noteUnfinished(engine, standing.task.id);
  return runGuards(engine, known, standing);
}

/** Who will work on the task; undefined where the move leads to no work, or to nobody's. */
function findOwner({ workflow, by }: Engine, to: string, { task }: Standing): string | undefined {
  if (kindOf(workflow, to) !== 'active') return undefined;
  const holderOf = (role: string): string | undefined => {
    const holder = task.roles?.[role];
    return holder && holderName(holder);
  };
  return findMoveOwner(workflow, { life: task, holderOf, actor: by.actor.name, to }) ?? undefined;
}

/** A registered name is an agent's, and so is one that a role was given to as an agent's. */
async function isForAgent({ workflow, agents, by }: Engine, { to, owner }: Move, { task }: Standing) {
  if (owner === undefined) return false;
  const holder = task.roles?.[roleOf(workflow, to) ?? ''];
  if (holder !== undefined && 'agent' in holder && holder.agent === owner) return true;
  return toClaimer(owner, await agents.readAll(), by.actor).kind === 'agent';
}

/** The store refuses to end a task whose work is not in its target; where it is, it has to know. */
async function noteUnfinished({ store, work }: Engine, id: string): Promise<void> {
  const unfinished = await store.listAttempts({ task_id: id, state: 'active' });
  if (unfinished.length > 0) await (await work?.())?.noteLanded(id);
}

/** Everything that follows on a move that was written; gives the task after it, without what others did since. */
export async function finishMove(engine: Engine, move: Move, done: WrittenMove): Promise<Task> {
  const { id } = done.written;
  // Between the end of the one who lost it and the start of the next nobody may take the task for abandoned.
  const isHanded = engine.follows === true && (await handsOver(engine, move, id));
  const work = isHanded ? await engine.work?.() : undefined;
  if (engine.follows !== true) await forgetStarter(engine, move, id);
  return work === undefined
    ? followModeChange(engine, move, done)
    : work.during(id, () => followModeChange(engine, move, done));
}

/**
 * A process that does not stay starts no agent: what an earlier one was at must not be taken for a start that was cut
 * off, else the task would be given back as one that was never begun.
 */
async function forgetStarter({ store, workflow }: Engine, { to }: Move, id: string): Promise<void> {
  if (kindOf(workflow, to) === 'active' && !(await store.isWorkedOn(id))) await store.forgetWatch(id);
}

/** Somebody is at work who may have lost it, or an agent of ours is its new owner. */
async function handsOver({ store, agents }: Engine, { left, owner }: Move, id: string): Promise<boolean> {
  const isOurs = left !== undefined && owner !== undefined && (await agents.isManaged(owner));
  return isOurs || store.isWorkedOn(id);
}

interface WrittenMove {
  readonly written: Task;
  readonly guarded: readonly HookResult[];
  readonly depth: number;
}

async function followModeChange(
  engine: Engine,
  move: Move,
  { written, guarded, depth }: WrittenMove,
): Promise<Task> {
  const { id } = written;
  // Whoever lost the task by this move is gone before anybody begins in the state that it came to.
  await endLost(engine, id);
  const standing = await engine.store.readStanding(id);
  const { results, cascade } = await runAftermath(engine, move, standing);
  const all = [...guarded, ...results];
  if (all.length > 0) await engine.store.recordHookResults({ id, to_state: move.to, results: all });
  if (cascade === undefined) return written;
  // Where it would have gone stands in the log.
  if (depth >= LIMITS.cascade_depth) return written;
  // What the workflow leads on is Forge's own doing, also where the caller has just given the task away.
  const by = { ...engine.by, actor: SYSTEM, holding: undefined, now: engine.clock.now() };
  const { to, reason, annotation } = cascade;
  const led = await transitionTask({ ...engine, by }, { id, to, reason, annotation }, depth + 1);
  const { former_owner } = written;
  return former_owner === undefined ? led : { ...led, former_owner };
}

/** What the state does with a task that comes to it, once more. */
export async function enterAgain(
  engine: Engine,
  task: Task,
  left: readonly ('on_enter' | 'after_enter')[],
): Promise<void> {
  const state = standingState(engine.workflow, task);
  const again = { from: state, to: state, edge: 'edge', left } as const;
  await finishMove(engine, again, { written: task, guarded: [], depth: 0 });
}

/** Guards may take long; a task that changes meanwhile is looked at again, unless the caller named its version. */
export async function retry<T>(mayRetry: boolean, work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work(attempt);
    } catch (error) {
      const raced = isForgeError(error) && error.code === 'version_conflict';
      if (!raced || !mayRetry || attempt + 1 >= LIMITS.move_tries) throw error;
    }
  }
}

const SYSTEM = { kind: 'system', name: '', named: true } as const;

/** What was seen here is what the write finds: it names the version. */
function checkHeld(standing: Standing, { held }: TransitionRequest): void {
  const loss = held && findHoldLoss(held, standing);
  if (held === undefined || loss === undefined) return;
  const { task, fence } = standing;
  throw new ForgeError(
    'fence_conflict',
    `The claim ${held.fence} of ${task.id} in ${held.in_state} is over: ${loss.message}`,
    { hint: `forge task show ${task.id}`, details: { id: task.id, fence, state: task.state } },
  );
}

export function checkFence({ task, fence: now }: Standing, fence: number | undefined): void {
  if (fence === undefined || fence === now) return;
  throw new ForgeError(
    'fence_conflict',
    `The claim ${fence} of ${task.id} is over; ${task.assignee ?? 'nobody'} has it now`,
    { hint: `forge task show ${task.id}`, details: { id: task.id, fence: now, assignee: task.assignee } },
  );
}

export function checkVersion(task: Pick<Task, 'id' | 'version'>, version: number | undefined): void {
  if (version === undefined || version === task.version) return;
  throw new ForgeError(
    'version_conflict',
    `${task.id} has version ${task.version}, not ${version}: somebody changed it`,
    { hint: `forge task show ${task.id}`, details: { id: task.id, version: task.version } },
  );
}

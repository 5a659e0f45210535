import type { Status, Task } from '#contract/task.ts';
import type { MoveCheck } from '#domain/decide-move-check.ts';
import { findRefusal } from '#domain/task-refusal.ts';
import type { ActionName } from '#domain/workflow.ts';
import { isForgeError } from '#kernel/errors.ts';
import type {
  ClaimRequest,
  ClaimResult,
  CloseResult,
  HookResult,
  NextRequest,
  Standing,
  TaskUpdate,
  UpdateResult,
  Writer,
} from '#store/store.ts';
import { endLost } from './end-lost.ts';
import type { Engine } from './engine.ts';
import type { Move } from './run-hooks.ts';
import { refuseStart } from './refuse-start.ts';
import { finishMove, prepareMove } from './transition-task.ts';
import { readHooks, writeChecked } from './write-checked.ts';

/** Claims check dependencies inside their transaction, where nothing can change in between. */
const CLAIM_CHECKS: readonly ActionName[] = ['dependency_gate'];

/** A claim as the rest of Forge makes it; what is known of agents is added here. */
type Claim = Omit<ClaimRequest, 'agents' | 'companions'>;
type NextClaim = Omit<NextRequest, 'agents' | 'companions'>;

export async function claimTask(engine: Engine, claim: Claim): Promise<ClaimResult> {
  const isStart = engine.follows === true && (await engine.agents.isManaged(claim.assignee));
  const work = isStart ? await engine.work?.() : undefined;
  if (work === undefined) return writeClaim(engine, claim);
  await refuseStart(engine, { id: claim.id, agent: claim.assignee });
  // Said before the claim is written: whoever finds it then knows whether somebody was to start its agent.
  const { id } = await engine.store.findTask(claim.id);
  return work.standBy(id, () => writeClaim(engine, { ...claim, id }));
}

async function writeClaim(engine: Engine, claim: Claim): Promise<ClaimResult> {
  const agents = await readClaimers(engine);
  const { result, task } = await changeState(engine, {
    write: (by) => engine.store.claimTask({ ...claim, ...agents }, by),
    taskOf: (claimed) => (claimed.outcome === 'claimed' ? claimed.task : undefined),
  });
  return result.outcome === 'claimed' && task !== undefined ? { ...result, task } : result;
}

async function readClaimers({
  agents,
  attempts,
}: Engine): Promise<Pick<ClaimRequest, 'agents' | 'companions'>> {
  return { agents: await agents.readAll(), companions: attempts?.agents };
}

/** Undefined when nothing is ready. Throws where `decidePause` refuses. */
export async function claimNext(
  engine: Engine,
  claim: NextClaim,
): Promise<(Task & { fence: number }) | undefined> {
  const hooks = await readHooks(engine);
  try {
    const claimers = await readClaimers(engine);
    return await engine.store.claimNext({ ...claim, ...claimers }, { ...engine.by, hooks });
  } catch (error) {
    if (findRefusal(error)?.outcome !== 'check_first') throw error;
    return claimGuarded(engine, claim);
  }
}

export async function closeTask(
  engine: Engine,
  close: {
    id: string;
    reason: string;
    force?: boolean | undefined;
    version?: number | undefined;
    fence?: number | undefined;
  },
): Promise<CloseResult> {
  const { result, task } = await changeState(engine, {
    write: (by) => engine.store.closeTask(close, by),
    taskOf: (closed) => closed,
  });
  const { unblocked, unblocked_more } = result;
  return { ...(task ?? result), unblocked, ...(unblocked_more !== undefined && { unblocked_more }) };
}

export async function reopenTask(
  engine: Engine,
  reopen: {
    id: string;
    reason: string | null;
    version?: number | undefined;
    fence?: number | undefined;
  },
): Promise<Task> {
  return changeTask(engine, (by) => engine.store.reopenTask(reopen, by));
}

export async function releaseTask(
  engine: Engine,
  release: { id: string; owner: string; force: boolean; reason: string | null; fence?: number | undefined },
): Promise<Task> {
  return changeTask(engine, (by) => engine.store.releaseTask(release, by));
}

type Update = Omit<TaskUpdate, 'agents' | keyof LifeWish> & LifeWish;

interface LifeWish {
  readonly status?: Status | undefined;
  readonly state?: string | undefined;
  readonly assignee?: string | null | undefined;
}

/** Fields, and with them status, state and owner: the moves of the agent loop. */
export async function updateTask(engine: Engine, update: Update): Promise<UpdateResult> {
  const { store, by } = engine;
  const { status, state, assignee, ...fields } = update;
  if (status === undefined && state === undefined && assignee === undefined)
    return store.updateTask(fields, by);
  const agents = await engine.agents.readAll();
  const { result, task } = await changeState(engine, {
    write: (by) => store.updateTask({ ...update, agents }, by),
    taskOf: (updated) => (updated.claimed === false ? undefined : updated),
  });
  return { ...result, ...task };
}

interface Change<T> {
  readonly write: (by: Writer) => Promise<T>;
  /** Undefined where the store said no: the task may have been moved all the same, by another caller. */
  readonly taskOf: (result: T) => Task | undefined;
}

async function changeTask(engine: Engine, write: (by: Writer) => Promise<Task>): Promise<Task> {
  const { result, task } = await changeState(engine, { write, taskOf: (changed) => changed });
  return task ?? result;
}

/**
 * One change that may be a move: guards before it, hooks after it. Of several who want the same at the same moment
 * only the one whose write moved the task runs them. `task`: as it is after all that; undefined where the store said no.
 */
async function changeState<T>(
  engine: Engine,
  { write, taskOf }: Change<T>,
): Promise<{ readonly result: T; readonly task: Task | undefined }> {
  const { result, check, guarded } = await writeChecked(engine, {
    write,
    look: (found, standing) => lookAtMove(engine, found, standing),
  });
  const written = taskOf(result);
  if (written === undefined || check === undefined || written.version === check.version)
    return { result, task: written };
  await forgetStarter(engine, check, written);
  return { result, task: await follow(engine, check, { written, guarded }) };
}

async function lookAtMove(
  engine: Engine,
  check: MoveCheck,
  standing: Standing,
): Promise<readonly HookResult[]> {
  if (check.from !== check.to) return prepareMove(engine, toMove(check), standing);
  const { id, owner, was } = check;
  if (owner !== undefined && owner !== was) await refuseStart(engine, { id, agent: owner });
  return [];
}

/** What follows on a move, or on another owner in the state that the task is in, with whom that is done again. */
async function follow(
  engine: Engine,
  check: MoveCheck,
  { written, guarded }: { readonly written: Task; readonly guarded: readonly HookResult[] },
): Promise<Task> {
  const isHandOver = check.owner !== undefined && check.owner !== check.was;
  if (check.from !== check.to || isHandOver)
    return finishMove(engine, toMove(check), { written, guarded, depth: 0 });
  await endLost(engine, written.id);
  return written;
}

function toMove({ from, to, edge, owner, is_claim }: MoveCheck): Move {
  return {
    from,
    to,
    edge,
    owner,
    ...(is_claim && { checked: CLAIM_CHECKS }),
    ...(from === to && { left: ['on_enter', 'after_enter'] }),
  };
}

/**
 * A new owner that is not started by Forge: a process that was about to start the agent of the old one has nothing to go on with,
 * and no process may take this claim for one that it left unfinished.
 */
async function forgetStarter(
  { store, agents, follows }: Engine,
  { was }: MoveCheck,
  after: Task,
): Promise<void> {
  if (after.assignee === null || after.assignee === was) return;
  if (follows === true && (await agents.isManaged(after.assignee))) return;
  await store.forgetWatch(after.id);
}

async function claimGuarded(
  engine: Engine,
  claim: NextClaim,
): Promise<(Task & { fence: number }) | undefined> {
  const { assignee, lease_ms, ...query } = claim;
  for (const { id } of await engine.store.listReady({ ...query, assignee, to_hand_out: true })) {
    try {
      const result = await claimTask(engine, { id, assignee, lease_ms, force: false });
      if (result.outcome === 'claimed') return { ...result.task, fence: result.fence };
    } catch (error) {
      if (!isForgeError(error) || error.code !== 'guard_rejected') throw error;
    }
  }
  return undefined;
}

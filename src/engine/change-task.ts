import type { Status, Task } from '#contract/task.ts';
import { toClaimer, type Claimer } from '#domain/claimer.ts';
import { decidePause } from '#domain/decide-claim.ts';
import { decideLife, type LifeDecision } from '#domain/decide-life.ts';
import { explainPause } from '#domain/explain-refusal.ts';
import {
  claimTarget,
  closingState,
  findEdge,
  hooksFor,
  kindOf,
  standingState,
  type ActionName,
} from '#domain/workflow.ts';
import { holderName } from '#domain/workflow-fields.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import { isForgeError } from '#kernel/errors.ts';
import type {
  ClaimRequest,
  ClaimResult,
  CloseResult,
  NextRequest,
  Standing,
  TaskUpdate,
  UpdateResult,
} from '#store/store.ts';
import { endLost } from './end-lost.ts';
import type { Engine } from './engine.ts';
import type { Move } from './run-hooks.ts';
import { refuseStart } from './refuse-start.ts';
import { finishMove, prepareMove, retry } from './transition-task.ts';

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
  let result: ClaimResult | undefined;
  const task = await changeState(engine, claim.id, {
    target: ({ task: now }) => toClaimTarget(engine, now, claim.assignee),
    async write({ task: now }) {
      const request = { ...claim, ...(await readClaimers(engine)), ...asSeen(now) };
      result = await engine.store.claimTask(request, engine.by);
      return result.task;
    },
    refused: () => result?.outcome !== 'claimed',
  });
  if (result === undefined) throw new Error('a claim without an answer');
  return result.outcome === 'claimed' ? { ...result, task } : result;
}

/** Where a claim would lead a task that waits; whether it may is for the store to say. */
function toClaimTarget(engine: Engine, task: Task, assignee: string): Target | undefined {
  if (task.status !== 'open') return undefined;
  return { to: findTarget(engine, task, assignee), checked: CLAIM_CHECKS, owner: assignee };
}

async function readClaimers({
  agents,
  attempts,
}: Engine): Promise<Pick<ClaimRequest, 'agents' | 'companions'>> {
  return { agents: await agents.readAll(), companions: attempts?.agents };
}

/** Undefined when nothing is ready. Throws agent_paused, project_paused. */
export async function claimNext(
  engine: Engine,
  claim: NextClaim,
): Promise<(Task & { fence: number }) | undefined> {
  if ((await hasOwnGuards(engine, claim.assignee)) || (await engine.agents.isManaged(claim.assignee)))
    return claimGuarded(engine, claim);
  const claimed = await engine.store.claimNext({ ...claim, ...(await readClaimers(engine)) }, engine.by);
  if (claimed === undefined) return undefined;
  const { fence, ...written } = claimed;
  const move: Move = { from: engine.workflow.initial, to: claimed.state, edge: 'edge' };
  return { ...(await finishMove(engine, move, { written, guarded: [], depth: 0 })), fence };
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
  let freed: Pick<CloseResult, 'unblocked' | 'unblocked_more'> = { unblocked: [] };
  const task = await changeState(engine, close.id, {
    target: ({ task: now }) =>
      now.status === 'closed' ? undefined : { to: closingState(engine.workflow, close.reason) },
    async write({ task: now }) {
      const closed = await engine.store.closeTask({ ...close, ...asSeen(now) }, engine.by);
      const { unblocked, unblocked_more } = closed;
      freed = { unblocked, ...(unblocked_more !== undefined && { unblocked_more }) };
      return closed;
    },
  });
  return { ...task, ...freed };
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
  return changeState(engine, reopen.id, {
    target: ({ task }) => (task.status === 'closed' ? { to: engine.workflow.initial } : undefined),
    write: ({ task }) => engine.store.reopenTask({ ...reopen, ...asSeen(task) }, engine.by),
  });
}

export async function releaseTask(
  engine: Engine,
  release: { id: string; owner: string; force: boolean; reason: string | null; fence?: number | undefined },
): Promise<Task> {
  return changeState(engine, release.id, {
    target: ({ task }) => (task.status === 'in_progress' ? { to: engine.workflow.initial } : undefined),
    write: ({ task }) => engine.store.releaseTask({ ...release, ...asSeen(task) }, engine.by),
  });
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
  let result: UpdateResult | undefined;
  const task = await changeState(engine, update.id, {
    target: (standing) => predict(engine, standing, update),
    assignee,
    async write({ task: now }) {
      const agents = await engine.agents.readAll();
      result = await store.updateTask({ ...update, agents, ...asSeen(now) }, by);
      return result;
    },
    refused: () => result?.claimed === false,
  });
  return { ...result, ...task };
}

type Target = Pick<Move, 'to' | 'checked' | 'owner'>;

interface Change {
  /** Where it will lead; undefined where the state stays, or where the store will say no. */
  target(standing: Standing): Target | undefined;
  write(standing: Standing): Promise<Task>;
  /** Who is asked to have the task; undefined where the change does not say. */
  readonly assignee?: string | null | undefined;
  /** Whether the store said no, after the write. The task may have been moved all the same: by somebody faster. */
  refused?(): boolean;
}

/**
 * One change that may be a move: guards before it, hooks after it. Of several who want the same at the same moment
 * only the one whose write moved the task runs them: the others' writes find a state that they have not seen, and are
 * tried again as what they are now, most often nothing.
 */
async function changeState(engine: Engine, id: string, change: Change): Promise<Task> {
  const done = await retry(true, async () => {
    const standing = await engine.store.readStanding(id);
    const from = standingState(engine.workflow, standing.task);
    const target = change.target(standing);
    if (target === undefined || target.to === from) {
      const { assignee } = change;
      const isHandOver = typeof assignee === 'string' && assignee !== standing.task.assignee;
      if (isHandOver && kindOf(engine.workflow, from) === 'active')
        await refuseStart(engine, { id: standing.task.id, agent: assignee });
      const written = await change.write(standing);
      await forgetStarter(engine, standing.task, written);
      return { written, handed: findHandOver(engine, standing.task, written) };
    }
    const edge = findEdge(engine.workflow, from, target.to) ?? 'edge';
    const move: Move = { ...target, from, edge };
    const guarded = await prepareMove(engine, move, standing);
    const written = await change.write(standing);
    if (written.version === standing.task.version || change.refused?.() === true) return { written };
    await forgetStarter(engine, standing.task, written);
    return { written, guarded, move: { ...move, to: written.state } };
  });
  if (done.move !== undefined) return finishMove(engine, done.move, { ...done, depth: 0 });
  if (done.handed !== undefined)
    return finishMove(engine, done.handed, { written: done.written, guarded: [], depth: 0 });
  await endLost(engine, done.written.id);
  return done.written;
}

/**
 * A new owner whom nobody starts: a process that was about to start the agent of the old one has nothing to go on with,
 * and nobody may take this claim for one that it left unfinished.
 */
async function forgetStarter({ store, agents, follows }: Engine, before: Task, after: Task): Promise<void> {
  if (after.assignee === null || after.assignee === before.assignee) return;
  if (follows === true && (await agents.isManaged(after.assignee))) return;
  await store.forgetWatch(after.id);
}

/** Somebody else has the task in the state that it is in: what the state does with whom it comes to is done again. */
function findHandOver({ workflow }: Engine, before: Task, after: Task): Move | undefined {
  const state = standingState(workflow, after);
  const isWork = kindOf(workflow, state) === 'active' && after.state === before.state;
  if (!isWork || after.assignee === null || after.assignee === before.assignee) return undefined;
  return { from: state, to: state, edge: 'edge', owner: after.assignee, left: ['on_enter', 'after_enter'] };
}

function asSeen({ id, state }: Task): { id: string; from_state: string } {
  return { id, from_state: state };
}

function predict(engine: Engine, { task }: Standing, update: Update): Target | undefined {
  const life = { ...NO_LIFE, status: task.status, state: task.state, assignee: task.assignee };
  const decision: LifeDecision = decideLife(life, { ...update, actor: engine.by.actor }, engine.workflow);
  switch (decision.outcome) {
    case 'claim':
      return toClaimTarget(engine, task, decision.assignee);
    case 'close':
      return { to: closingState(engine.workflow, decision.reason) };
    case 'reopen':
      return { to: decision.state };
    case 'move':
      return { to: decision.to.state };
    case 'keep':
    case 'kept_parked':
    case 'refused':
      return undefined;
  }
}

/** What decides nothing about a request. */
const NO_LIFE = { close_reason: null, closed_at: null, n: 0, began: 0, written: 0 } as const;

function findTarget({ workflow }: Engine, task: Task, claimer: string): string {
  return claimTarget(workflow, task, (role) => {
    const holder = task.roles?.[role];
    return holder !== undefined && holderName(holder) === claimer;
  });
}

/** Guards that only a look at the one task can run, so that a pick and a claim in one step are not enough. */
async function hasOwnGuards({ workflow, by, agents }: Engine, assignee: string): Promise<boolean> {
  const triggered_by = toTriggeredBy(by.actor);
  const for_agent = toClaimer(assignee, await agents.readAll(), by.actor).kind === 'agent';
  return hooksFor(workflow, workflow.initial, { phase: 'before_exit', triggered_by, for_agent }).some(
    ({ action }) => !(CLAIM_CHECKS as readonly string[]).includes(action),
  );
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
  // Whoever may claim nothing is told so, also where nothing is ready.
  const { agents, companions = [] } = await readClaimers(engine);
  const toOne = (name: string): Claimer => toClaimer(name, agents, engine.by.actor);
  const paused = decidePause({
    claimer: toOne(assignee),
    companions: companions.map(toOne),
    pauses_agents: (await engine.store.readPause()) !== null,
  });
  if (paused !== undefined) throw explainPause(paused);
  return undefined;
}

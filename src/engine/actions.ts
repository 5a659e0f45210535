import { decidePause } from '#domain/decide-claim.ts';
import { explainPause } from '#domain/explain-refusal.ts';
import { findSpentBudget, type Annotation } from '#domain/plan-transition.ts';
import { statusOfKind, kindOf, roleOf, standingState, type ActionName } from '#domain/workflow.ts';
import type { HookPhase, WorkflowHook } from '#contract/workflow.ts';
import type { Standing } from '#store/store.ts';
import type { Engine } from './engine.ts';
import { refuseStart } from './refuse-start.ts';
import { toHold, type Work } from './work.ts';

/** One hook of a move that is under way. */
export interface ActionCall {
  readonly engine: Engine;
  readonly hook: WorkflowHook;
  readonly phase: HookPhase;
  /** The task before the move for guards, after it for every other phase. */
  readonly standing: Standing;
  readonly from: string;
  readonly to: string;
  /** Who will have the task, where the move leads to work. */
  readonly owner: string | undefined;
}

export type ActionOutcome =
  | { readonly outcome: 'passed'; readonly message?: string }
  | { readonly outcome: 'failed'; readonly message: string }
  | {
      readonly outcome: 'cascaded';
      readonly to: string;
      readonly reason: string;
      readonly annotation?: Annotation;
    };

interface Action {
  /** Left out: always. What does not apply is skipped and leaves no result. */
  readonly applies?: (call: ActionCall) => boolean | Promise<boolean>;
  /** Left out: this version cannot do it, and a move that needs it is refused. */
  readonly run?: (call: ActionCall) => ActionOutcome | Promise<ActionOutcome>;
  /** It happens outside the store; where the engine has nowhere for that, the move is refused too. */
  readonly needs_work?: true;
  /** Throws what is known to be wrong before the task moves. */
  readonly check?: (work: Work, call: ActionCall) => Promise<void>;
}

/** What the workflow's actions do. A name of the domain without a row here does not compile. */
export const ACTIONS: Readonly<Record<ActionName, Action>> = {
  /** Only where the move leads to work: an open task may be parked or closed whatever it waits for. */
  dependency_gate: {
    applies: leadsToWork,
    run({ standing }) {
      const waiting = standing.blockers.map(({ id }) => id);
      if (waiting.length === 0) return { outcome: 'passed' };
      return { outcome: 'failed', message: `it waits for ${waiting.join(', ')}` };
    },
  },
  require_role: {
    run({ engine, standing, to }) {
      const role = roleOf(engine.workflow, to);
      if (role === undefined) return { outcome: 'passed' };
      const { roles = {}, assignee, state } = standing.task;
      // The owner has the role of the state that they work in, and stands in for no other one.
      const own = roleOf(engine.workflow, state);
      const held = roles[role] !== undefined || (assignee !== null && (own === undefined || own === role));
      return held ? { outcome: 'passed' } : { outcome: 'failed', message: `nobody has the role ${role}` };
    },
  },
  check_retry_budget: {
    run({ engine, standing, to }) {
      const spent = findSpentBudget(engine.workflow, to, { said: standing.rejections.get(to) ?? 0 });
      if (spent === undefined) return { outcome: 'passed' };
      return { outcome: 'cascaded', ...spent, reason: spent.annotation.message };
    },
  },
  cascade: { run: ({ hook, to }) => leadOn(hook, to) },
  cascade_on_review: {
    // The checks have run since the move was written.
    async applies({ engine, standing }) {
      if (!(await leadsOn(engine))) return false;
      const { task } = await engine.store.readStanding(standing.task.id);
      if (task.review_passed_at === undefined) return false;
      // Where nobody made an attempt there is nothing to lead on: it is closed by whoever worked on it.
      return (await engine.store.listAttempts({ task_id: task.id, state: 'active' })).length > 0;
    },
    run: ({ hook, to }) => leadOn(hook, to),
  },
  dispatch_role_agent: {
    // Who does not stay to watch starts nothing: the claim says whose the task is, and no more.
    applies: async (call) => call.engine.follows === true && (await findManaged(call)) !== undefined,
    // What a move out of work already begun starts, such as a reviewer, is what the workflow says and not the caller.
    async check(work, call) {
      const { engine, standing } = call;
      const agent = standing.task.status === 'open' ? await findManaged(call) : undefined;
      if (agent === undefined) return;
      await refuseStart(engine, { id: standing.task.id, agent });
      await work.checkStart(standing.task);
    },
    async run(call) {
      const { engine, standing, to } = call;
      const agent = await findManaged(call);
      const work = await engine.work?.();
      if (agent === undefined || work === undefined) return { outcome: 'passed' };
      const halt = await findHalt(engine, agent);
      if (halt !== undefined) return { outcome: 'cascaded', to: engine.workflow.initial, ...halt };
      const role = roleOf(engine.workflow, to) ?? '';
      const { task, fence } = standing;
      // Somebody else was faster: theirs is to start whoever they want.
      const isTheirs = call.owner !== undefined && task.assignee !== call.owner;
      if (isTheirs || standingState(engine.workflow, task) !== to)
        return { outcome: 'failed', message: `${task.id} belongs to ${task.assignee ?? 'nobody'} by now` };
      return work.dispatch(engine, { task, state: to, role, agent, hold: toHold({ task, fence }) });
    },
  },
  run_ci_steps: {
    needs_work: true,
    check: (work, { standing }) => work.checkReview(standing.task),
    run: withWork((work, { engine, standing, to }) => work.review(engine, standing.task, to)),
  },
  run_merge: {
    needs_work: true,
    check: (work, { standing }) => work.checkMerge(standing.task),
    run: withWork((work, { engine, standing, to }) => work.merge(engine, standing.task, to)),
  },
  cleanup_workspace: {
    applies: hasFolder,
    run: withWork((work, { engine, standing }) => work.retire(engine, standing.task, 'now')),
  },
  schedule_workspace_cleanup: {
    applies: hasFolder,
    run: withWork((work, { engine, standing }) => work.retire(engine, standing.task, 'later')),
  },
};

function leadsToWork({ engine, to }: ActionCall): boolean {
  const kind = kindOf(engine.workflow, to);
  return kind !== undefined && kind !== 'custom' && statusOfKind(kind) === 'in_progress';
}

function leadOn(hook: WorkflowHook, from: string): ActionOutcome {
  // Validation refuses a cascade without a target.
  const to = hook.to ?? from;
  return { outcome: 'cascaded', to, reason: `led on from ${from}` };
}

/** What has no place to work in cannot do it: nothing passes by default. */
function withWork(
  run: (work: Work, call: ActionCall) => Promise<ActionOutcome>,
): (call: ActionCall) => Promise<ActionOutcome> {
  return async (call) => {
    const work = await call.engine.work?.();
    if (work !== undefined) return run(work, call);
    return { outcome: 'failed', message: `${call.hook.action} is not possible here` };
  };
}

async function hasFolder({ engine, standing }: ActionCall): Promise<boolean> {
  const there = await engine.store.listAttempts({ task_id: standing.task.id, there: true });
  return there.length > 0;
}

/** The agent that works in the state the task comes to, where Forge starts it. */
async function findManaged({ engine, standing, to, owner }: ActionCall): Promise<string | undefined> {
  const { roles, assignee } = standing.task;
  const holder = roles?.[roleOf(engine.workflow, to) ?? ''];
  const name = holder === undefined ? (owner ?? assignee) : 'agent' in holder ? holder.agent : null;
  return name !== null && (await engine.agents.isManaged(name)) ? name : undefined;
}

/**
 * Nothing is started while it is paused, also where the workflow leads on by itself or goes on after a crash: the task
 * waits in the queue with all that it has.
 */
async function findHalt(
  { store, agents }: Engine,
  agent: string,
): Promise<{ readonly reason: string; readonly annotation: Annotation } | undefined> {
  const known = await agents.readAll();
  const claimer = { name: agent, kind: 'agent', paused: known.get(agent)?.paused === true } as const;
  const pauses_agents = (await store.readPause()) !== null;
  const paused = decidePause({ claimer, companions: [], pauses_agents });
  if (paused === undefined) return undefined;
  const { code, message } = explainPause(paused);
  return { reason: message, annotation: { code, message } };
}

async function leadsOn({ work }: Engine): Promise<boolean> {
  return (await work?.())?.merges_by_itself === true;
}

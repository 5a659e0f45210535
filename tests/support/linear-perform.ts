import type { Task } from '#contract/task.ts';
import type { Workflow } from '#contract/workflow.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { claimNext, claimTask, closeTask, releaseTask, reopenTask } from '#engine/change-task.ts';
import type { Engine } from '#engine/engine.ts';
import { transitionTask } from '#engine/transition-task.ts';
import { parseIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { TaskStore } from '#store/store.ts';
import { leaseTime, type Answer, type Facts, type Request } from './linear-history.ts';
import { withoutActions } from './temp-engine.ts';

/** What the tasks of the histories are called in a store. */
export type TaskIds = Readonly<Record<string, string>>;

export interface LinearEngine extends Engine {
  /** A server begins at this time of the steady clock. */
  begin(at: number): Promise<void>;
}

/** A request of a history on the real engine and store. */
export async function performRequest(engine: LinearEngine, request: Request, ids: TaskIds): Promise<Answer> {
  try {
    return await perform(engine, request, ids);
  } catch (error) {
    if (!isForgeError(error)) return { code: `fault: ${String(error)}`, facts: {} };
    const { version, fence, assignee, status, state } = error.details as Record<string, unknown>;
    const told = { version, fence, owner: assignee, status, state };
    // They go through JSON, which leaves out what is undefined.
    return { code: error.code, facts: told as Facts };
  }
}

async function perform(engine: LinearEngine, request: Request, ids: TaskIds): Promise<Answer> {
  const { store, by } = engine;
  if (request.op === 'grace') {
    await engine.begin(leaseTime(request));
    return { code: 'ok', facts: {} };
  }
  if (request.op === 'next') {
    const { actor, lease_ms } = request;
    const claimed = await claimNext(engine, { assignee: actor, lease_ms });
    if (claimed === undefined) return { code: 'nothing_ready', facts: {} };
    const task = Object.keys(ids).find((name) => ids[name] === claimed.id) ?? claimed.id;
    return { code: 'ok', facts: { ...factsOf(claimed), fence: claimed.fence, task } };
  }
  const id = ids[request.task] ?? '';
  const done = (task: Task, more: Facts = {}): Answer => ({
    code: 'ok',
    facts: { ...factsOf(task), ...more },
  });
  switch (request.op) {
    case 'claim': {
      const { actor: assignee, force, lease_ms } = request;
      const claim = await claimTask(engine, { id, assignee, force, lease_ms });
      return claim.outcome === 'claimed'
        ? done(claim.task, { fence: claim.fence })
        : { code: claim.outcome, facts: factsOf(claim.task) };
    }
    case 'renew': {
      const { expires_at } = await store.renewLease({ id, fence: request.fence }, by);
      return { code: 'ok', facts: { expires_at: parseIso(expires_at) ?? 0 } };
    }
    case 'release': {
      const { actor: owner, force, fence } = request;
      return done(await releaseTask(engine, { id, owner, force, fence, reason: null }));
    }
    case 'transition': {
      const { to, version, fence } = request;
      return done(await transitionTask(engine, { id, to, version, fence, reason: null }));
    }
    case 'close': {
      const { version, fence } = request;
      return done(await closeTask(engine, { id, version, fence, reason: 'finished' }));
    }
    case 'reopen':
      return done(await reopenTask(engine, { id, version: request.version, reason: null }));
    case 'read':
      return readTask(store, id);
  }
}

export async function readTask(store: TaskStore, id: string): Promise<Answer> {
  const { task, fence } = await store.readStanding(id);
  return { code: 'ok', facts: { ...factsOf(task), fence } };
}

function factsOf({ status, state, assignee, version }: Task): Facts {
  return { status, state, owner: assignee, version };
}

/** Nothing that waits for a handler, no budgets: the model of one task knows neither. */
export function plainWorkflow(): Workflow {
  const plain = withoutActions(DEFAULT_WORKFLOW, 'run_ci_steps', 'run_merge', 'cascade_on_review');
  return { ...plain, states: plain.states.map(({ gate_config: _budget, ...state }) => state) };
}

/** Microseconds of a clock that all processes of a machine share. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

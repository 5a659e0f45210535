import type { HookPhase, WorkflowHook } from '#contract/workflow.ts';
import { toTriggeredBy } from '#domain/actor.ts';
import { ACTION_PHASES, hooksFor, type ActionName, type EdgeKind } from '#domain/workflow.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { HookResult, Standing } from '#store/store.ts';
import { ACTIONS, type ActionCall, type ActionOutcome } from './actions.ts';
import type { Engine } from './engine.ts';

export interface Move {
  readonly from: string;
  readonly to: string;
  readonly edge: EdgeKind;
  /** Guards that the transaction of this move is itself. */
  readonly checked?: readonly ActionName[] | undefined;
  /** Who will have the task, where the move leads to work. */
  readonly owner?: string | undefined;
  /** The owner is an agent: guards for agents count, whoever asks. */
  readonly for_agent?: boolean | undefined;
  /** What is left to do of a move that somebody began; all of it when left out. */
  readonly left?: readonly (typeof PHASES)[number][] | undefined;
}

/**
 * Runs the guards of the state that is left. Throws guard_rejected for the first that blocks; gives what those that are
 * only logged had to say. Nothing has been changed so far, and no transaction is open: a guard may take long.
 */
export async function runGuards(engine: Engine, move: Move, standing: Standing): Promise<HookResult[]> {
  if (move.edge === 'cancel') return [];
  const results: HookResult[] = [];
  for (const call of listCalls(engine, move, { phase: 'before_exit', standing })) {
    const result = await runAction(call);
    if (result === undefined) continue;
    results.push(toResult(call, result));
    if (result.outcome !== 'failed' || (call.hook.on_failure ?? 'block') === 'log') continue;
    throw new ForgeError(
      'guard_rejected',
      `${standing.task.id} cannot go from ${move.from} to ${move.to}: ${result.message}`,
      {
        hint: `forge task show ${standing.task.id}`,
        details: { id: standing.task.id, from: move.from, to: move.to, action: call.hook.action },
      },
    );
  }
  return results;
}

const PHASES = ['on_exit', 'on_enter', 'after_enter'] as const;

export interface Aftermath {
  readonly results: readonly HookResult[];
  readonly cascade: (ActionOutcome & { outcome: 'cascaded' }) | undefined;
}

/** What follows on a move that has happened. A hook that fails and blocks ends the row of hooks, not the move. */
export async function runAftermath(engine: Engine, move: Move, standing: Standing): Promise<Aftermath> {
  const results: HookResult[] = [];
  for (const phase of move.left ?? PHASES) {
    const spent = phase === 'on_enter' ? await findSpent(engine, move, standing) : undefined;
    if (spent !== undefined) return { results: [...results, spent.result], cascade: spent.cascade };
    for (const call of listCalls(engine, move, { phase, standing })) {
      const result = await runAction(call);
      if (result === undefined) continue;
      results.push(toResult(call, result));
      if (result.outcome === 'cascaded') return { results, cascade: result };
      if (result.outcome === 'failed' && call.hook.on_failure === 'block')
        return { results, cascade: undefined };
    }
  }
  return { results, cascade: undefined };
}

/**
 * A gate whose budget is spent does nothing with a task that comes to it: no check runs, and no person is asked for a
 * word, before the task goes to the blocked state.
 */
async function findSpent(
  engine: Engine,
  move: Move,
  standing: Standing,
): Promise<{ readonly result: HookResult; readonly cascade: Aftermath['cascade'] } | undefined> {
  const calls = listCalls(engine, move, { phase: 'after_enter', standing });
  const call = calls.find(({ hook }) => hook.action === 'check_retry_budget');
  const outcome = call && (await runAction(call));
  if (call === undefined || outcome?.outcome !== 'cascaded') return undefined;
  return { result: toResult(call, outcome), cascade: outcome };
}

/** Throws not_available where the move would need something that this version cannot do: nothing passes by default. */
export async function refuseUnavailable(engine: Engine, move: Move, standing: Standing): Promise<void> {
  for (const phase of ['before_exit', 'on_exit', 'on_enter', 'after_enter'] as const) {
    if (phase === 'before_exit' && move.edge === 'cancel') continue;
    for (const call of listCalls(engine, move, { phase, standing })) {
      const action = findAction(call.hook);
      if (action !== undefined && !(await applies(call))) continue;
      if (action?.run !== undefined && (action.needs_work !== true || engine.work !== undefined)) {
        if (action.check !== undefined && engine.work !== undefined)
          await action.check(await engine.work(), call);
        continue;
      }
      const { id } = standing.task;
      throw new ForgeError(
        'not_available',
        `${id} cannot go to ${move.to}: this version has no ${call.hook.action}`,
        { hint: 'forge workflow show', details: { id, action: call.hook.action, to: move.to } },
      );
    }
  }
}

function listCalls(
  engine: Engine,
  { from, to, checked, owner, for_agent }: Move,
  { phase, standing }: { phase: HookPhase; standing: Standing },
): ActionCall[] {
  const state = phase === 'before_exit' || phase === 'on_exit' ? from : to;
  const triggered_by = toTriggeredBy(engine.by.actor);
  return hooksFor(engine.workflow, state, { phase, triggered_by, for_agent })
    .filter(({ action }) => checked?.includes(action as ActionName) !== true)
    .map((hook) => ({ engine, hook, phase, standing, from, to, owner }));
}

/** Undefined where the action has nothing to do with this move. */
async function runAction(call: ActionCall): Promise<ActionOutcome | undefined> {
  const action = findAction(call.hook);
  if (action === undefined || !(await applies(call))) return undefined;
  if (action.run === undefined)
    return { outcome: 'failed', message: `this version has no ${call.hook.action}` };
  return action.run(call);
}

async function applies(call: ActionCall): Promise<boolean> {
  return (await findAction(call.hook)?.applies?.(call)) ?? true;
}

function findAction({ action }: WorkflowHook): (typeof ACTIONS)[ActionName] | undefined {
  return Object.hasOwn(ACTION_PHASES, action) ? ACTIONS[action as ActionName] : undefined;
}

function toResult({ phase, hook }: ActionCall, result: ActionOutcome): HookResult {
  const message = result.outcome === 'cascaded' ? result.reason : result.message;
  const { outcome } = result;
  return { phase, action: hook.action, outcome, ...(message !== undefined && { message }) };
}

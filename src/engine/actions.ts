import { statusOfKind, kindOf, roleOf, type ActionName } from '#domain/workflow.ts';
import type { HookPhase, WorkflowHook } from '#contract/workflow.ts';
import type { Standing } from '#store/store.ts';
import type { Engine } from './engine.ts';

/** One hook of a move that is under way. */
export interface ActionCall {
  readonly engine: Engine;
  readonly hook: WorkflowHook;
  readonly phase: HookPhase;
  /** The task before the move for guards, after it for every other phase. */
  readonly standing: Standing;
  readonly from: string;
  readonly to: string;
  /** Who will have the task, where the move is a claim. */
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

export interface Annotation {
  readonly code: string;
  readonly message: string;
}

interface Action {
  /** Left out: always. What does not apply is skipped and leaves no result. */
  readonly applies?: (call: ActionCall) => boolean | Promise<boolean>;
  /** Left out: this version cannot do it, and a move that needs it is refused. */
  readonly run?: (call: ActionCall) => ActionOutcome | Promise<ActionOutcome>;
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
      const held = standing.task.roles?.[role] !== undefined || standing.task.assignee !== null;
      return held ? { outcome: 'passed' } : { outcome: 'failed', message: `nobody has the role ${role}` };
    },
  },
  check_retry_budget: {
    run({ engine, standing, to }) {
      const max = engine.workflow.states.get(to)?.gate_config?.max_rejections;
      const said = standing.rejections.get(to) ?? 0;
      const { blocked } = engine.workflow;
      if (max === undefined || said <= max || blocked === undefined) return { outcome: 'passed' };
      return { outcome: 'cascaded', to: blocked, ...budgetSpent(to, said, max) };
    },
  },
  cascade: { run: ({ hook, to }) => leadOn(hook, to) },
  cascade_on_review: { applies: ({ standing }) => standing.task.review_passed_at !== undefined },
  dispatch_role_agent: {
    async applies({ engine, standing, to, owner }) {
      const { roles, assignee } = standing.task;
      const holder = roles?.[roleOf(engine.workflow, to) ?? ''];
      const name = holder === undefined ? (owner ?? assignee) : 'agent' in holder ? holder.agent : null;
      return name !== null && (await engine.agents.isManaged(name));
    },
  },
  run_ci_steps: {},
  run_merge: {},
  // Without an attempt there is no workspace.
  cleanup_workspace: { applies: () => false },
  schedule_workspace_cleanup: { applies: () => false },
};

export function budgetSpent(
  gate: string,
  said: number,
  max: number,
): { reason: string; annotation: Annotation } {
  const message = `${gate} said no ${said} times; ${max} are allowed`;
  return { reason: message, annotation: { code: 'retry_budget', message } };
}

function leadsToWork({ engine, to }: ActionCall): boolean {
  const kind = kindOf(engine.workflow, to);
  return kind !== undefined && kind !== 'custom' && statusOfKind(kind) === 'in_progress';
}

function leadOn(hook: WorkflowHook, from: string): ActionOutcome {
  // Validation refuses a cascade without a target.
  const to = hook.to ?? from;
  return { outcome: 'cascaded', to, reason: `led on from ${from}` };
}

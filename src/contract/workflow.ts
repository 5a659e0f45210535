import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';

/** What a state is for. Nothing else in Forge looks at a state's name. */
export const STATE_KINDS = ['backlog', 'initial', 'active', 'gate', 'custom', 'terminal'] as const;
export const HOOK_PHASES = ['before_exit', 'on_exit', 'on_enter', 'after_enter'] as const;
export const HOOK_AUDIENCES = ['all', 'agent_only', 'user_only'] as const;
export const FAILURE_POLICIES = ['block', 'log'] as const;

const NAME = /^[a-z][a-z0-9_-]*$/;
export const StateName = z
  .string()
  .max(LIMITS.state_name_length)
  .regex(NAME, 'a name is made of lower-case letters, digits, _ and -, and begins with a letter');

export const WorkflowHook = z.strictObject({
  /** One of the actions that this version knows; see docs/workflow.md. */
  action: z.string().min(1).max(LIMITS.state_name_length),
  /** Whose moves it runs for. Left out: everybody's. */
  audience: z.enum(HOOK_AUDIENCES).optional(),
  /** Left out: a guard (before_exit) blocks, everything else is only logged. */
  on_failure: z.enum(FAILURE_POLICIES).optional(),
  /** For actions that lead on: the state to go to. */
  to: StateName.optional(),
});
export type WorkflowHook = z.output<typeof WorkflowHook>;

const hooks = z.array(WorkflowHook).max(LIMITS.hooks_per_phase).optional();

export const WorkflowState = z.strictObject({
  name: StateName,
  kind: z.enum(STATE_KINDS),
  /** The role that works in this state. An active state without one binds the role `assignee`. */
  role: StateName.optional(),
  /** Where a task may go from here. */
  next: z.array(StateName).max(LIMITS.workflow_states).optional(),
  gate_config: z
    .strictObject({ max_rejections: z.int().min(0).max(LIMITS.max_rejections).optional() })
    .optional(),
  before_exit: hooks,
  on_exit: hooks,
  on_enter: hooks,
  after_enter: hooks,
});
export type WorkflowState = z.output<typeof WorkflowState>;

/** The project's graph of states: `.forge/workflow.json`. */
export const Workflow = z.strictObject({
  roles: z.array(StateName).max(LIMITS.workflow_states).optional(),
  states: z.array(WorkflowState).min(1).max(LIMITS.workflow_states),
  /** Where a cancelled task goes; `cancelled` when left out. */
  cancellation_state: StateName.optional(),
  /** Where a task waits for a person; `blocked` when left out and there is such a state. */
  blocked_state: StateName.optional(),
  /** The state that each status means when nothing says more. */
  status_states: z
    .strictObject({ in_progress: StateName.optional(), closed: StateName.optional() })
    .optional(),
});
export type Workflow = z.output<typeof Workflow>;
export type StateKind = (typeof STATE_KINDS)[number];
export type HookPhase = (typeof HOOK_PHASES)[number];

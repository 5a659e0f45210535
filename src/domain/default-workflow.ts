import type { Workflow } from '#contract/workflow.ts';

/** What `{}` and a project without a workflow of its own mean. */
export const DEFAULT_WORKFLOW: Workflow = {
  roles: ['planner', 'coder', 'reviewer'],
  states: [
    { name: 'backlog', kind: 'backlog', next: ['todo'] },
    {
      name: 'todo',
      kind: 'initial',
      next: ['planning', 'in_progress', 'backlog'],
      before_exit: [{ action: 'dependency_gate', audience: 'agent_only', on_failure: 'block' }],
    },
    {
      name: 'planning',
      kind: 'active',
      role: 'planner',
      next: ['in_progress', 'todo'],
      on_enter: [{ action: 'dispatch_role_agent' }],
    },
    {
      name: 'in_progress',
      kind: 'active',
      role: 'coder',
      next: ['review', 'todo'],
      on_enter: [{ action: 'dispatch_role_agent' }],
    },
    {
      name: 'review',
      kind: 'gate',
      role: 'reviewer',
      next: ['merging', 'in_progress'],
      gate_config: { max_rejections: 3 },
      on_enter: [{ action: 'run_ci_steps', on_failure: 'block' }],
      after_enter: [{ action: 'cascade_on_review', to: 'merging' }],
    },
    {
      name: 'merging',
      kind: 'gate',
      next: ['done', 'merge_failed'],
      gate_config: { max_rejections: 1 },
      on_enter: [{ action: 'run_merge', on_failure: 'block' }],
    },
    { name: 'merge_failed', kind: 'custom', next: ['in_progress', 'merging', 'todo'] },
    {
      name: 'blocked',
      kind: 'custom',
      next: ['todo', 'in_progress'],
      before_exit: [{ action: 'dependency_gate', audience: 'agent_only', on_failure: 'block' }],
    },
    { name: 'done', kind: 'terminal', on_enter: [{ action: 'cleanup_workspace' }] },
    { name: 'cancelled', kind: 'terminal', on_enter: [{ action: 'schedule_workspace_cleanup' }] },
  ],
  cancellation_state: 'cancelled',
  blocked_state: 'blocked',
  status_states: { in_progress: 'in_progress', closed: 'done' },
};

import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { Review } from './attempt.ts';
import { declare } from './declare.ts';
import { CloseReason, Fence, Identity, RoleHolder, Task, TaskRef, TaskWait, Transition } from './task.ts';
import { StateName } from './workflow.ts';

const id = TaskRef.describe('Task id');
const version = z.int().min(1).optional().describe('Refuse unless the task still has this version');

/** Open blockers of a task that a person moved to work all the same. */
const WaitsFor = z.array(z.string()).optional();

export const transitionTask = declare({
  name: 'task.transition',
  summary: 'Move a task to another state of its workflow',
  about:
    'The workflow says where a task may go; cancelling and blocking are always possible before it is closed. Guards may refuse the move with guard_rejected. The answer is the task after the move and after all that followed on it; a move that ran the checks of a gate answers with the task and its review. An agent cannot end the claim of another by it; a person is told whose it was (`former_owner`), and, where the workflow lets people begin a task that waits, for which tasks (`waits_for`). A closed task has one way out: `forge task reopen <id>`.',
  input: z.object({
    id,
    state: StateName.describe('The state to go to; see forge workflow show'),
    reason: CloseReason.optional().describe('Why, for the log'),
    version,
    fence: Fence,
  }),
  output: z.union([
    z.object({ task: Task, review: Review, wait: TaskWait.optional(), waits_for: WaitsFor }),
    Task.extend({ wait: TaskWait.optional(), waits_for: WaitsFor }),
  ]),
  errors: [
    'not_found',
    'ambiguous_id',
    'version_conflict',
    'fence_conflict',
    'claim_conflict',
    'role_conflict',
    'state_invalid',
    'guard_rejected',
    'agent_paused',
    'project_paused',
    'permission_denied',
    'not_available',
    'untrusted',
  ],
  access: 'task',
  needs: 'project',
  cli: {
    path: ['task', 'transition'],
    args: ['id', 'state'],
    examples: [
      'forge task transition fg-a3f8 in_progress',
      'forge task transition fg-a3f8 blocked --reason "needs a decision about the schema"',
      'forge task transition fg-a3f8 backlog --version 1',
    ],
  },
  http: { method: 'post', path: '/tasks/{id}/transition', aliases: { status: 'state' }, long: true },
  mcp: {
    tool: 'forge_transition',
    aliases: ['forge_transition_task'],
    fields: ['id', 'state', 'reason', 'version', 'fence'],
  },
});

export const cancelTask = declare({
  name: 'task.cancel',
  summary: 'Cancel a task, whatever state it is in',
  about: 'Guards are not asked. `forge task reopen` brings it back.',
  input: z.object({ id, reason: CloseReason.optional().describe('Why, for the log'), version, fence: Fence }),
  output: Task,
  errors: [
    'not_found',
    'ambiguous_id',
    'version_conflict',
    'fence_conflict',
    'claim_conflict',
    'state_invalid',
    'permission_denied',
  ],
  access: 'task',
  needs: 'project',
  cli: {
    path: ['task', 'cancel'],
    args: ['id'],
    examples: ['forge task cancel fg-a3f8 --reason "superseded by fg-d4e5"'],
  },
  http: { method: 'post', path: '/tasks/{id}/cancel' },
  mcp: { tool: 'forge_cancel', aliases: ['forge_cancel_task'], fields: ['id', 'reason', 'fence'] },
});

export const archiveTask = declare({
  name: 'task.archive',
  summary: 'Hide a task from lists without deleting it',
  about:
    'Lists show it with --include-archived, and `forge task unarchive` brings it back. It is not offered to anybody.',
  input: z.object({ id, version, fence: Fence }),
  output: Task,
  errors: ['not_found', 'ambiguous_id', 'version_conflict', 'fence_conflict', 'claim_conflict'],
  access: 'task',
  needs: 'project',
  cli: { path: ['task', 'archive'], args: ['id'], examples: ['forge task archive fg-a3f8'] },
  http: { method: 'post', path: '/tasks/{id}/archive' },
});

export const unarchiveTask = declare({
  name: 'task.unarchive',
  summary: 'Show an archived task again',
  input: z.object({ id, version, fence: Fence }),
  output: Task,
  errors: ['not_found', 'ambiguous_id', 'version_conflict', 'fence_conflict'],
  access: 'task',
  needs: 'project',
  cli: { path: ['task', 'unarchive'], args: ['id'], examples: ['forge task unarchive fg-a3f8'] },
  http: { method: 'post', path: '/tasks/{id}/unarchive' },
});

export const assignRole = declare({
  name: 'task.assign',
  summary: 'Give a role on a task to an agent or a person',
  about:
    'For people only. Reassigning the role that works on a claimed task takes the task back to the queue, and whoever has the role now may claim it; every other role changes nothing else. Without --agent or --user the role is free again.',
  input: z.object({
    id,
    role: StateName.describe('One of the roles of the workflow'),
    agent: Identity.nullable().optional().describe('The agent that has the role'),
    user: Identity.nullable().optional().describe('The person who has it'),
    reset_worktree: z.boolean().optional().describe('Drop uncommitted edits of the attempt'),
    reset_workspace: z.boolean().optional().describe('Begin again from the base branch'),
    version,
    fence: Fence,
  }),
  output: Task,
  errors: [
    'not_found',
    'ambiguous_id',
    'version_conflict',
    'fence_conflict',
    'state_invalid',
    'permission_denied',
    'not_available',
  ],
  access: 'task',
  needs: 'project',
  cli: {
    path: ['task', 'assign'],
    args: ['id', 'role'],
    flags: { agent: { placeholder: 'identity' }, user: { placeholder: 'handle' } },
    examples: [
      'forge task assign fg-a3f8 reviewer --user ann',
      'forge task assign fg-a3f8 coder --agent worker-2',
      'forge task assign fg-a3f8 reviewer',
    ],
  },
  http: {
    method: 'post',
    path: '/tasks/{id}/roles/{role}',
    aliases: { agent_id: 'agent', user_handle: 'user' },
  },
});

export const taskRoles = declare({
  name: 'task.roles',
  summary: 'Who has which role on a task',
  input: z.object({ id }),
  output: z.array(
    z.object({
      role: z.string(),
      holder: RoleHolder.nullable(),
      /** `claim`: by claiming it; `assigned`: somebody said so. */
      from: z.enum(['claim', 'assigned']).nullable(),
    }),
  ),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  cli: { path: ['task', 'roles'], args: ['id'], examples: ['forge task roles fg-a3f8'] },
  http: { method: 'get', path: '/tasks/{id}/roles' },
});

export const taskTransitions = declare({
  name: 'task.transitions',
  summary: 'Every move of a task: from where to where, who, why, and what the hooks gave',
  input: z.object({
    id,
    limit: z.int().min(1).max(LIMITS.list_limit).optional().describe('Only the newest moves'),
  }),
  output: z.array(Transition),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  cli: { path: ['task', 'transitions'], args: ['id'], examples: ['forge task transitions fg-a3f8 --json'] },
  http: { method: 'get', path: '/tasks/{id}/transitions' },
});

export const taskHeartbeat = declare({
  name: 'task.heartbeat',
  summary: 'Say that the holder of a leased claim is still there',
  input: z.object({ id, fence: z.int().min(0).describe('The number of the claim') }),
  output: z.object({ id: z.string(), expires_at: z.string() }),
  errors: ['not_found', 'ambiguous_id', 'fence_conflict', 'state_invalid'],
  access: 'task',
  needs: 'project',
  cli: {
    path: ['task', 'heartbeat'],
    args: ['id'],
    examples: ['forge task heartbeat fg-a3f8 --fence 1'],
  },
  http: { method: 'post', path: '/tasks/{id}/heartbeat' },
});

const Pause = z.object({ project: z.string(), paused_at: z.string().nullable() });

export const pauseProject = declare({
  name: 'project.pause',
  summary: 'Let no agent claim here until it is resumed',
  about: 'People may still claim, and agents go on with what they have.',
  input: z.object({}),
  output: Pause,
  errors: [],
  access: 'admin',
  needs: 'project',
  cli: { path: ['project', 'pause'], examples: ['forge project pause'] },
  http: { method: 'post', path: '/projects/{project}/pause' },
});

export const resumeProject = declare({
  name: 'project.resume',
  summary: 'Let agents claim again',
  input: z.object({}),
  output: Pause,
  errors: [],
  access: 'admin',
  needs: 'project',
  cli: { path: ['project', 'resume'], examples: ['forge project resume'] },
  http: { method: 'post', path: '/projects/{project}/resume' },
});

import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { CloseReason, Fence, Identity, Label, Metadata, Task, TaskRef, TaskType } from './task.ts';

export const claimTask = declare({
  name: 'task.claim',
  summary: 'Claim a task, or with --next the first ready one',
  about:
    'Exactly one of many claims of a task succeeds; the others get claim_conflict and exit code 4. A task with open blockers is refused unless --force. The answer holds the fence number of the claim.',
  input: z.object({
    id: TaskRef.optional().describe('Task id; leave it out with --next'),
    next: z.boolean().optional().describe('Pick the first ready task and claim it in one step'),
    type: TaskType.optional().describe('With --next: only this kind of task'),
    label: Label.optional().describe('With --next: only tasks with this label'),
    assignee: Identity.optional().describe('Claim for this identity instead of the actor'),
    agent_id: Identity.optional().describe('The same for a registered agent; a name that is none is refused'),
    force: z
      .boolean()
      .optional()
      .describe(
        'Take it from its owner, or in spite of open blockers or its role; a person also what is parked or archived; logged',
      ),
    lease: z
      .int()
      .min(LIMITS.lease_min_ms / 1000)
      .max(LIMITS.lease_max_ms / 1000)
      .optional()
      .describe('Seconds after which the claim ends unless `forge task heartbeat` renews it'),
    overrides: Metadata.nullable()
      .optional()
      .describe('What this run of a managed agent does differently from its profile'),
    fence: Fence,
  }),
  output: Task.extend({ claimed: z.literal(true), fence: z.int() }),
  errors: [
    'not_found',
    'ambiguous_id',
    'claim_conflict',
    'role_conflict',
    'agent_paused',
    'untrusted',
    'project_paused',
    'guard_rejected',
    'not_available',
    'dependency_gate',
    'nothing_ready',
    'state_invalid',
    'fence_conflict',
    'permission_denied',
  ],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks/{id}/claim' },
  cli: {
    path: ['task', 'claim'],
    alias: ['claim'],
    args: ['id'],
    flags: {
      assignee: { placeholder: 'identity' },
      agent_id: { flag: 'agent', placeholder: 'name' },
      lease: { placeholder: 'seconds' },
      overrides: { flag: 'override', placeholder: 'key=value' },
    },
    examples: [
      'forge claim fg-a3f8',
      'forge claim --next --type bug --json',
      'FORGE_ACTOR=worker-1 forge claim --next --lease 60',
    ],
  },
  mcp: {
    tool: 'forge_claim',
    aliases: ['forge_claim_task'],
    description: 'Claim a task by id, or with next the first ready one. claim_conflict: somebody was faster',
    fields: ['id', 'next', 'type', 'label', 'fence'],
  },
});

export const releaseTask = declare({
  name: 'task.release',
  summary: 'Give a claimed task back to the queue',
  input: z.object({
    id: TaskRef.describe('Task id'),
    reason: CloseReason.optional().describe('Why, for the history'),
    force: z.boolean().optional().describe("Release somebody else's claim"),
    fence: Fence,
  }),
  output: Task,
  errors: ['not_found', 'ambiguous_id', 'claim_conflict', 'fence_conflict', 'state_invalid'],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks/{id}/release' },
  cli: {
    path: ['task', 'release'],
    alias: ['release'],
    args: ['id'],
    examples: ['forge release fg-a3f8 --reason "Needs a database I do not have"'],
  },
  mcp: { tool: 'forge_release', fields: ['id', 'reason', 'fence'] },
});

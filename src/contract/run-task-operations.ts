import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { Attempt, Merge, Review, Run } from './attempt.ts';
import { declare } from './declare.ts';
import { Identity, Task, TaskRef } from './task.ts';

/** What became of one task. */
export const WorkedTask = z.object({
  task: Task,
  attempt: Attempt.nullable(),
  runs: z.array(Run),
  /** The last one of the attempt. */
  review: Review.nullable(),
  merge: Merge.nullable(),
  /** It got where it was to: through its review, or onto its target with --merge. */
  reached: z.boolean(),
});
export type WorkedTask = z.output<typeof WorkedTask>;

export const runTasks = declare({
  name: 'run.start',
  summary: 'Let an agent work on tasks, to the end of their review',
  about:
    'Each task is claimed for the agent and gets a worktree of its own; the agent works there, its changes are committed, and the checks run. With --merge what passed is merged. Nothing in your checkout changes before that. Exit 0 only if every task got there. Ctrl-C ends the agents.',
  input: z.object({
    ids: z.array(TaskRef).max(LIMITS.batch_tasks).describe('The tasks'),
    agent: Identity.describe('Who works; `forge agent list` shows them'),
    merge: z.boolean().optional().describe('Merge what passed its review'),
    max: z.int().min(1).max(LIMITS.scheduler_max).optional().describe('At most so many at once'),
  }),
  output: z.array(WorkedTask),
  errors: [
    'not_found',
    'ambiguous_id',
    'claim_conflict',
    'dependency_gate',
    'state_invalid',
    'agent_paused',
    'project_paused',
    'role_conflict',
    'untrusted',
  ],
  access: 'exec',
  needs: 'project',
  local: true,
  cli: {
    path: ['run'],
    args: ['ids'],
    flags: { agent: { placeholder: 'name' } },
    examples: [
      'forge run fg-a3f8 --agent claude',
      'forge run fg-a3f8 fg-b2c1 --agent worker-1 --merge --json',
    ],
  },
});

export const startAttempt = declare({
  name: 'attempt.start',
  summary: 'Claim a task for an agent and start it, without waiting for its end',
  about:
    'Only a server stays to watch what it starts: `forge --server <url> attempt start`. In a terminal `forge run` does the same and waits.',
  input: z.object({
    id: TaskRef.describe('Task id'),
    agent: Identity.describe('The agent, or an executor that one of them has: claude, codex …'),
  }),
  output: z.object({ attempt_id: z.string(), run_id: z.string(), attempt: Attempt, task: Task }),
  errors: [
    'not_found',
    'ambiguous_id',
    'claim_conflict',
    'dependency_gate',
    'state_invalid',
    'agent_paused',
    'project_paused',
    'role_conflict',
    'not_available',
    'guard_rejected',
  ],
  access: 'task',
  needs: 'project',
  cli: {
    path: ['attempt', 'start'],
    args: ['id'],
    flags: { agent: { placeholder: 'name' } },
    examples: ['forge attempt start fg-a3f8 --agent claude'],
  },
  http: {
    method: 'post',
    path: '/tasks/{id}/attempts',
    ok: 201,
    aliases: { executor: 'agent', agent_id: 'agent' },
  },
});

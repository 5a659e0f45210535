import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { Attempt, AttemptView, Merge, PickRule, Review, Run } from './attempt.ts';
import { declare } from './declare.ts';
import { WorkRef } from './run-operations.ts';
import { Fence, Identity, Task, TaskRef, TaskWait } from './task.ts';

/** What became of one task. */
export const WorkedTask = z.object({
  task: Task,
  /** Null where there is none, and where none of several was picked yet. */
  attempt: Attempt.nullable(),
  /** Of the attempt; of all of them where none was picked yet. */
  runs: z.array(Run),
  /** The last one of the attempt. */
  review: Review.nullable(),
  merge: Merge.nullable(),
  /** All that were made, where there was more than one. */
  attempts: z.array(AttemptView),
  /** It got where it was to: through its review, or onto its target with --merge. */
  reached: z.boolean(),
  /** Null where it waits for no person. */
  wait: TaskWait.nullable(),
});
export type WorkedTask = z.output<typeof WorkedTask>;

/** Several attempts at one task. */
const side = {
  attempts: z
    .int()
    .min(1)
    .max(LIMITS.side_attempts)
    .optional()
    .describe('Work on each task so often at once (default: once for each agent)'),
  pick: PickRule.optional().describe('Who decides between the attempts (default: what the settings say)'),
};

export const runTasks = declare({
  name: 'run.start',
  summary: 'Let an agent work on tasks, to the end of their review',
  about:
    'Each task is claimed for the agent and gets a worktree of its own; the agent works there, its changes are committed, and the checks run. With --merge what passed is merged, and what stood in its merge is taken up again; for that no --agent is needed. Nothing in your checkout changes before that. With several agents, or --attempts, each task is worked on so often at once, by the agents in turn; the checks run on each, and then one is picked: by --pick, or by attempts.pick in the settings. Exit 0 only if every task got there. Ctrl-C ends the agents.',
  input: z.object({
    ids: z.array(TaskRef).max(LIMITS.batch_tasks).describe('The tasks'),
    agents: z
      .array(Identity)
      .max(LIMITS.side_attempts)
      .optional()
      .describe(
        'Who works; `forge agent list` shows them; several make an attempt each. Left out for what passed or waits for its merge',
      ),
    attempts: side.attempts,
    pick: side.pick,
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
    'permission_denied',
    'untrusted',
    'usage',
  ],
  access: 'exec',
  needs: 'project',
  local: true,
  cli: {
    path: ['run'],
    args: ['ids'],
    flags: { agents: { flag: 'agent', placeholder: 'name' } },
    examples: [
      'forge run fg-a3f8 --agent claude',
      'forge run fg-a3f8 fg-b2c1 --agent worker-1 --merge --json',
      'forge run fg-a3f8 --agent claude --agent worker-1 --pick smallest_green',
      'forge run fg-a3f8 --merge',
    ],
  },
});

export const startAttempt = declare({
  name: 'attempt.start',
  summary: 'Claim a task for an agent and start it, without waiting for its end',
  about:
    'Only a server stays to watch what it starts: `forge --server <url> attempt start <id>`. In a terminal `forge run` does the same and waits.',
  input: z.object({
    id: TaskRef.describe('Task id'),
    agents: z
      .array(Identity)
      .max(LIMITS.side_attempts)
      .optional()
      .describe(
        'The agent, or an executor that one of them has: claude, codex …; several make an attempt each',
      ),
    agent: Identity.optional().describe('The same for one'),
    attempts: side.attempts,
    pick: side.pick,
    fence: Fence,
  }),
  output: z.object({
    attempt_id: z.string(),
    run_id: z.string(),
    attempt: Attempt,
    task: Task,
    /** All that are unfinished, the first among them. */
    attempts: z.array(Attempt),
  }),
  errors: [
    'not_found',
    'ambiguous_id',
    'claim_conflict',
    'dependency_gate',
    'state_invalid',
    'untrusted',
    'agent_paused',
    'project_paused',
    'role_conflict',
    'permission_denied',
    'not_available',
    'guard_rejected',
    'fence_conflict',
    'invalid_input',
  ],
  access: 'exec',
  needs: 'project',
  cli: {
    path: ['attempt', 'start'],
    args: ['id'],
    flags: {
      agents: { flag: 'agent', placeholder: 'name' },
      agent: { flag: 'executor', placeholder: 'name' },
    },
    examples: ['forge attempt start fg-a3f8 --agent claude'],
  },
  http: {
    method: 'post',
    path: '/tasks/{id}/attempts',
    ok: 201,
    aliases: { executor: 'agent', agent_id: 'agent' },
  },
});

export const pickAttempt = declare({
  name: 'attempt.pick',
  summary: 'Go on with one of several attempts at a task; the others are archived',
  about:
    'Runs of the others are stopped, and what they have not committed goes to rescue refs; their worktrees go after workspace.cleanup_hours, or when the task is done. A task that was being worked on goes on to its review, as after any run; with --merge what passes is merged.',
  input: z.object({
    attempt: WorkRef.describe('Attempt id, or the beginning of it'),
    reason: z
      .string()
      .max(LIMITS.close_reason_length)
      .regex(/^(?!\s*$)[^\u0000]*$/, 'a reason is not blank and holds no NUL character')
      .optional()
      .describe('Why this one'),
    merge: z.boolean().optional().describe('Merge it when it has passed its review'),
    fence: Fence,
  }),
  output: WorkedTask,
  errors: [
    'not_found',
    'ambiguous_id',
    'state_invalid',
    'version_conflict',
    'fence_conflict',
    'guard_rejected',
    'permission_denied',
    'untrusted',
    'not_available',
  ],
  access: 'exec',
  needs: 'project',
  http: { method: 'post', path: '/attempts/{attempt}/pick', long: true },
  cli: {
    path: ['attempt', 'pick'],
    args: ['attempt'],
    examples: ['forge attempt pick 35a4', 'forge attempt pick 35a4 --reason "It reads best" --merge --json'],
  },
});

export const compareAttempts = declare({
  name: 'attempt.compare',
  summary:
    'Compare the attempts at a task: what became of each, and which files they changed alike or differently',
  input: z.object({
    id: TaskRef.describe('Task id'),
    all: z.boolean().optional().describe('Also those that were merged or archived'),
  }),
  output: z.object({
    task_id: z.string(),
    attempts: z.array(AttemptView),
    files: z.array(
      z.object({
        path: z.string(),
        /** By the numbers of the attempts; those that left the file alone are not there. */
        changed: z.array(
          z.object({ number: z.int(), insertions: z.int().nullable(), deletions: z.int().nullable() }),
        ),
        /** All of them changed it, and it holds the same in each. */
        same: z.boolean(),
      }),
    ),
  }),
  errors: ['not_found', 'ambiguous_id', 'permission_denied'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}/attempts/compare' },
  cli: {
    path: ['attempt', 'compare'],
    args: ['id'],
    examples: ['forge attempt compare fg-a3f8', 'forge attempt compare fg-a3f8 --all --json'],
  },
});

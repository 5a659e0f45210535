import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { Approval, Attempt, AttemptView, Review, Run, Verdict } from './attempt.ts';
import { declare } from './declare.ts';
import { Fence, CloseReason, Identity, Task, TaskRef, TaskWait } from './task.ts';
import { LogLine } from './transcript.ts';

/** The id of a run, an attempt or an approval: full, or shortened to any unambiguous beginning. */
export const WorkRef = z.string().min(1).max(100);
const id = WorkRef.describe('Run id, or the beginning of it');
/** Of the examples. */
const RUN = '7c1e40d2';

export const listRuns = declare({
  name: 'run.list',
  summary: 'List the runs of agents, oldest first',
  input: z.object({
    task: TaskRef.optional().describe('Only of this task'),
    attempt: WorkRef.optional().describe('Only of this attempt'),
    agent: Identity.optional().describe('Only of this agent'),
    open: z.boolean().optional().describe('Only those that have not ended'),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.list_limit)
      .optional()
      .describe('At most so many, the newest (default 50)'),
  }),
  output: z.array(Run),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/executions' },
  cli: {
    path: ['runs', 'list'],
    flags: { task: { placeholder: 'id' }, attempt: { placeholder: 'id' }, agent: { placeholder: 'name' } },
    examples: ['forge runs list', 'forge runs list --open', 'forge runs list --task fg-a3f8 --json'],
  },
});

export const RunView = Run.extend({
  attempt: Attempt,
  /** What it waits for leave to do. */
  approvals: z.array(Approval),
  /** What a person allowed for the rest of its task. */
  always: z.array(Approval),
  /** Where its log lies. */
  log: z.string(),
});

export const showRun = declare({
  name: 'run.show',
  summary: 'Show a run: how it goes, where its log lies, and what it asks leave for',
  input: z.object({ id }),
  output: RunView,
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/executions/{id}' },
  cli: {
    path: ['runs', 'show'],
    args: ['id'],
    examples: [`forge runs show ${RUN}`, `forge runs show ${RUN} --json`],
  },
});

export const runLogs = declare({
  name: 'run.logs',
  summary: "Read a run's log: what the agent said, did and asked for",
  about:
    'Lines stand from a byte offset on: 0, or the next_offset of an earlier answer. --follow stays until the run has ended and shows each line as it comes; a server answers as soon as there is one, and next_offset leads on.',
  input: z.object({
    id,
    offset: z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe('From this byte on (default 0)'),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.log_page_lines)
      .optional()
      .describe(`At most so many lines (default ${LIMITS.log_page_default})`),
    follow: z.boolean().optional().describe('Stay until the run has ended'),
  }),
  output: z.object({
    run_id: z.string(),
    lines: z.array(LogLine),
    /** Where to read on. */
    next_offset: z.int(),
    /** The run has ended and there is nothing behind next_offset. */
    ended: z.boolean(),
    state: Run.shape.state,
    outcome: Run.shape.outcome,
    /** The lines were shown one by one already. */
    followed: z.boolean(),
  }),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/executions/{id}/logs' },
  cli: {
    path: ['runs', 'logs'],
    args: ['id'],
    flags: { offset: { placeholder: 'byte' } },
    examples: [
      `forge runs logs ${RUN}`,
      `forge runs logs ${RUN} --follow`,
      `forge runs logs ${RUN} --offset 4096 --limit 100 --json`,
    ],
  },
});

export const stopRun = declare({
  name: 'run.stop',
  summary: 'Stop a run; its task stays where it is',
  about:
    'Whoever watches the run ends it with all that it started, and this waits for it. What it left stays in its worktree, uncommitted. The task keeps its state and says in error_annotation that it was stopped; `forge task cancel` gives it up.',
  input: z.object({ id }),
  output: z.object({
    run: Run,
    /** As it stands now; null where it was deleted. */
    task: Task.pick({
      id: true,
      status: true,
      state: true,
      version: true,
      error_annotation: true,
    }).nullable(),
  }),
  errors: ['not_found', 'ambiguous_id', 'state_invalid', 'wait_timeout', 'interrupted'],
  access: 'exec',
  needs: 'project',
  http: { method: 'post', path: '/executions/{id}/stop' },
  cli: { path: ['runs', 'stop'], args: ['id'], examples: [`forge runs stop ${RUN}`] },
});

const approval = WorkRef.optional().describe('Which one, where several wait; `forge runs show` lists them');
const approvalErrors = ['not_found', 'ambiguous_id', 'state_invalid', 'permission_denied'] as const;

export const approveRun = declare({
  name: 'run.approve',
  summary: 'Allow what a run asks leave for',
  about:
    'With --always the very same command is allowed for the rest of the task, with --prefix every command that begins with these words, in this run and in later ones. `forge runs show` and `forge task show` list what is allowed so, and `forge runs forget` takes it back.',
  input: z.object({
    id,
    approval,
    always: z.boolean().optional().describe('Allow the same command for the rest of the task'),
    prefix: z
      .string()
      .min(1)
      .max(LIMITS.ci_step_length)
      .optional()
      .describe('Allow every command that begins with these words for the rest of the task: "npm test"'),
  }),
  output: Approval,
  errors: approvalErrors,
  access: 'exec',
  needs: 'project',
  http: { method: 'post', path: '/executions/{id}/approve' },
  cli: {
    path: ['runs', 'approve'],
    args: ['id'],
    flags: { approval: { placeholder: 'id' }, prefix: { placeholder: 'command' } },
    examples: [
      `forge runs approve ${RUN}`,
      `forge runs approve ${RUN} --approval 9a02`,
      `forge runs approve ${RUN} --always`,
      `forge runs approve ${RUN} --prefix "npm test"`,
    ],
  },
});

export const denyRun = declare({
  name: 'run.deny',
  summary: 'Refuse what a run asks leave for',
  input: z.object({
    id,
    approval,
    reason: z
      .string()
      .max(LIMITS.close_reason_length)
      .regex(/^(?!\s*$)[^\u0000]*$/, 'a reason is not blank and holds no NUL character')
      .optional()
      .describe('Why: the agent is told'),
  }),
  output: Approval,
  errors: approvalErrors,
  access: 'exec',
  needs: 'project',
  http: { method: 'post', path: '/executions/{id}/deny' },
  cli: {
    path: ['runs', 'deny'],
    args: ['id'],
    flags: { approval: { placeholder: 'id' } },
    examples: [`forge runs deny ${RUN}`, `forge runs deny ${RUN} --reason "Use the test database"`],
  },
});

export const forgetRun = declare({
  name: 'run.forget',
  summary: 'Take back what was allowed for the rest of a task',
  about:
    'All that `forge runs approve` allowed with --always or --prefix for the task of the run, or one of them.',
  input: z.object({ id, approval: WorkRef.optional().describe('Which one; `forge runs show` lists them') }),
  output: z.array(Approval),
  errors: ['not_found', 'ambiguous_id', 'permission_denied'],
  access: 'exec',
  needs: 'project',
  http: { method: 'post', path: '/executions/{id}/forget' },
  cli: {
    path: ['runs', 'forget'],
    args: ['id'],
    flags: { approval: { placeholder: 'id' } },
    examples: [`forge runs forget ${RUN}`, `forge runs forget ${RUN} --approval 4b71`],
  },
});

export const sendToRun = declare({
  name: 'run.send',
  summary: 'Say something to the agent of a run',
  about:
    'It reaches an agent at work where its protocol allows that; else it is part of the prompt of the next run in the same worktree.',
  input: z.object({
    id,
    text: z
      .string()
      .max(LIMITS.comment_bytes)
      .regex(/^(?!\s*$)[^\u0000]*$/, 'a message is not blank and holds no NUL character')
      .describe('What it is told'),
  }),
  output: z.object({
    run_id: z.string(),
    attempt_id: z.string(),
    /** `now`: the run is at work; `next_run`: it waits for the next one. */
    reaches: z.enum(['now', 'next_run']),
  }),
  errors: ['not_found', 'ambiguous_id', 'state_invalid'],
  access: 'exec',
  needs: 'project',
  http: { method: 'post', path: '/executions/{id}/messages', ok: 201 },
  cli: {
    path: ['runs', 'send'],
    args: ['id', 'text'],
    flags: { text: { file_flag: 'text-file' } },
    examples: [
      `forge runs send ${RUN} "Leave the parser alone"`,
      `forge runs send ${RUN} --text-file - < notes.md`,
    ],
  },
});

export const listReviews = declare({
  name: 'task.reviews',
  summary: 'List the reviews of a task, oldest first, with what each check said',
  input: z.object({ id: TaskRef.describe('Task id') }),
  output: z.array(Review),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}/reviews' },
  cli: {
    path: ['task', 'reviews'],
    args: ['id'],
    examples: ['forge task reviews fg-a3f8', 'forge task reviews fg-a3f8 --json'],
  },
});

export const reviewTask = declare({
  name: 'task.review',
  summary: 'Say whether the work on a task passes its review',
  about:
    'For the holder of the role of the gate that the task waits in: a person, or an agent that Forge does not start. The checks have passed before. `pass` lets it go on to be merged, `reject` sends it back with the reason and the findings; a pass with a blocker among its findings is none. Nobody judges work of their own; --force lets another person speak for the holder, and is logged.',
  input: z.object({
    id: TaskRef.describe('Task id'),
    verdict: Verdict.shape.verdict.describe('pass or reject'),
    reason: CloseReason.optional().describe('Why; needed for reject, unless a finding says it'),
    findings: z
      .array(CloseReason)
      .max(LIMITS.verdict_findings)
      .optional()
      .describe('What was found: "blocker src/a.ts:12: it leaks"; blocker, major (default) or minor'),
    force: z.boolean().optional().describe('Speak for the holder; for people, logged'),
    version: z.int().min(1).optional().describe('Refuse unless the task still has this version'),
    fence: Fence,
  }),
  output: z.object({ task: Task, review: Review, wait: TaskWait.optional() }),
  errors: [
    'not_found',
    'ambiguous_id',
    'version_conflict',
    'fence_conflict',
    'state_invalid',
    'permission_denied',
    'guard_rejected',
    'not_available',
    'untrusted',
  ],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks/{id}/verdict', long: true },
  cli: {
    path: ['task', 'review'],
    alias: ['review'],
    args: ['id', 'verdict'],
    flags: { findings: { flag: 'finding', placeholder: 'text' } },
    examples: [
      'forge review fg-a3f8 pass',
      'forge review fg-a3f8 reject --reason "the limit is read once" --finding "major src/limit.ts:12: read it again"',
      'forge review fg-a3f8 pass --force --reason "ann is away"',
    ],
  },
  mcp: {
    tool: 'forge_review',
    fields: ['id', 'verdict', 'reason', 'findings', 'fence'],
    description:
      'Give the verdict of the reviewer on a task that waits for it: pass, or reject with a reason',
  },
});

export const listAttempts = declare({
  name: 'task.attempts',
  summary: 'List the attempts at a task, oldest first, with what became of each',
  input: z.object({ id: TaskRef.describe('Task id') }),
  output: z.array(AttemptView),
  errors: ['not_found', 'ambiguous_id', 'permission_denied'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}/attempts' },
  cli: {
    path: ['task', 'attempts'],
    args: ['id'],
    examples: ['forge task attempts fg-a3f8', 'forge task attempts fg-a3f8 --json'],
  },
});

import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';

export const STATUSES = ['open', 'in_progress', 'closed'] as const;
export const TASK_TYPES = ['task', 'bug', 'feature', 'epic', 'message'] as const;
export const DEPENDENCY_TYPES = ['blocks', 'related', 'discovered-from'] as const;
/** 0 is the most urgent; the position is the number. */
export const PRIORITY_NAMES = ['critical', 'high', 'medium', 'low', 'backlog'] as const;

export const Status = z.enum(STATUSES);
export const TaskType = z.enum(TASK_TYPES);
export const DependencyType = z.enum(DEPENDENCY_TYPES);
export const Priority = z.int().min(0).max(4);
export type Status = z.output<typeof Status>;
export type TaskType = z.output<typeof TaskType>;
export type DependencyType = z.output<typeof DependencyType>;

/**
 * A title becomes the subject of commits, where every terminal of every clone shows it: no line breaks, no controls
 * but a tab, and none of the marks that show text in another order.
 */
const ONE_LINE = /^(?!\s*$)[^\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]*$/;
/** No U+0000 in any text: no line-based tool and no other database can hold it. */
const NO_NUL = /^[^\u0000]*$/;
const IDENTITY = /^[^\s\u0000-\u001f\u007f]([^\u0000-\u001f\u007f]*[^\s\u0000-\u001f\u007f])?$/;

export const Title = z
  .string()
  .max(LIMITS.title_length, `a title has at most ${LIMITS.title_length} characters`)
  .regex(ONE_LINE, 'a title is one line and not blank, without control characters');
export const Description = z
  .string()
  .max(LIMITS.description_bytes)
  .regex(NO_NUL, 'the text holds a NUL character');
export const Identity = z
  .string()
  .max(LIMITS.identity_length)
  .regex(IDENTITY, 'an identity is one line without spaces around it');
export const Label = z
  .string()
  .max(LIMITS.label_length)
  .regex(IDENTITY, 'a label is one line without spaces around it');
export const CloseReason = z
  .string()
  .max(LIMITS.close_reason_length)
  .regex(/^(?!\s*$)[^\u0000]*$/, 'a reason is not blank and holds no NUL character');
export const CommentBody = z
  .string()
  .max(LIMITS.comment_bytes)
  .regex(/^(?!\s*$)[^\u0000]*$/, 'a comment is not blank and holds no NUL character');
/** Full or shortened to any unambiguous beginning, with or without the project's prefix. */
export const TaskRef = z.string().min(1).max(80);
/** What a holder shows with every write, so that one whose claim is over changes nothing any more. */
export const Fence = z
  .int()
  .min(0)
  .optional()
  .describe('Refuse unless this is still the number of the current claim');
export const GithubIssue = z.int().min(1).max(Number.MAX_SAFE_INTEGER);
export const Metadata = z.record(z.string(), z.unknown());

export const TaskDependency = z.object({ id: z.string(), type: DependencyType });
export type TaskDependency = z.output<typeof TaskDependency>;

/** Who holds a role on a task: an agent, or a person by their handle. */
export const RoleHolder = z.union([z.strictObject({ agent: Identity }), z.strictObject({ user: Identity })]);
export type RoleHolder = z.output<typeof RoleHolder>;

const CiSteps = z
  .array(
    z
      .string()
      .max(LIMITS.ci_step_length)
      .regex(/^(?!\s*$)[^\u0000]*$/, 'a step is a command: not blank, without a NUL character'),
  )
  .max(LIMITS.ci_steps);

/** What a task must pass in review. */
export const ReviewConfig = z.strictObject({
  ci_steps: CiSteps.optional(),
  review_prompt: Description.optional(),
});
export type ReviewConfig = z.output<typeof ReviewConfig>;

/** A change of it: what is left out stays, null takes away. */
export const ReviewConfigChange = z.strictObject({
  ci_steps: CiSteps.nullable()
    .optional()
    .describe('A shell command that must succeed in review; repeats; "none" leaves it to the project'),
  review_prompt: Description.nullable()
    .optional()
    .describe('What the reviewer is told besides; "none" clears it'),
});
export type ReviewConfigChange = z.output<typeof ReviewConfigChange>;

/** Why a task waits for a person. */
export const ErrorAnnotation = z.object({ code: z.string(), message: z.string(), at: z.string() });
export type ErrorAnnotation = z.output<typeof ErrorAnnotation>;

/** The task on the wire, in every answer of every surface. */
export const Task = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  status: Status,
  state: z.string(),
  close_reason: z.string().optional(),
  priority: Priority,
  type: TaskType,
  assignee: z.string().nullable(),
  parent_id: z.string().nullable(),
  dependencies: z.array(TaskDependency),
  labels: z.array(z.string()),
  github_issue: z.number().nullable(),
  created_at: z.string(),
  created_by: z.string(),
  updated_at: z.string(),
  closed_at: z.string().nullable(),
  metadata: Metadata,
  version: z.int(),
  /** Only where somebody was assigned. */
  roles: z.record(z.string(), RoleHolder).optional(),
  review_config: ReviewConfig.optional(),
  review_passed_at: z.string().optional(),
  error_annotation: ErrorAnnotation.optional(),
  archived_at: z.string().optional(),
  /** Only in the answer to a write that ended or took the claim of another: whose it was. */
  former_owner: z.string().optional(),
});
export type Task = z.output<typeof Task>;

export const TaskSummary = z.object({
  id: z.string(),
  title: z.string(),
  status: Status,
  state: z.string(),
  priority: Priority,
  type: TaskType,
  assignee: z.string().nullable(),
});
export type TaskSummary = z.output<typeof TaskSummary>;

export const ResolvedDependency = z.object({
  id: z.string(),
  type: DependencyType,
  /** Null where the other task is in neither this nor another registered project. */
  resolved: z
    .object({
      title: z.string(),
      status: Status,
      state: z.string(),
      priority: Priority,
      assignee: z.string().nullable(),
    })
    .nullable(),
});
export type ResolvedDependency = z.output<typeof ResolvedDependency>;

export const Comment = z.object({
  id: z.string(),
  author: z.string(),
  body: z.string(),
  reply_to: z.string().nullable(),
  created_at: z.string(),
});
export type Comment = z.output<typeof Comment>;

/** What its moves have counted so far. */
export const TaskCounters = z.object({
  attempts: z.int(),
  reviews: z.int(),
  /** How often a gate said no. */
  rejections: z.int(),
});
export type TaskCounters = z.output<typeof TaskCounters>;

/** Why a task waits for a person, and what that person types; the same in the inbox. */
export const TaskWait = z.object({ message: z.string(), command: z.string() });

/** `task show`: the task with everything around it. */
export const TaskView = Task.extend({
  dependencies: z.array(ResolvedDependency),
  dependents: z.array(ResolvedDependency),
  /** How many more there are than the first 1,000; the same for the subtasks. */
  dependents_more: z.int().optional(),
  subtasks: z.array(TaskSummary),
  subtasks_more: z.int().optional(),
  child_count: z.int(),
  closed_child_count: z.int(),
  comments: z.array(Comment),
  open_blockers: z.int(),
  ready: z.boolean(),
  counters: TaskCounters,
  /** Only where it waits for a person. */
  wait: TaskWait.optional(),
  /** Where a task that waits for a person can go on; only where it does. */
  recovery_actions: z.array(z.object({ action: z.literal('transition'), state: z.string() })).optional(),
  /** Commands that a person allowed its agents for the rest of it; only of a task at work, where there are any. */
  always_allowed: z.array(z.string()).optional(),
});
export type TaskView = z.output<typeof TaskView>;

export const Transition = z.object({
  from_state: z.string(),
  to_state: z.string(),
  from_status: Status,
  to_status: Status,
  /** Why, in the words of whoever wanted it: a reviewer's findings, for example. */
  trigger_reason: z.string().nullable(),
  triggered_by: z.string(),
  rejection: z.boolean(),
  created_at: z.string(),
  /** What the hooks of the move gave; null where none ran, or where it was made elsewhere. */
  hook_results: z
    .array(
      z.object({
        phase: z.string(),
        action: z.string(),
        outcome: z.enum(['passed', 'failed', 'cascaded']),
        message: z.string().optional(),
      }),
    )
    .nullable(),
});
export type Transition = z.output<typeof Transition>;

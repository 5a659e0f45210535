import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { KeptUse } from './kept-use.ts';
import { SuspendedAgent } from './suspension.ts';
import {
  GithubIssue,
  Identity,
  Label,
  Priority,
  Status,
  Task,
  TaskRef,
  TaskSummary,
  TaskType,
} from './task.ts';

const limit = z.int().min(1).max(LIMITS.list_limit).optional().describe('At most this many');
const cursor = z
  .string()
  .min(1)
  .max(LIMITS.cursor_length)
  .optional()
  .describe('Go on behind the page that gave this cursor');
const state = z.string().min(1).max(60).optional().describe('Workflow state, such as todo or backlog');

/** What keeps a task from being ready; title and status are null where it is not in this project. */
const Blocker = z.object({
  id: z.string(),
  title: z.string().nullable(),
  status: Status.nullable(),
  assignee: z.string().nullable(),
});

const filters = {
  status: Status.optional().describe('open, in_progress or closed'),
  state,
  type: TaskType.optional().describe('Kind of work'),
  priority: Priority.optional().describe('0 critical to 4 backlog'),
  assignee: Identity.nullable().optional().describe('Whose; "none" for nobody\'s'),
  label: Label.optional().describe('With this label'),
  parent_id: TaskRef.nullable().optional().describe('Children of this task; "none" for top-level tasks'),
  github_issue: GithubIssue.nullable()
    .optional()
    .describe('From this GitHub issue; "none" for tasks without one'),
  include_archived: z.boolean().optional().describe('Also tasks that were archived'),
};

const filterFlags = {
  assignee: { placeholder: 'identity|none' },
  parent_id: { flag: 'parent', placeholder: 'id|none' },
  github_issue: { placeholder: 'number|none' },
} as const;

export const readyTasks = declare({
  name: 'task.ready',
  summary: 'List the tasks that can be started now',
  about:
    'Open, unassigned and without an open blocker, by priority, then age. With --assignee also the open tasks reserved for that identity. Parked tasks (state backlog) and the types in `ready.excludeTypes` of the config are left out. --sort impact puts first what the longest chain of open work waits for.',
  input: z.object({
    assignee: Identity.nullable()
      .optional()
      .describe('Also tasks reserved for this identity; "none" for unassigned only'),
    type: TaskType.optional().describe('Kind of work'),
    label: Label.optional().describe('With this label'),
    sort: z
      .enum(['priority', 'impact'])
      .optional()
      .describe('priority (default), or impact: by the chain of work it unblocks'),
    limit,
    cursor,
    explain: z.boolean().optional().describe('Say for each open task why it is or is not ready'),
  }),
  output: z.array(
    z.union([
      Task.extend({ impact: z.object({ critical_path: z.int(), unblocks: z.int() }).optional() }),
      TaskSummary.extend({
        ready: z.boolean(),
        reasons: z.array(z.string()),
        blockers: z.array(Blocker),
        /** How many more there are than the first 20. */
        blockers_more: z.int().optional(),
      }),
    ]),
  ),
  errors: [],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/ready' },
  cli: {
    path: ['ready'],
    flags: { assignee: { placeholder: 'identity' } },
    examples: [
      'forge ready',
      'forge ready --json --limit 5 --fields id,title,priority',
      'forge ready --sort impact',
      'forge ready --explain',
    ],
  },
  mcp: { tool: 'forge_ready', fields: ['type', 'label', 'sort', 'limit'] },
});

export const listTasks = declare({
  name: 'task.list',
  summary: 'List tasks by priority; closed ones only with --all, --status closed or their --state',
  input: z.object({
    ...filters,
    all: z.boolean().optional().describe('Closed tasks too'),
    sort: z
      .enum(['priority', 'created', 'updated', 'id'])
      .optional()
      .describe('priority (default), created, updated or id'),
    limit,
    cursor,
  }),
  output: z.array(Task),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks' },
  cli: {
    path: ['task', 'list'],
    flags: filterFlags,
    examples: [
      'forge task list',
      'forge task list --assignee worker-1 --status in_progress',
      'forge task list --all --json --fields id,status',
    ],
  },
  mcp: {
    tool: 'forge_list',
    aliases: ['forge_list_tasks', 'list_tasks'],
    description: 'List tasks; closed ones only with all or status closed',
    fields: ['status', 'state', 'type', 'assignee', 'label', 'parent_id', 'all', 'limit'],
  },
});

export const searchTasks = declare({
  name: 'task.search',
  summary: 'Find tasks by field and by text',
  about:
    '--query looks for the text in title and description, in upper or lower case; every character stands for itself.',
  input: z.object({
    ...filters,
    query: z.string().min(1).max(LIMITS.query_length).optional().describe('Text in title or description'),
    sort: z
      .enum(['priority', 'created', 'updated', 'id'])
      .optional()
      .describe('priority (default), created, updated or id'),
    limit,
    cursor,
  }),
  output: z.array(Task),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/search' },
  cli: {
    path: ['search'],
    flags: { ...filterFlags, query: { placeholder: 'text' } },
    examples: [
      'forge search --status open --label frontend',
      'forge search --status open --assignee none --priority 0',
      'forge search --github-issue 47',
      'forge search --query authentication --status open --json',
    ],
  },
  mcp: { tool: 'forge_search', fields: ['query', 'status', 'limit'] },
});

export const blockedTasks = declare({
  name: 'task.blocked',
  summary: 'List the open tasks that wait, and what each waits for',
  about:
    'Without a limit 1,000 of them; of each the first 20 that it waits for, and how many more there are.',
  input: z.object({ limit }),
  output: z.array(
    TaskSummary.extend({
      blockers: z.array(Blocker),
      /** How many more there are than the first 20. */
      blockers_more: z.int().optional(),
    }),
  ),
  errors: [],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/blocked' },
  cli: { path: ['blocked'], examples: ['forge blocked', 'forge blocked --json'] },
});

export const projectStats = declare({
  name: 'project.stats',
  summary: 'Count the tasks of the project',
  input: z.object({}),
  output: z.object({
    total: z.int(),
    by_status: z.record(z.string(), z.int()),
    by_state: z.record(z.string(), z.int()),
    by_type: z.record(z.string(), z.int()),
    by_priority: z.record(z.string(), z.int()),
    ready: z.int(),
    blocked: z.int(),
    parked: z.int(),
    assigned: z.array(z.object({ assignee: z.string(), in_progress: z.int(), open: z.int() })),
    closed_last_7_days: z.int(),
    deleted: z.int(),
    /** Since when agents claim nothing here; null while they may. */
    paused_at: z.string().nullable(),
  }),
  errors: [],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/projects/{project}/stats' },
  cli: { path: ['stats'], examples: ['forge stats', 'forge stats --json'] },
});

/** Something that a Forge process works on now. */
const AtWork = z.object({
  /** `start`: an agent whose run has no row yet. */
  kind: z.enum(['run', 'review', 'merge', 'start']),
  id: z.string(),
  task_id: z.string(),
  agent: z.string().nullable(),
  /** False where the process that watched it is gone and it could not be settled. */
  watched: z.boolean(),
});

export const projectStatus = declare({
  name: 'project.status',
  summary: 'Show what is at work, what waits for you, and what is ready',
  input: z.object({}),
  output: z.object({
    prefix: z.string(),
    /** Since when agents claim nothing here; null while they may. */
    paused_at: z.string().nullable(),
    /** Null while agents may be started: what is spent, and what raises it. */
    spent: z.object({ message: z.string(), command: z.string() }).nullable(),
    ready: z.int(),
    in_progress: z.int(),
    blocked: z.int(),
    closed_last_7_days: z.int(),
    at_work: z.array(AtWork),
    /** How many items the inbox has. */
    waiting: z.int(),
    /** Agents that Forge does not start for now. */
    suspended: z.array(SuspendedAgent),
    /** What has grown on this machine, and how much of it there may be; null where the settings have a fault. */
    kept: z.array(KeptUse).nullable(),
  }),
  errors: [],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/projects/{project}/overview' },
  cli: { path: ['status'], examples: ['forge status', 'forge status --json'] },
});

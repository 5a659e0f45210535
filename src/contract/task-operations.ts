import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { StateName } from './workflow.ts';
import {
  CloseReason,
  Description,
  Fence,
  GithubIssue,
  Identity,
  Label,
  Metadata,
  Priority,
  ReviewConfigChange,
  Status,
  Task,
  TaskRef,
  TaskType,
  TaskView,
  Title,
} from './task.ts';

const version = z.int().min(1).optional().describe('Refuse unless the task still has this version');
const metadata_set = Metadata.optional().describe(
  'Set a metadata key; JSON literals are read as such, @file takes the text of a file; repeats',
);
const metadataFlag = { flag: 'meta-set', placeholder: 'key=value' } as const;
const descriptionFlag = { placeholder: 'markdown', file_flag: 'description-file' } as const;
const reviewConfig = ReviewConfigChange.nullable()
  .optional()
  .describe('What review asks of it: ci_steps, a list of commands, and review_prompt');
const reviewFlags = {
  parts: {
    ci_steps: { flag: 'ci-step', placeholder: 'command' },
    review_prompt: { placeholder: 'text', file_flag: 'review-prompt-file' },
  },
} as const;
const noneHint = '"none" clears it';

export const createTask = declare({
  name: 'task.create',
  summary: 'Create a task',
  input: z.object({
    title: Title.describe('One line that says what is to be done'),
    type: TaskType.optional().describe('Kind of work (default: settings.defaultType, else task)'),
    priority: Priority.optional().describe(
      '0 critical, 1 high, 2 medium, 3 low, 4 backlog (default: settings.defaultPriority, else 2)',
    ),
    parent_id: TaskRef.nullable().optional().describe('The epic this task belongs to'),
    assignee: Identity.nullable().optional().describe('Reserve it for somebody; it stays open until claimed'),
    labels: z.array(Label).max(LIMITS.labels_per_task).optional().describe('A label; repeats'),
    github_issue: GithubIssue.nullable().optional().describe('Number of the GitHub issue it came from'),
    description: Description.optional().describe(
      'Markdown; say under "## Acceptance Criteria" when it is done',
    ),
    depends_on: z
      .array(TaskRef)
      .max(LIMITS.labels_per_task)
      .optional()
      .describe('A task that must be closed first; repeats'),
    metadata_set,
    state: StateName.optional().describe('Where it starts; backlog parks it until somebody moves it to todo'),
    review_config: reviewConfig,
  }),
  output: Task.extend({ note: z.string().optional().describe('What has to happen before it is worked on') }),
  errors: ['not_found', 'ambiguous_id', 'permission_denied'],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks', ok: 201 },
  cli: {
    path: ['task', 'create'],
    args: ['title'],
    flags: {
      parent_id: { flag: 'parent', placeholder: 'id' },
      assignee: { placeholder: 'identity' },
      labels: { flag: 'label' },
      description: descriptionFlag,
      depends_on: { placeholder: 'id' },
      metadata_set: metadataFlag,
      review_config: reviewFlags,
    },
    examples: [
      'forge task create "Add user authentication" --type feature --priority 1',
      'forge task create "Fix null pointer in parser" --type bug --priority 0 --label crash --github-issue 47',
      'forge task create "Write the JWT middleware" --parent fg-e5a2 --description-file specs/jwt.md --json',
      'forge task create "Maybe one day" --state backlog',
      'forge task create "Limit the rate" --ci-step "npm test" --ci-step "npm run lint"',
    ],
  },
  mcp: {
    tool: 'forge_create_task',
    fields: [
      'title',
      'description',
      'type',
      'priority',
      'parent_id',
      'labels',
      'depends_on',
      'review_config',
    ],
  },
});

export const showTask = declare({
  name: 'task.show',
  summary: 'Show one task with its dependencies, subtasks, comments and metadata',
  input: z.object({ id: TaskRef.describe('Task id, or any unambiguous beginning of it') }),
  output: TaskView,
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}' },
  cli: {
    path: ['task', 'show'],
    args: ['id'],
    examples: ['forge task show fg-a3f8', 'forge task show a3 --json --fields id,title,dependencies'],
  },
  mcp: { tool: 'forge_show', aliases: ['forge_get_task', 'get_task'] },
});

export const updateTask = declare({
  name: 'task.update',
  summary: 'Change fields of a task, or claim it with --status in_progress --assignee <identity>',
  about:
    'With --status in_progress and --assignee together this is the claim of the agent loop: it takes the task only if it is open and unassigned. A task that somebody has is not taken: nothing changes, the exit code is 0, and the answer shows the owner with "claimed": false. Every other reason (blockers, a role of another, a pause, a parked, archived or closed task) is an error, as of `forge claim`, the strict form.',
  input: z.object({
    id: TaskRef.describe('Task id'),
    title: Title.optional().describe('New title'),
    description: Description.optional().describe('New description, Markdown'),
    status: Status.optional().describe('Move the task; open, in_progress or closed'),
    state: StateName.optional().describe('Park an open task (backlog) or put it back in the queue (todo)'),
    reason: CloseReason.optional().describe('Why it is closed, with --status closed'),
    priority: Priority.optional().describe('0 critical to 4 backlog'),
    type: TaskType.optional().describe('Kind of work'),
    assignee: Identity.nullable().optional().describe(`Who works on it; ${noneHint}`),
    labels_add: z.array(Label).max(LIMITS.labels_per_task).optional().describe('Add a label; repeats'),
    labels_remove: z.array(Label).max(LIMITS.labels_ever).optional().describe('Remove a label; repeats'),
    parent_id: TaskRef.nullable().optional().describe(`The epic it belongs to; ${noneHint}`),
    github_issue: GithubIssue.nullable().optional().describe(`GitHub issue number; ${noneHint}`),
    metadata_set,
    metadata_unset: z
      .array(z.string().min(1))
      .max(LIMITS.metadata_keys_ever)
      .optional()
      .describe('Remove a metadata key; repeats'),
    review_config: reviewConfig,
    version,
    fence: Fence,
  }),
  output: Task.extend({ claimed: z.boolean().optional(), fence: z.int().optional() }),
  errors: [
    'not_found',
    'ambiguous_id',
    'version_conflict',
    'fence_conflict',
    'state_invalid',
    'dependency_cycle',
    'guard_rejected',
    'permission_denied',
    'agent_paused',
    'untrusted',
    'project_paused',
    'claim_conflict',
    'role_conflict',
    'dependency_gate',
    'permission_denied',
    'not_available',
  ],
  access: 'task',
  needs: 'project',
  http: { method: 'patch', path: '/tasks/{id}' },
  cli: {
    path: ['task', 'update'],
    args: ['id'],
    flags: {
      description: descriptionFlag,
      assignee: { placeholder: 'identity|none' },
      labels_add: { flag: 'label-add', placeholder: 'label' },
      labels_remove: { flag: 'label-remove', placeholder: 'label' },
      parent_id: { flag: 'parent', placeholder: 'id|none' },
      github_issue: { placeholder: 'number|none' },
      metadata_set: metadataFlag,
      metadata_unset: { flag: 'meta-unset', placeholder: 'key' },
      review_config: reviewFlags,
    },
    examples: [
      'forge task update fg-a3f8 --status in_progress --assignee worker-1',
      'forge task update fg-a3f8 --priority 0 --label-add urgent',
      'forge task update fg-a3f8 --status open --assignee none',
      'forge task update fg-a3f8 --meta-set plan_approved=true --meta-set log=@build.log',
      'forge task update fg-a3f8 --ci-step "cargo test -p api"',
    ],
  },
  mcp: {
    tool: 'forge_update',
    aliases: ['forge_update_task'],
    description: 'Change fields of a task; forge_claim takes one, forge_transition and forge_close move it',
    fields: [
      'id',
      'title',
      'description',
      'priority',
      'type',
      'labels_add',
      'labels_remove',
      'parent_id',
      'metadata_set',
      'version',
      'fence',
    ],
  },
});

export const closeTask = declare({
  name: 'task.close',
  summary: 'Close a task with a reason',
  about:
    'A reason that begins with "cancelled", "duplicate" or "wontfix" puts the task in the state cancelled, any other in done. Closing a closed task changes nothing. An epic may be closed while children of it are open; the answer names them. A task with an unfinished attempt is refused unless --force. An agent cannot close a task past a gate that has something left to say, nor one that another owns unless --force; a person is told whose it was (`former_owner`).',
  input: z.object({
    id: TaskRef.describe('Task id'),
    reason: CloseReason.describe('Why it is closed, kept word for word'),
    force: z
      .boolean()
      .optional()
      .describe("Also with an unfinished attempt, or an agent what is another's; logged"),
    version,
    fence: Fence,
  }),
  output: Task.extend({
    unblocked: z.array(z.string()),
    /** How many more there are than the first 1,000. */
    unblocked_more: z.int().optional(),
    /** Of an epic: its children that are not closed. */
    open_children: z.array(z.string()).optional(),
    /** The epic of which this was the last open child. */
    finished_epic: z.string().optional(),
  }),
  errors: [
    'not_found',
    'ambiguous_id',
    'version_conflict',
    'fence_conflict',
    'claim_conflict',
    'state_invalid',
    'guard_rejected',
    'permission_denied',
    'not_available',
  ],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks/{id}/close' },
  cli: {
    path: ['task', 'close'],
    args: ['id'],
    prompt: { field: 'reason', question: 'Why is it closed?' },
    examples: [
      'forge task close fg-a3f8 --reason "Implemented in commit abc123"',
      'forge task close fg-a3f8 --reason "cancelled: superseded by fg-d4e5"',
      'forge task close fg-a3f8 --reason duplicate:fg-c9d1',
    ],
  },
  mcp: {
    tool: 'forge_close',
    aliases: ['forge_close_task'],
    description: 'Close a task; a reason that begins with cancelled, duplicate or wontfix cancels it',
    fields: ['id', 'reason', 'fence'],
  },
});

export const reopenTask = declare({
  name: 'task.reopen',
  summary: 'Put a closed task back in the queue',
  input: z.object({
    id: TaskRef.describe('Task id'),
    reason: CloseReason.optional().describe('Why, for the history'),
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
  ],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks/{id}/reopen' },
  cli: {
    path: ['task', 'reopen'],
    args: ['id'],
    examples: ['forge task reopen fg-a3f8 --reason "The fix did not hold"'],
  },
});

export const deleteTask = declare({
  name: 'task.delete',
  summary: 'Delete a task; `forge task restore` brings it back',
  about:
    'Its children lose their parent and its dependents their edge to it. Closing is nearly always what you want.',
  input: z.object({ id: TaskRef.describe('Task id'), version, fence: Fence }),
  output: z.object({
    id: z.string(),
    title: z.string(),
    deleted_at: z.string(),
    orphaned: z.array(z.string()),
    unblocked: z.array(z.string()),
    /** Whose claim ended by it, where it was another's. */
    former_owner: z.string().optional(),
  }),
  errors: [
    'not_found',
    'ambiguous_id',
    'version_conflict',
    'fence_conflict',
    'claim_conflict',
    'permission_denied',
  ],
  access: 'task',
  needs: 'project',
  http: { method: 'delete', path: '/tasks/{id}' },
  cli: { path: ['task', 'delete'], args: ['id'], examples: ['forge task delete fg-a3f8'] },
});

export const restoreTask = declare({
  name: 'task.restore',
  summary: 'Bring a deleted task back, with its children and edges where they are still free',
  about:
    'What this clone does not know any more, or never knew, is looked for in the commits of the task file.',
  input: z.object({ id: TaskRef.describe('Id of the deleted task'), fence: Fence }),
  output: Task,
  errors: ['not_found', 'ambiguous_id', 'fence_conflict'],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks/{id}/restore' },
  cli: { path: ['task', 'restore'], args: ['id'], examples: ['forge task restore fg-a3f8'] },
});

/**
 * Every field of every format and where it goes. The readers take fields by these names, docs/import.md holds
 * the same tables, and a test compares them.
 */
export type FieldTable = Readonly<Record<string, string>>;

const DESCRIPTION = 'section of `description`';

function kept<Name extends string>(tool: string, ...names: Name[]): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, `kept in \`metadata.${tool}.${name}\``])) as Record<
    Name,
    string
  >; // one entry a name
}

export const BEADS_FIELDS = {
  id: '`id` (computed from it), `metadata.beads_id`',
  title: '`title`',
  description: '`description`',
  design: `${DESCRIPTION}: Design`,
  acceptance_criteria: `${DESCRIPTION}: Acceptance criteria`,
  notes: `${DESCRIPTION}: Notes`,
  status: '`status` and `state`; a word that is not exactly ours also in `metadata.beads.status`',
  priority: '`priority`, the same number',
  issue_type: '`type`; what Forge has no type for also as a label',
  assignee: '`assignee`',
  created_at: '`created_at`',
  created_by: '`created_by`; `beads` where there is none',
  updated_at: '`updated_at`, the stamp of every value',
  closed_at: '`closed_at`; of a task that is open `metadata.beads.closed_at`',
  close_reason: '`close_reason`; of a task that is open `metadata.beads.close_reason`',
  external_ref:
    '`github_issue` for `gh-9` and links to GitHub; else, and for links, `metadata.beads.external_ref`',
  metadata: 'its keys become keys of `metadata`',
  labels: '`labels`',
  dependencies: '`dependencies` and `parent_id`, see below',
  comments: 'comments, see below',
  parent: '`parent_id`, where no dependency says it',
  replies_to: '`related` dependency, `metadata.beads.replies_to`',
  relates_to: '`related` dependencies, `metadata.beads.relates_to`',
  duplicate_of: '`related` dependency, `metadata.beads.duplicate_of`',
  superseded_by: '`related` dependency, `metadata.beads.superseded_by`',
  deleted_at: 'the task comes as a deleted one',
  deleted_by: 'comment of the deleted task',
  delete_reason: 'comment of the deleted task',
  original_type: 'comment of the deleted task',
  _type: '`issue` is read; any other record is not a task and noted',
  dependency_count: 'counted from the rest; left out and noted',
  dependent_count: 'counted from the rest; left out and noted',
  comment_count: 'counted from the rest; left out and noted',
  notes_preview: 'the beginning of `notes`; left out and noted',
  ...kept(
    'beads',
    'spec_id',
    'owner',
    'estimated_minutes',
    'started_at',
    'closed_by_session',
    'lease_expires_at',
    'heartbeat_at',
    'due_at',
    'defer_until',
    'source_system',
    'source_repo',
    'content_hash',
    'compaction_level',
    'compacted_at',
    'compacted_at_commit',
    'original_size',
    'sender',
    'ephemeral',
    'no_history',
    'wisp_type',
    'pinned',
    'is_template',
    'bonded_from',
    'creator',
    'validations',
    'quality_score',
    'crystallizes',
    'await_type',
    'await_id',
    'timeout',
    'waiters',
    'holder',
    'source_formula',
    'source_location',
    'hook_bead',
    'role_bead',
    'agent_state',
    'last_activity',
    'role_type',
    'rig',
    'mol_type',
    'work_type',
    'event_kind',
    'actor',
    'target',
    'payload',
  ),
} as const satisfies FieldTable;

const EDGE = 'kept in `metadata.beads.dependencies`';

export const BEADS_DEPENDENCY_FIELDS = {
  issue_id: 'the task itself; left out',
  depends_on_id: 'id of the dependency, or `parent_id`',
  type: 'type of the dependency, see the words',
  created_at: `the edge's time where a cycle is broken; ${EDGE}`,
  created_by: EDGE,
  metadata: EDGE,
  thread_id: EDGE,
} as const satisfies FieldTable;

export const BEADS_COMMENT_FIELDS = {
  id: 'replaced by an id computed from author, time and text',
  issue_id: 'the task itself; left out',
  author: "the comment's `author`",
  text: "the comment's `body`",
  created_at: "the comment's `created_at`",
} as const satisfies FieldTable;

export const BACKLOG_FIELDS = {
  id: '`id` (computed from it), `metadata.backlog_md_id`',
  title: '`title`',
  status: '`status` and `state`; a word that is not exactly ours also in `metadata.backlog_md.status`',
  assignee: '`assignee`, the first one without its `@`; several also in `metadata.backlog_md.assignee`',
  created_date: '`created_at`, read as UTC',
  updated_date: '`updated_at`, the stamp of every value, read as UTC',
  labels: '`labels`',
  milestone: 'label `milestone:<title>`, `metadata.backlog_md.milestone`',
  dependencies: '`blocks` dependencies',
  parent_task_id: '`parent_id`',
  subtasks: '`parent_id` of those tasks, where they name no parent',
  priority: '`priority`, see the words',
  type: '`type`; what Forge has no type for also as a label',
  ...kept(
    'backlog_md',
    'reporter',
    'references',
    'documentation',
    'modified_files',
    'ordinal',
    'branch',
    'onStatusChange',
    'due_date',
    'planned_start',
    'planned_end',
    'actual_start',
    'actual_end',
  ),
} as const satisfies FieldTable;

/** The headings of a task's body; any other heading stays in the description as it is. */
export const BACKLOG_SECTIONS = {
  Description: '`description`, its beginning',
  'Acceptance Criteria': `${DESCRIPTION}, a checklist`,
  'Definition of Done': `${DESCRIPTION}, a checklist`,
  'Implementation Plan': DESCRIPTION,
  'Implementation Notes': DESCRIPTION,
  'Final Summary': DESCRIPTION,
  Comments: 'comments, see below',
} as const satisfies FieldTable;

export const BACKLOG_COMMENT_FIELDS = {
  index: 'replaced by an id computed from author, time and text',
  author: "the comment's `author`",
  created: "the comment's `created_at`",
} as const satisfies FieldTable;

export const TASK_MASTER_FIELDS = {
  id: '`id` (computed from tag and id), `metadata.task_master_id`',
  title: '`title`',
  description: '`description`',
  details: `${DESCRIPTION}: Details`,
  testStrategy: `${DESCRIPTION}: Test strategy`,
  acceptanceCriteria: `${DESCRIPTION}: Acceptance criteria`,
  implementationApproach: `${DESCRIPTION}: Implementation approach`,
  status: '`status` and `state`; a word that is not exactly ours also in `metadata.task_master.status`',
  priority: '`priority`, see the words; a subtask without one has that of its task',
  dependencies: '`blocks` dependencies',
  subtasks: 'tasks of their own with `parent_id`',
  parentId: 'the task that holds the subtask; left out',
  parentTaskId: 'the task that holds the subtask; left out',
  createdAt: "`created_at`; else the tag's `created`",
  updatedAt:
    "`updated_at`, with the tag's `updated` and the times of added notes in `details` the latest of all",
  tags: '`labels`',
  assignee: '`assignee`',
  metadata: 'its keys become keys of `metadata`',
  ...kept(
    'task_master',
    'effort',
    'actualEffort',
    'databaseId',
    'complexity',
    'complexityScore',
    'recommendedSubtasks',
    'expansionPrompt',
    'complexityReasoning',
    'relevantFiles',
    'codebasePatterns',
    'existingInfrastructure',
    'scopeBoundaries',
    'technicalConstraints',
    'skills',
    'category',
    'previousStatus',
  ),
} as const satisfies FieldTable;

const TAG = "kept in `metadata.task_master.tag_metadata` of the tag's tasks";

/** The `metadata` (or `meta`) of a tag; of the whole file in the old format. */
export const TASK_MASTER_TAG_FIELDS = {
  created: '`created_at` of tasks that have none',
  updated: '`updated_at` of the tasks',
  lastModified: '`updated_at` of the tasks',
  taskCount: 'counted from the rest; left out and noted',
  completedCount: 'counted from the rest; left out and noted',
  description: TAG,
  name: TAG,
  projectName: TAG,
  version: TAG,
  source: TAG,
  tags: TAG,
} as const satisfies FieldTable;

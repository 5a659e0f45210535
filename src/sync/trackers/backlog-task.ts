import type { Json } from '#kernel/json.ts';
import { readBody } from './backlog-body.ts';
import { BACKLOG_FIELDS } from './field-tables.ts';
import type { AddNote, TrackerLink, TrackerTask } from './tracker-task.ts';
import { findLife, findPriority, UNKNOWN_LIFE, type LifeWord } from './tracker-words.ts';
import type { Frontmatter } from './parse-frontmatter.ts';
import { keep, readLife, readPriority, readTimeOf, readTypeWord, type Reading } from './reading.ts';
import { takeFields, toList } from './take-fields.ts';

export type BacklogPlace = 'tasks' | 'completed' | 'drafts' | 'archive';

/** What a project's config says about its words. */
export interface BacklogConfig {
  /** From first to last column. */
  readonly statuses: readonly string[];
  /** From most to least urgent. */
  readonly priorities: readonly string[];
  /** Titles by lower-case id. */
  readonly milestones: ReadonlyMap<string, string>;
}

export interface BacklogEntry {
  readonly task: TrackerTask;
  /** Keys of the tasks that it names as its subtasks. */
  readonly subtasks: readonly string[];
}

/** A task file in our words. */
export function backlogTask(
  id: string,
  { fields: head, body }: Frontmatter,
  { place, config, note }: { place: BacklogPlace; config: BacklogConfig; note: AddNote },
): BacklogEntry {
  const reading: Reading = { where: id, place: 'metadata.backlog_md', kept: new Map(), note };
  const fields = takeFields(head, BACKLOG_FIELDS, reading);
  fields.take('id');
  const texts = (name: keyof typeof BACKLOG_FIELDS): string[] =>
    toList(fields.take(name)).map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  const life = placeLife(place, readStatus(fields.text('status'), config, reading), reading);
  const { type, label } = readTypeWord(fields.text('type'), 'type', reading);
  const created = readTimeOf(fields.take('created_date'), 'created_date', reading);
  const title = fields.text('title');
  const { description, comments } = readBody(body);
  const links: TrackerLink[] = [
    ...texts('parent_task_id').map((written) => toLink('parent', written, id)),
    ...texts('dependencies').map((written) => toLink('blocks', written, id)),
  ];
  const task: TrackerTask = {
    id,
    key: backlogKey(id, id),
    twin: JSON.stringify([created ?? null, title]),
    title,
    description,
    status: life.status,
    state: life.state,
    close_reason: place === 'archive' ? 'Archived in Backlog.md' : '',
    priority: rankPriority(fields.text('priority'), config, reading),
    type,
    assignee: readAssignee(texts('assignee'), reading),
    labels: [
      ...texts('labels'),
      ...readMilestone(fields.text('milestone'), config, reading),
      ...(label === undefined ? [] : [label]),
      ...(place === 'drafts' ? ['draft'] : []),
    ],
    github_issue: null,
    // Not the reporter, who may change: id, time and creator together say which task it is.
    created_by: '',
    created,
    updated: readTimeOf(fields.take('updated_date'), 'updated_date', reading),
    closed: undefined,
    deleted: undefined,
    links,
    comments,
    metadata: new Map(),
    kept: reading.kept,
  };
  const subtasks = texts('subtasks').map((written) => backlogKey(written, id));
  for (const [name, value] of fields.rest()) reading.kept.set(name, toNumber(name, value));
  return { task, subtasks };
}

/** `TASK-007`, `task-7` and, beside a `task-…`, a bare `7` are one id. */
function backlogKey(written: string, beside: string): string {
  const id = written.trim().toLowerCase();
  const whole = /^\d/.test(id)
    ? `${/^[a-z_-]*?(?=-?\d)/i.exec(beside.toLowerCase())?.[0] ?? 'task'}-${id}`
    : id;
  return whole.replaceAll(/(^|[-.])0+(?=\d)/g, '$1');
}

function toLink(type: TrackerLink['type'], written: string, beside: string): TrackerLink {
  return { type, key: backlogKey(written, beside), written, at: undefined };
}

/** A word of the project's own means what its column means: the first is to do, the last is done. */
function readStatus(word: string, { statuses }: BacklogConfig, reading: Reading): LifeWord {
  const column = statuses.findIndex((status) => status.toLowerCase() === word.toLowerCase());
  const names =
    column < 0 ? undefined : column === 0 ? 'open' : column === statuses.length - 1 ? 'done' : 'in-progress';
  const meaning = names === undefined ? undefined : findLife(names);
  return readLife(word, reading, meaning === undefined ? UNKNOWN_LIFE : { ...meaning, exact: false });
}

function placeLife(place: BacklogPlace, life: LifeWord, { where, note }: Reading): LifeWord {
  if (place === 'drafts') return { status: 'open', state: 'backlog', exact: true };
  if (place === 'tasks' || life.status === 'closed') return life;
  const state = place === 'archive' ? 'cancelled' : null;
  note({
    where,
    field: 'status',
    what: `is in ${place}, so it became closed${state === null ? '' : ` (${state})`}`,
  });
  return { status: 'closed', state, exact: true };
}

/** A project's own list of words is spread over ours. */
function rankPriority(word: string, { priorities }: BacklogConfig, reading: Reading): number {
  const rank = priorities.findIndex((name) => name.toLowerCase() === word.toLowerCase());
  if (findPriority(word) !== undefined || rank < 0) return readPriority(word, reading);
  const priority = Math.min(4, Math.round((rank * 4) / Math.max(1, priorities.length - 1)));
  keep(reading, 'priority', word, `"${word}" became ${priority}`);
  return priority;
}

function readAssignee(names: readonly string[], reading: Reading): string {
  if (names.length > 1) keep(reading, 'assignee', names, 'a task has one here, the first');
  return (names[0] ?? '').replace(/^@/, '');
}

function readMilestone(name: string, { milestones }: BacklogConfig, reading: Reading): string[] {
  if (name === '') return [];
  keep(reading, 'milestone', name, 'became a label');
  return [`milestone:${milestones.get(name.toLowerCase()) ?? name}`];
}

function toNumber(name: string, value: Json): Json {
  return name === 'ordinal' && typeof value === 'string' && /^-?\d{1,15}$/.test(value)
    ? Number(value)
    : value;
}

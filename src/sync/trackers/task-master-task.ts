import type { Json, JsonObject } from '#kernel/json.ts';
import { TASK_MASTER_FIELDS } from './field-tables.ts';
import type { AddNote, TrackerLink, TrackerTask } from './tracker-task.ts';
import { joinSections } from './tracker-text.ts';
import { latest, readTime } from './tracker-time.ts';
import { keep, readLife, readMetadata, readPriority, readTimeOf, type Reading } from './reading.ts';
import { isEmpty, isObject, takeFields, toList } from './take-fields.ts';

export interface TaskMasterTag {
  readonly name: string;
  /** The tag that the tool starts with: it needs no label, and ids alone mean its tasks. */
  readonly main: boolean;
  readonly tasks: readonly Json[];
  readonly created: number | undefined;
  readonly updated: number | undefined;
  readonly metadata: JsonObject;
}

/** The tasks of a tag and their subtasks, each a task of its own. */
export function taskMasterTasks(tag: TaskMasterTag, note: AddNote): TrackerTask[] {
  return tag.tasks.flatMap((json, at) => {
    const id = idOf(json);
    if (!isObject(json) || id === undefined) {
      note({ where: `tag ${tag.name}, entry ${at + 1}`, what: 'is no task with an id; left out' });
      return [];
    }
    const subtasks = toList(json.subtasks);
    const siblings = new Set(subtasks.flatMap((subtask) => idOf(subtask) ?? []));
    const task = toTask(json, { tag, id, note });
    return [
      task,
      ...subtasks.flatMap((subtask, number) => {
        const own = idOf(subtask);
        if (!isObject(subtask) || own === undefined) {
          note({ where: `${task.id}, subtask ${number + 1}`, what: 'is no subtask with an id; left out' });
          return [];
        }
        const parent = { task, id, siblings };
        return [toTask(subtask, { tag, id: own.includes('.') ? own : `${id}.${own}`, parent, note })];
      }),
    ];
  });
}

interface TaskOptions {
  readonly tag: TaskMasterTag;
  readonly id: string;
  readonly parent?: {
    readonly task: TrackerTask;
    readonly id: string;
    readonly siblings: ReadonlySet<string>;
  };
  readonly note: AddNote;
}

function toTask(json: JsonObject, { tag, id, parent, note }: TaskOptions): TrackerTask {
  const where = tag.main ? id : `${tag.name}/${id}`;
  const reading: Reading = { where, place: 'metadata.task_master', kept: new Map(), note };
  const fields = takeFields(Object.entries(json), TASK_MASTER_FIELDS, reading);
  for (const name of ['id', 'subtasks', 'parentId', 'parentTaskId'] as const) fields.take(name);
  const details = fields.text('details');
  const title = fields.text('title');
  const life = readLife(fields.text('status'), reading);
  const own = readTimeOf(fields.take('updatedAt'), 'updatedAt', reading);
  const dependencies = readDependencies(fields.take('dependencies'), reading);
  const task: TrackerTask = {
    id: where,
    key: toKey(tag, id),
    twin: title,
    title,
    description: joinSections([
      ['', fields.text('description')],
      ['Details', details],
      ['Test strategy', fields.text('testStrategy')],
      ['Acceptance criteria', toText(fields.take('acceptanceCriteria'))],
      ['Implementation approach', toText(fields.take('implementationApproach'))],
    ]),
    status: life.status,
    state: life.state,
    close_reason: '',
    priority: readPriority(fields.text('priority'), reading, parent?.task.priority),
    type: 'task',
    assignee: fields.text('assignee'),
    labels: [...(tag.main ? [] : [tag.name]), ...toList(fields.take('tags')).map(toText)],
    github_issue: null,
    created_by: '',
    created:
      readTimeOf(fields.take('createdAt'), 'createdAt', reading) ?? parent?.task.created ?? tag.created,
    updated: latest(own, tag.updated, ...addedTimes(details)),
    closed: undefined,
    deleted: undefined,
    links: [
      ...(parent === undefined ? [] : [toLink('parent', parent.id, toKey(tag, parent.id))]),
      ...dependencies.map((written) => toLink('blocks', written, toKey(tag, meant(written, parent)))),
    ],
    comments: [],
    metadata: readMetadata(fields.take('metadata'), reading),
    kept: reading.kept,
  };
  reading.kept.set('tag', tag.name);
  if (!isEmpty(tag.metadata)) reading.kept.set('tag_metadata', tag.metadata);
  for (const [name, value] of fields.rest()) reading.kept.set(name, value);
  return task;
}

function idOf(json: Json | undefined): string | undefined {
  const id = isObject(json) ? json.id : undefined;
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id.trim() !== '' ? id.trim() : undefined;
}

/** Ids are counted in every tag anew. */
function toKey(tag: TaskMasterTag, id: string): string {
  return `${tag.name}/${id}`;
}

function toLink(type: TrackerLink['type'], written: string, key: string): TrackerLink {
  return { type, key, written, at: undefined };
}

/** In a subtask a bare number means its sibling, and a task only where there is no such sibling. */
function meant(written: string, parent: TaskOptions['parent']): string {
  return parent?.siblings.has(written) === true ? `${parent.id}.${written}` : written;
}

function readDependencies(value: Json | undefined, reading: Reading): string[] {
  const list = toList(value);
  const odd = list.filter((id) => typeof id !== 'number' && typeof id !== 'string');
  if (odd.length > 0) keep(reading, 'dependencies', odd, 'holds something that is no id');
  return list.filter((id) => typeof id === 'number' || typeof id === 'string').map((id) => String(id).trim());
}

/** A text, or a list of them as a Markdown list. */
function toText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  if (isEmpty(value)) return '';
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => `- ${toText(item)}`).join('\n');
  return JSON.stringify(value);
}

/** The tool writes when it added a note into the text, and in older versions nowhere else. */
function addedTimes(details: string): (number | undefined)[] {
  return [...details.matchAll(/<info added on ([^>\s]{10,40})>/g)].map(([, time]) => readTime(time));
}

import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { emptyObject, type Json, type JsonObject } from '#kernel/json.ts';
import { escapeLine } from '#kernel/text.ts';
import { TASK_MASTER_TAG_FIELDS } from './field-tables.ts';
import { isFile, readTheirJson, readText, type ReadingPlace } from './tracker-files.ts';
import type { AddNote, TrackerTask } from './tracker-task.ts';
import { latest, readTime } from './tracker-time.ts';
import { nothingFound } from './reading.ts';
import { isObject, takeFields } from './take-fields.ts';
import { taskMasterTasks, type TaskMasterTag } from './task-master-task.ts';

/** The tag of tasks that have none, and the one that the tool starts with. */
const MAIN_TAG = 'master';
const PLACES = ['', 'tasks.json', 'tasks/tasks.json', '.taskmaster/tasks/tasks.json'];

/** `path`: a tasks.json, or a folder that holds one. */
export function readTaskMaster(path: string, note: AddNote): TrackerTask[] {
  const file = PLACES.map((place) => join(path, place)).find(isFile);
  if (file === undefined) {
    throw nothingFound(
      `There is no tasks.json of task-master at ${escapeLine(path)}`,
      'Name the file, usually .taskmaster/tasks/tasks.json',
    );
  }
  return findTags(readObject(file, { note, within: path }), note).flatMap((tag) =>
    taskMasterTasks(tag, note),
  );
}

function readObject(file: string, place: ReadingPlace): JsonObject {
  const broken = (why: string): ForgeError =>
    new ForgeError('invalid_input', `${escapeLine(file)} is no tasks.json of task-master: ${why}`, {
      hint: 'Name the file, usually .taskmaster/tasks/tasks.json',
    });
  let json: Json;
  const text = readText(file, file, place);
  try {
    json = readTheirJson(text, 'tasks.json', place.note);
  } catch (error) {
    throw broken(escapeLine((error as Error).message));
  }
  if (Array.isArray(json)) return { tasks: json };
  if (!isObject(json)) throw broken('it holds no object');
  const tagged = Object.values(json).some((tag) => isObject(tag) && Array.isArray(tag.tasks));
  if (!tagged && !Array.isArray(json.tasks)) throw broken('there is no list "tasks"');
  return json;
}

/** Old files are one tag; in newer ones every key is one. */
function findTags(json: JsonObject, note: AddNote): TaskMasterTag[] {
  const tags: TaskMasterTag[] = [];
  for (const [name, value] of Object.entries(json)) {
    if (name === 'tasks' && Array.isArray(value)) tags.push(toTag(MAIN_TAG, json, note));
    else if (isObject(value) && Array.isArray(value.tasks)) tags.push(toTag(name, value, note));
    else if (name !== 'metadata' && name !== 'meta')
      note({ where: name, what: 'is no tag with tasks; left out' });
  }
  return tags;
}

function toTag(name: string, tag: JsonObject, note: AddNote): TaskMasterTag {
  const where = `tag ${name}`;
  const about = isObject(tag.metadata) ? tag.metadata : isObject(tag.meta) ? tag.meta : {};
  const place = 'metadata.task_master.tag_metadata';
  const fields = takeFields(Object.entries(about), TASK_MASTER_TAG_FIELDS, { where, place, note });
  const created = readTime(fields.take('created'));
  const updated = latest(readTime(fields.take('updated')), readTime(fields.take('lastModified')));
  const metadata = emptyObject<Json>();
  for (const [key, value] of fields.rest()) metadata[key] = value;
  return {
    name,
    main: name === MAIN_TAG,
    tasks: tag.tasks as readonly Json[], // the caller has looked
    created,
    updated: latest(created, updated),
    metadata,
  };
}

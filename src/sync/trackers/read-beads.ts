import { basename, join } from 'node:path';
import { escapeLine } from '#kernel/text.ts';
import type { Json } from '#kernel/json.ts';
import { beadsTask } from './beads-task.ts';
import { isFile, isFolder, listFiles, readTheirJson, readText, type ReadingPlace } from './tracker-files.ts';
import type { AddNote, TrackerTask } from './tracker-task.ts';
import { nothingFound } from './reading.ts';
import { isObject } from './take-fields.ts';

const MAIN_FILES = ['issues.jsonl', 'beads.jsonl'];
/** Beside the issues; none of them holds one. */
const OTHER_FILES =
  /^(interactions|deletions|routes|molecules|events|.*\.(base|left|right|orig|bak))\.jsonl$/;

/** `path`: a file of lines, a `.beads` folder, or a folder that has one. */
export function readBeads(path: string, note: AddNote): TrackerTask[] {
  return findFiles(path, note).flatMap((file) => readLines(file, { note, within: path }));
}

function findFiles(path: string, note: AddNote): string[] {
  if (isFile(path)) return [path];
  if (!isFolder(path)) {
    throw nothingFound(
      `There is nothing at ${escapeLine(path)}`,
      'Name the .beads folder or an issues.jsonl file',
    );
  }
  const folder = isFolder(join(path, '.beads')) ? join(path, '.beads') : path;
  const names = listFiles(folder, '.jsonl');
  const main = names.filter((name) => MAIN_FILES.includes(name));
  const used = main.length > 0 ? main : names.filter((name) => !OTHER_FILES.test(name));
  for (const name of names) {
    if (!used.includes(name)) note({ where: name, what: 'holds no issues; left out' });
  }
  if (used.length > 0) return used.map((name) => join(folder, name));
  throw nothingFound(
    `${escapeLine(folder)} holds no beads issues: there is no issues.jsonl`,
    'Write one with: bd export -o .beads/issues.jsonl',
  );
}

function readLines(file: string, place: ReadingPlace): TrackerTask[] {
  const { note } = place;
  const name = basename(file);
  const tasks: TrackerTask[] = [];
  let number = 0;
  for (const line of readText(file, name, place).split('\n')) {
    number += 1;
    if (line.trim() === '') continue;
    const where = `${name}:${number}`;
    const task = readLine(line, where, note);
    if (task !== undefined) tasks.push(task);
  }
  return tasks;
}

function readLine(line: string, where: string, note: AddNote): TrackerTask | undefined {
  let json: Json;
  try {
    json = readTheirJson(line, where, note);
  } catch (error) {
    note({ where, what: `cannot be read: ${(error as Error).message}` });
    return undefined;
  }
  if (!isObject(json)) {
    note({ where, what: 'is not an object; left out' });
    return undefined;
  }
  const kind = json._type ?? 'issue';
  if (kind !== 'issue') {
    note({ where, field: '_type', what: `${JSON.stringify(kind)} is not an issue; left out` });
    return undefined;
  }
  if (typeof json.id !== 'string' || json.id === '') {
    note({ where, field: 'id', what: 'there is none, so it is no issue; left out' });
    return undefined;
  }
  return beadsTask(json.id, json, note);
}

import { dirname, join } from 'node:path';
import { escapeLine } from '#kernel/text.ts';
import type { Json } from '#kernel/json.ts';
import { backlogTask, type BacklogConfig, type BacklogEntry, type BacklogPlace } from './backlog-task.ts';
import { isFile, isFolder, listFiles, listFilesBelow, readText, type ReadingPlace } from './tracker-files.ts';
import type { AddNote, TrackerTask } from './tracker-task.ts';
import { nothingFound } from './reading.ts';
import { parseFrontmatter, parseYaml } from './parse-frontmatter.ts';
import { toList } from './take-fields.ts';

/** The folders that hold tasks, and what it means to be in one. */
const FOLDERS: readonly (readonly [string, BacklogPlace])[] = [
  ['tasks', 'tasks'],
  ['completed', 'completed'],
  ['drafts', 'drafts'],
  ['archive/tasks', 'archive'],
  ['archive/drafts', 'archive'],
];
const OTHER_FOLDERS = ['docs', 'decisions', 'milestones', 'archive/milestones'];

/** `path`: the backlog folder, or the project that has it. */
export function readBacklog(path: string, note: AddNote): TrackerTask[] {
  const root = findRoot(path, note);
  const reading = { note, within: path };
  const config = readConfig(root, reading);
  const entries: BacklogEntry[] = [];
  for (const [folder, place] of FOLDERS) {
    if (!isFolder(join(root, folder))) continue;
    for (const name of listFilesBelow(join(root, folder), '.md')) {
      const entry = readFile(join(root, folder, name), {
        where: `${folder}/${name}`,
        place,
        config,
        ...reading,
      });
      if (entry !== undefined) entries.push(entry);
    }
  }
  for (const folder of OTHER_FOLDERS) {
    const count = isFolder(join(root, folder)) ? listFilesBelow(join(root, folder), '.md').length : 0;
    if (count > 0) note({ where: folder, what: `holds no tasks; its files stay where they are (${count})` });
  }
  return adoptSubtasks(entries);
}

function findRoot(path: string, note: AddNote): string {
  const named = isFile(join(path, 'backlog.config.yml'))
    ? readYaml(join(path, 'backlog.config.yml'), { note, within: path }).get('backlog_directory')
    : undefined;
  const places = [
    ...(typeof named === 'string' ? [join(path, named)] : []),
    path,
    join(path, 'backlog'),
    join(path, '.backlog'),
  ];
  const root = places.find(
    (place) => FOLDERS.some(([folder]) => isFolder(join(place, folder))) && !isOwnTasks(place),
  );
  if (root !== undefined) return root;
  throw nothingFound(
    `There is no Backlog.md folder at ${escapeLine(path)}`,
    'Name the folder that has tasks/ with files like "task-1 - Title.md"',
  );
}

/** A project's own `tasks` folder beside its `backlog` is none of Backlog.md's. */
function isOwnTasks(place: string): boolean {
  return ['backlog', '.backlog'].some((name) => isFolder(join(place, name, 'tasks')));
}

function readFile(
  file: string,
  options: ReadingPlace & { where: string; place: BacklogPlace; config: BacklogConfig },
): BacklogEntry | undefined {
  const { where, note } = options;
  let text: string;
  try {
    text = readText(file, where, options);
  } catch (error) {
    note({ where, what: `${(error as Error).message}; left out` });
    return undefined;
  }
  const head = parseFrontmatter(text);
  if (head === undefined) {
    note({ where, what: 'has no head between lines of "---", so it is no task; left out' });
    return undefined;
  }
  for (const what of head.problems) note({ where, what });
  const id = head.fields.get('id');
  if (typeof id !== 'string' || id.trim() === '') {
    note({ where, field: 'id', what: 'there is none, so it is no task; left out' });
    return undefined;
  }
  return backlogTask(id.trim(), head, options);
}

function readConfig(root: string, reading: ReadingPlace): BacklogConfig {
  const file = [
    join(root, 'config.yml'),
    join(root, 'backlog.config.yml'),
    join(dirname(root), 'backlog.config.yml'),
  ].find(isFile);
  const fields =
    file === undefined ? new Map<string, Json>() : readYaml(file, { ...reading, within: dirname(root) });
  const words = (name: string): string[] =>
    toList(fields.get(name)).filter((word) => typeof word === 'string');
  return {
    statuses: words('statuses'),
    priorities: words('priorities'),
    milestones: readMilestones(root, reading),
  };
}

function readYaml(file: string, reading: ReadingPlace): ReadonlyMap<string, Json> {
  return parseYaml(readText(file, file, reading).replaceAll('\r\n', '\n').split('\n')).fields;
}

/** A milestone's title by its id, because tasks name either. */
function readMilestones(root: string, reading: ReadingPlace): Map<string, string> {
  const titles = new Map<string, string>();
  for (const folder of ['milestones', 'archive/milestones']) {
    if (!isFolder(join(root, folder))) continue;
    for (const name of listFiles(join(root, folder), '.md')) {
      const where = `${folder}/${name}`;
      const head = readHead(join(root, folder, name), where, reading);
      const id = head?.fields.get('id');
      const title = head?.fields.get('title');
      if (typeof id === 'string' && typeof title === 'string') titles.set(id.toLowerCase(), title);
    }
  }
  return titles;
}

/** A milestone that cannot be read costs its title, and no task. */
function readHead(file: string, where: string, reading: ReadingPlace): ReturnType<typeof parseFrontmatter> {
  try {
    return parseFrontmatter(readText(file, where, reading));
  } catch (error) {
    reading.note({ where, what: `${(error as Error).message}; left out` });
    return undefined;
  }
}

/** A parent's list of subtasks counts for those that name no parent themselves. */
function adoptSubtasks(entries: readonly BacklogEntry[]): TrackerTask[] {
  const parents = new Map<string, TrackerTask>();
  for (const { task, subtasks } of entries) for (const key of subtasks) parents.set(key, task);
  return entries.map(({ task }) => {
    const parent = parents.get(task.key);
    if (parent === undefined || task.links.some(({ type }) => type === 'parent')) return task;
    const link = { type: 'parent', key: parent.key, written: parent.id, at: undefined } as const;
    return { ...task, links: [link, ...task.links] };
  });
}

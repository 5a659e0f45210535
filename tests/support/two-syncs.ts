import { cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Task } from '#contract/task.ts';
import { openPlace, type ForgePlace } from './forge-cli.ts';
import { createCliHere } from './forge-here.ts';
import { cloneRemote, initRemote, moveClone, openGitPlace, toClone, type GitPlace } from './git-clones.ts';
import {
  deleteSeedTask,
  importSeed,
  initSeed,
  installSeedHooks,
  listSeedTasks,
  saveSeedTask,
  type SeedTask,
} from './seed-sync.ts';
import { tempFolder } from './temp-repo.ts';

export type Fields = Pick<SeedTask, 'title' | 'priority' | 'status' | 'assignee'>;

/** A clone in either world. Tasks are named by the title that they were made with. */
export interface TaskClone extends GitPlace {
  create(title: string): Promise<void>;
  change(title: string, fields: { title?: string; priority?: number }): Promise<void>;
  close(title: string): Promise<void>;
  claim(title: string, who: string): Promise<void>;
  remove(title: string): Promise<void>;
  /** What the database holds, by title. The seed reads the file by `forge import`, Forge by any command. */
  look(options?: { import?: boolean }): Promise<Fields[]>;
  /** The database is gone. */
  forget(): void;
}

export interface TaskWorld {
  readonly sync: 'seed' | 'forge';
  readonly folder: string;
  /** Clones of one remote, with the hooks and an up-to-date database; the first starts the project. */
  open(name: string): Promise<TaskClone>;
  /** A linked worktree of a clone. */
  link(clone: TaskClone, name: string): Promise<TaskClone>;
}

/** Runs a scenario with the seed's sync and with ours. What it gives back is compared by the test. */
export async function onBoth<T>(
  scenario: (world: TaskWorld) => Promise<T>,
): Promise<{ readonly seed: T; readonly forge: T }> {
  return { seed: await inWorld('seed', scenario), forge: await inWorld('forge', scenario) };
}

async function inWorld<T>(sync: TaskWorld['sync'], scenario: (world: TaskWorld) => Promise<T>): Promise<T> {
  const template = await getTemplate(sync);
  await using folder = await tempFolder();
  const place = await openPlace(folder);
  const remote = join(folder.path, 'remote.git');
  copyFolder(join(template, 'remote.git'), remote);
  const ids = new Map<string, string>();
  // A second apart, so that the order of two updates is never the machine's to decide.
  let time = Date.UTC(2026, 0, 1);
  const nextTime = (): string => new Date((time += 1_000)).toISOString();
  const toTaskClone = (path: string): TaskClone =>
    sync === 'seed' ? toSeedClone(path, { env: place.env, ids, nextTime }) : toForgeClone(path, place, ids);
  let isFirst = true;
  const open = async (name: string): Promise<TaskClone> => {
    const path = join(folder.path, name);
    const clone = toTaskClone(path);
    if (isFirst) {
      isFirst = false;
      copyFolder(join(template, FIRST), path);
      moveClone(clone, template, folder.path);
      return clone;
    }
    cloneRemote(folder.path, name, place.env);
    if (sync === 'forge') await createCliHere(place, path).run('init');
    else installSeedHooks(path);
    await clone.look({ import: true });
    return clone;
  };
  const link = async (clone: TaskClone, name: string): Promise<TaskClone> => {
    clone.git('worktree', 'add', '--quiet', join(folder.path, name));
    return toTaskClone(join(folder.path, name));
  };
  return await scenario({ sync, folder: folder.path, open, link });
}

const FIRST = 'first';

/** A remote and the clone that started the project: the same each time, and a second of processes. */
const templates = new Map<TaskWorld['sync'], Promise<string>>();

function getTemplate(sync: TaskWorld['sync']): Promise<string> {
  const made = templates.get(sync) ?? makeTemplate(sync);
  templates.set(sync, made);
  return made;
}

async function makeTemplate(sync: TaskWorld['sync']): Promise<string> {
  const folder = await tempFolder();
  process.once('exit', () => rmSync(dirname(folder.path), { recursive: true, force: true }));
  const place = await openPlace(folder);
  initRemote(folder.path, place.env);
  cloneRemote(folder.path, FIRST, place.env);
  const path = join(folder.path, FIRST);
  const clone = openGitPlace(path, place.env);
  clone.git('symbolic-ref', 'HEAD', 'refs/heads/main');
  if (sync === 'forge') await createCliHere(place, path).run('init');
  else initSeed(path);
  clone.git('add', '.');
  clone.git('commit', '--quiet', '-m', 'first');
  clone.git('push', '--quiet', '-u', 'origin', 'main');
  return folder.path;
}

function copyFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

function toSeedClone(
  root: string,
  { env, ids, nextTime }: { env: NodeJS.ProcessEnv; ids: Map<string, string>; nextTime: () => string },
): TaskClone {
  const update = (title: string, fields: Partial<SeedTask>): void => {
    const id = idOf(ids, title);
    const task = listSeedTasks(root).find((known) => known.id === id);
    if (task === undefined) throw new Error(`no task ${title}`);
    saveSeedTask(root, { ...task, ...fields, updated_at: nextTime() });
  };
  return {
    ...openGitPlace(root, env),
    create: async (title) => {
      const id = `fg-${(1000 + ids.size).toString(36).padStart(4, '0')}`;
      ids.set(title, id);
      saveSeedTask(root, {
        id,
        title,
        priority: 2,
        status: 'open',
        assignee: null,
        updated_at: nextTime(),
      });
    },
    change: async (title, fields) => update(title, fields),
    close: async (title) => update(title, { status: 'closed' }),
    claim: async (title, who) => update(title, { status: 'in_progress', assignee: who }),
    remove: async (title) => deleteSeedTask(root, idOf(ids, title)),
    look: async (options) => {
      if (options?.import === true) importSeed(root);
      return listSeedTasks(root).map(toFields).sort(byTitle);
    },
    forget: () => rmSync(join(root, '.forge/forge.db')),
  };
}

function toForgeClone(root: string, place: ForgePlace, ids: Map<string, string>): TaskClone {
  const clone = toClone(root, place);
  const run = async (...args: string[]): Promise<string> => {
    const { exit, stdout, stderr } = await clone.run(...args, '--json');
    expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' });
    return stdout;
  };
  return {
    ...clone,
    create: async (title) => {
      ids.set(title, (JSON.parse(await run('task', 'create', title)) as Task).id);
    },
    change: async (title, { title: newTitle, priority }) => {
      const flags = [
        ...(newTitle === undefined ? [] : ['--title', newTitle]),
        ...(priority === undefined ? [] : ['--priority', String(priority)]),
      ];
      await run('task', 'update', idOf(ids, title), ...flags);
    },
    close: async (title) => void (await run('task', 'close', idOf(ids, title), '--reason', 'done')),
    claim: async (title, who) => void (await run('claim', idOf(ids, title), '--actor', who)),
    remove: async (title) => void (await run('task', 'delete', idOf(ids, title))),
    look: async () => (JSON.parse(await run('task', 'list', '--all')) as Task[]).map(toFields).sort(byTitle),
    forget: () => {
      for (const end of ['', '-wal', '-shm'])
        rmSync(join(root, `.git/forge/forge.db${end}`), { force: true });
    },
  };
}

function idOf(ids: ReadonlyMap<string, string>, title: string): string {
  const id = ids.get(title);
  if (id === undefined) throw new Error(`no task was made as ${title}`);
  return id;
}

function toFields({ title, priority, status, assignee }: Fields): Fields {
  return { title, priority, status, assignee };
}

const byTitle = (a: Fields, b: Fields): number => (a.title < b.title ? -1 : 1);

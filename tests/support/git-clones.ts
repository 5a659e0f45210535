import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { Task } from '#contract/task.ts';
import { openPlace, type ForgeCli, type ForgePlace } from './forge-cli.ts';
import { createCliHere } from './forge-here.ts';
import { tempFolder } from './temp-repo.ts';

export interface GitAnswer {
  readonly exit: number;
  /** Everything that git and the hooks printed. */
  readonly output: string;
}

/** A repository that git itself works in, with its hooks and its merge driver. */
export interface GitPlace {
  readonly path: string;
  /** Must succeed; stdout without the last newline. */
  git(...args: string[]): string;
  tryGit(args: readonly string[], options?: { cwd?: string; env?: NodeJS.ProcessEnv }): GitAnswer;
  write(file: string, text: string | Uint8Array): void;
  read(file: string): string;
  /** Writes a file of the user, stages and commits it, and gives what was printed. */
  commitFile(file: string, text?: string): string;
}

export interface Clone extends ForgeCli, GitPlace {
  /** `forge commit`, whatever it has to tell. */
  commitTasks(): Promise<void>;
}

export interface Clones<N extends string> extends AsyncDisposable {
  readonly place: ForgePlace;
  /** The folder that holds all of it. */
  readonly folder: string;
  readonly remote: string;
  readonly clone: Readonly<Record<N, Clone>>;
  readonly all: readonly Clone[];
  /** One more; `init: false` leaves out Forge's part, as after a plain `git clone`. */
  addClone(name: string, options?: { init?: boolean }): Promise<Clone>;
}

interface CloneOptions {
  readonly init?: readonly string[];
  /** Who runs `forge` in the clones; what git starts (hooks, the merge driver) is the program in any case. */
  readonly by?: 'this process' | 'the program';
}

/**
 * A bare remote and clones of it with a Forge project, whose first commit holds `readme.txt` of the user. The first
 * clone makes the project, the others adopt it.
 *
 *     await using world = await forgeClones(['a', 'b']);
 */
export async function forgeClones<const N extends string>(
  names: readonly N[],
  { init = ['init'], by = 'this process' }: CloneOptions = {},
): Promise<Clones<N>> {
  return copyClones(await getTemplate(names, init), names, { init, by });
}

/** A copy of a folder with `remote.git` and clones of it, which `forgeClones` made; what it is for is up to the caller. */
export async function copyClones<const N extends string>(
  template: string,
  names: readonly N[],
  { init = ['init'], by = 'this process' }: CloneOptions = {},
): Promise<Clones<N>> {
  const folder = await tempFolder();
  const place = await openPlace(folder);
  cpSync(template, folder.path, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  const remote = join(folder.path, 'remote.git');
  const all: Clone[] = [];
  const open = (name: string): Clone => {
    const clone = toClone(join(folder.path, name), place, by);
    all.push(clone);
    return clone;
  };
  for (const name of names) moveClone(open(name), template, folder.path);
  const byName = Object.fromEntries(names.map((name, at) => [name, all[at]])) as Record<N, Clone>; // one each, above
  return {
    place,
    folder: folder.path,
    remote,
    clone: byName,
    all,
    async addClone(name, options = {}) {
      cloneRemote(folder.path, name, place.env);
      const clone = open(name);
      if (options.init !== false) await adopt(clone, init);
      return clone;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** To make clones takes a second of processes, to copy them a hundredth. */
const templates = new Map<string, Promise<string>>();

function getTemplate(names: readonly string[], init: readonly string[]): Promise<string> {
  const key = JSON.stringify([names, init]);
  const made = templates.get(key) ?? makeTemplate(names, init);
  templates.set(key, made);
  return made;
}

async function makeTemplate(names: readonly string[], init: readonly string[]): Promise<string> {
  const folder = await tempFolder();
  process.once('exit', () => rmSync(dirname(folder.path), { recursive: true, force: true }));
  const place = await openPlace(folder);
  initRemote(folder.path, place.env);
  for (const [at, name] of names.entries()) {
    cloneRemote(folder.path, name, place.env);
    const clone = toClone(join(folder.path, name), place);
    if (at > 0) {
      await adopt(clone, init);
      continue;
    }
    clone.git('symbolic-ref', 'HEAD', 'refs/heads/main');
    await runInit(clone, init);
    clone.write('readme.txt', 'readme\n');
    clone.git('add', '.');
    clone.git('commit', '--quiet', '-m', 'first');
    clone.git('push', '--quiet', '-u', 'origin', 'main');
  }
  return folder.path;
}

/** A bare `remote.git` in the folder. */
export function initRemote(folder: string, env: NodeJS.ProcessEnv): void {
  openGitPlace(folder, env).git('init', '--quiet', '--bare', '-b', 'main', 'remote.git');
  appendFileSync(join(folder, 'remote.git', 'config'), '[receive]\n\tautogc = false\n');
}

/** A clone of `remote.git` in the folder, under that name. */
export function cloneRemote(folder: string, name: string, env: NodeJS.ProcessEnv): void {
  const path = join(folder, name);
  openGitPlace(folder, env).git('clone', '--quiet', join(folder, 'remote.git'), path);
  writeGitSettings(path);
}

async function adopt(clone: Clone, init: readonly string[]): Promise<void> {
  await runInit(clone, init);
  // The first command says what came in with the clone; the ones after that have nothing to add.
  await clone.run('ready');
}

/** What a copy still knows of the place it was copied from: where the remote is, and which file is which. */
export function moveClone(clone: GitPlace, from: string, to: string): void {
  clone.write('.git/config', clone.read('.git/config').replaceAll(from, to));
  clone.git('update-index', '-q', '--refresh');
}

/** Around a repository that was made otherwise: a linked worktree, a submodule, one without a remote. */
export function toClone(path: string, place: ForgePlace, by: CloneOptions['by'] = 'this process'): Clone {
  const cli = by === 'the program' ? place.with({ cwd: path }) : createCliHere(place, path);
  return {
    ...cli,
    ...openGitPlace(path, place.env),
    async commitTasks() {
      const { exit, stderr } = await cli.run('commit');
      expect({ exit, stderr }).toMatchObject({ exit: 0 });
    },
  };
}

export function openGitPlace(path: string, env: NodeJS.ProcessEnv): GitPlace {
  const tryGit: GitPlace['tryGit'] = (args, options = {}) => {
    const answer = spawnSync('git', args, {
      cwd: options.cwd ?? path,
      env: { ...env, GIT_EDITOR: 'true', GIT_MERGE_AUTOEDIT: 'no', ...options.env },
      encoding: 'utf8',
    });
    return { exit: answer.status ?? 255, output: answer.stdout + answer.stderr };
  };
  const git = (...args: string[]): string => {
    const { exit, output } = tryGit(args);
    expect({ args, exit, output: exit === 0 ? '' : output }).toEqual({ args, exit: 0, output: '' });
    return output.replace(/\n$/, '');
  };
  const write: GitPlace['write'] = (file, text) => {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), text);
  };
  return {
    path,
    git,
    tryGit,
    write,
    read: (file) => readFileSync(join(path, file), 'utf8'),
    commitFile(file, text = `${file}\n`) {
      write(file, text);
      git('add', file);
      return git('commit', '-m', `change ${file}`);
    },
  };
}

/** What the person who runs the tests may have set otherwise, or what git would ask about. */
export function writeGitSettings(path: string): void {
  appendFileSync(
    join(path, '.git', 'config'),
    '[user]\n\tname = Test User\n\temail = test@example.com\n[pull]\n\trebase = false\n[advice]\n\tdetachedHead = false\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n',
  );
}

/** A clone may have something to tell: what lost a merge, which hooks belong to others. */
async function runInit(clone: Clone, args: readonly string[]): Promise<void> {
  const { exit, stdout, stderr } = await clone.run(...args);
  expect({ exit, stdout: exit === 0 ? '' : stdout, stderr }).toEqual({ exit: 0, stdout: '', stderr: '' });
}

/** Every clone commits its tasks, merges what the others pushed and pushes; then all pull but the last, which has it. */
export async function settle(clones: readonly Clone[]): Promise<void> {
  for (const clone of clones) {
    await clone.commitTasks();
    clone.git('pull', '--quiet', '--no-rebase');
    clone.git('push', '--quiet', 'origin', 'HEAD');
  }
  for (const clone of clones.slice(0, -1)) clone.git('pull', '--quiet', '--no-rebase');
}

export interface Settled {
  /** Of every task, in any order; deleted ones are not among them. */
  readonly titles: readonly string[];
  /** All files of the user, with what is in them. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * What every scenario ends with, after `settle`: no task is lost, the files are canonical and the same in all clones,
 * in git and in the store, the user's files are the user's, and git has nothing to report.
 */
export async function expectSettled(clones: readonly Clone[], { titles, files }: Settled): Promise<void> {
  const [first] = clones;
  for (const clone of clones) {
    const text = clone.read('.forge/tasks.jsonl');
    expectCanonical(text);
    expect({ clone: clone.path, text }).toMatchObject({ text: first?.read('.forge/tasks.jsonl') });
    expect(clone.read('.forge/history.jsonl')).toBe(first?.read('.forge/history.jsonl'));
    expect(titlesIn(text)).toEqual(titles.toSorted());
    expect(userFiles(clone.path)).toEqual({ 'readme.txt': 'readme\n', ...files });
    expect(clone.git('status', '--porcelain')).toBe('');
  }
  await Promise.all(
    clones.map(async (clone) => {
      expect(await titlesOf(clone)).toEqual(titles.toSorted());
      const { stdout, exit } = await clone.run('export', '--json');
      expect({ exit, stdout }).toMatchObject({ exit: 0 });
      expect(JSON.parse(stdout)).toMatchObject({ tasks: { changed: false }, history: { changed: false } });
    }),
  );
}

/** One line a task, sorted by id, and nothing else. */
export function expectCanonical(text: string): void {
  if (text === '') return;
  expect(text.endsWith('\n')).toBe(true);
  const ids = linesOf(text).map((line) => (JSON.parse(line) as Task).id);
  expect(ids).toEqual([...new Set(ids)].sort());
}

/** What the store of a clone holds. */
export async function titlesOf(clone: ForgeCli): Promise<string[]> {
  const { stdout, exit, stderr } = await clone.run('task', 'list', '--all', '--json', '--limit', '1000');
  expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' });
  return (JSON.parse(stdout) as Task[]).map(({ title }) => title).sort();
}

/** What a task file says, without deleted tasks and lines that are none. */
export function titlesIn(text: string): string[] {
  return linesOf(text)
    .flatMap((line) => {
      const task = toRecord(line);
      return task === undefined || typeof task['deleted_at'] === 'string' ? [] : [String(task['title'])];
    })
    .sort();
}

/** The titles in the task file of a commit. */
export function titlesAt(place: GitPlace, rev = 'HEAD'): string[] {
  return titlesIn(place.git('show', `${rev}:.forge/tasks.jsonl`));
}

/** The only task of that title in a task file, as JSON. */
export function recordIn(text: string, title: string): Record<string, unknown> {
  const found = linesOf(text)
    .map(toRecord)
    .filter((task) => task?.['title'] === title);
  expect({ title, found }).toMatchObject({ found: [{ title }] });
  return found[0] ?? {};
}

export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** Everything in the working tree that is neither git's nor Forge's. */
export function userFiles(root: string): Record<string, string> {
  const ours = new Set(['.git', '.forge', '.gitignore', '.gitattributes', '.gitmodules']);
  const names = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((name) => !name.split('/').some((part) => ours.has(part)));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(root, name), 'utf8')]));
}

/** For clones without the merge driver: git merges the task files as text. */
export function removeDriver(clone: GitPlace): void {
  if (clone.tryGit(['config', '--get', 'merge.forge.driver']).exit === 0)
    clone.git('config', '--remove-section', 'merge.forge');
}

export function hasFile(place: GitPlace, file: string): boolean {
  return existsSync(join(place.path, file));
}

function toRecord(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

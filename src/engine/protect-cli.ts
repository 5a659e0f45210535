import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Run } from '#contract/attempt.ts';
import { findCliPlaces, toPathsOf, type CliPlaces } from '#executors/cli-places.ts';
import { readTextIfThere } from '#git/replace-file.ts';
import type { Walls } from '#process/walls.ts';
import type { WorkPlace } from './work.ts';

/** How the folders of an agent's program are mounted. */
export interface GuardedCli {
  readonly writable: readonly string[];
  readonly fixed: readonly string[];
}

/**
 * An agent must not leave anything behind that its program runs when the user starts it next. Settings that are there
 * cannot be changed; those that are missing are made, empty. What is kept of other folders than `cwd` cannot be changed
 * either. A setting that is a link cannot be covered by a mount, and the link could be replaced: then only what the
 * program has to write is open.
 */
export function protectCli(cli: CliPlaces, cwd: string): GuardedCli {
  const place = toRealPath(cwd);
  const kept = prepare(cli, place);
  const { folders, read, own, settings, projects } = cli;
  const there = folders.map((folder) => ({ folder, paths: list(folder.path) }));
  const isWritten = there.flatMap(({ folder: { written, foreign }, paths }) =>
    paths.filter((path) => written.test(basename(path)) && foreign?.(path, place) === undefined),
  );
  const closed = new Set([
    ...projects.map(({ path }) => path),
    ...(hasSetting(cli) ? [cli.logins?.path] : []),
  ]);
  const state = isWritten.filter((path) => !closed.has(path));
  const open = new Set([...state, ...own, ...toPathsOf(folders)]);
  const all = there.flatMap(({ paths }) => paths);
  const rest = all.filter((path) => !open.has(path));
  return {
    writable: [...(all.some(isLink) ? state : toPathsOf(folders)), ...kept],
    fixed: [...read, ...settings.map(({ path }) => path), ...rest].filter((path) => !isLink(path)),
  };
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function hasSetting({ logins }: CliPlaces): boolean {
  return logins !== undefined && logins.isSetting(readTextIfThere(logins.path) ?? '');
}

/**
 * A folder that is missing could not be made inside, and settings that are missing could be made by the agent. Gives the
 * folders of what the program keeps of `cwd`.
 */
function prepare({ folders, own, settings, projects }: CliPlaces, cwd: string): string[] {
  const kept = listKept(projects, cwd);
  for (const path of [...toPathsOf(folders), ...own, ...kept])
    mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const { path, empty } of settings) {
    if (empty === undefined || lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    mkdirSync(empty === 'folder' ? path : dirname(path), { recursive: true, mode: 0o700 });
    if (empty !== 'folder') makeFile(path, empty.text);
  }
  return kept;
}

function listKept(projects: CliPlaces['projects'], cwd: string): string[] {
  return projects.map(({ path, toName }) => join(path, toName(cwd)));
}

function toRealPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

function makeFile(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // Another run, or the user, has made it in this moment.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

interface WatchedRun {
  readonly run: Pick<Run, 'id'>;
  readonly env: Readonly<Record<string, string>>;
  readonly executor: string;
  readonly cwd: string;
  readonly walls: Walls | undefined;
}

/** What was there when a run began; on the disk, because its watcher may be killed. */
interface CliNote {
  readonly executor: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly before: readonly string[];
}

/** Notes which settings the programs of a run have before it begins. */
export function watchCli({ home }: Pick<WorkPlace, 'home'>, watched: WatchedRun): void {
  const { run, env, executor, walls } = watched;
  if (walls === undefined || !env['HOME']) return;
  const cwd = toRealPath(watched.cwd);
  const places = Object.fromEntries(
    Object.entries(env).filter(([name]) => /(?:^|_)(?:HOME|DIR)$/.test(name)),
  );
  const before = findClis({ executor, env: places }).flatMap((cli) => listSuspects(cli, cwd));
  const note: CliNote = { executor, env: places, cwd, before };
  mkdirSync(join(home, 'quarantine'), { recursive: true, mode: 0o700 });
  writeFileSync(toNotePath(home, run), JSON.stringify(note), { mode: 0o600 });
}

/**
 * Settings of its program that a run has made anew are set aside when it has ended: those that were missing, and that
 * Forge does not know to make. Gives a sentence for the user, where there are any.
 */
export function setPlantedAside({ home }: Pick<WorkPlace, 'home'>, run: Pick<Run, 'id'>): string | undefined {
  const text = readTextIfThere(toNotePath(home, run));
  if (text === undefined) return undefined;
  // Written by the function above; nothing inside of walls reaches it.
  const note = JSON.parse(text) as CliNote;
  const before = new Set(note.before);
  const clis = findClis(note);
  const planted = clis.flatMap((cli) => listSuspects(cli, note.cwd)).filter((path) => !before.has(path));
  const folder = join(home, 'quarantine', run.id);
  for (const path of planted) setAside(path, folder);
  for (const path of clis.flatMap(({ projects }) => listKept(projects, note.cwd))) removeIfEmpty(path);
  rmSync(toNotePath(home, run), { force: true });
  if (planted.length === 0) return undefined;
  return `It left new settings of its program in your home, which are set aside in ${folder}: ${planted.join(', ')}`;
}

/** Of a program that was not started. */
function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // It has something in it, or is not there.
  }
}

function toNotePath(home: string, { id }: Pick<Run, 'id'>): string {
  return join(home, 'quarantine', `${id}.json`);
}

function findClis({ executor, env }: Pick<CliNote, 'executor' | 'env'>): readonly CliPlaces[] {
  return findCliPlaces(executor, { home: env['HOME'] ?? '', env });
}

function setAside(path: string, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const to = join(folder, `${basename(dirname(path))}-${basename(path)}`);
  try {
    renameSync(path, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    cpSync(path, to, { recursive: true, verbatimSymlinks: true });
    rmSync(path, { recursive: true, force: true });
  }
}

/** What a program has to write counts for nothing, but for what it takes settings from, and memory of other folders. */
function listSuspects(cli: CliPlaces, cwd: string): string[] {
  const open = new Set([...cli.own, ...toPathsOf(cli.folders)]);
  const odd = cli.folders.flatMap(({ path: folder, written, foreign }) =>
    list(folder).flatMap((path) => {
      if (open.has(path)) return [];
      if (!written.test(basename(path))) return [path];
      const taken = foreign?.(path, cwd);
      return taken !== undefined && existsSync(taken) ? [taken] : [];
    }),
  );
  return hasSetting(cli) && cli.logins !== undefined ? [...odd, cli.logins.path] : odd;
}

/** Of all that lies in a folder, the paths. */
function list(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Run } from '#contract/attempt.ts';
import { findCliPlaces, type CliPlaces } from '#executors/cli-places.ts';
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
 * cannot be changed; those that are missing are made, empty. A setting that is a link cannot be covered by a mount, and
 * the link could be replaced: then only what the program has to write is open.
 */
export function protectCli(cli: CliPlaces): GuardedCli {
  prepare(cli);
  const { folders, own, settings, written } = cli;
  const named = settings.map(({ path }) => path);
  if (written === undefined) return { writable: folders, fixed: named };
  const there = folders.flatMap((folder) => list(folder).map((name) => join(folder, name)));
  const state = there.filter((path) => written.test(basename(path)));
  const rest = there.filter((path) => !state.includes(path) && !own.includes(path));
  const isLinked = there.some(
    (path) => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true,
  );
  return isLinked ? { writable: state, fixed: [] } : { writable: folders, fixed: [...named, ...rest] };
}

/** A folder that is missing could not be made inside, and settings that are missing could be made by the agent. */
function prepare({ folders, own, settings, written }: CliPlaces): void {
  for (const path of [...folders, ...own]) mkdirSync(path, { recursive: true, mode: 0o700 });
  if (written?.test('projects') === true)
    for (const folder of folders) mkdirSync(join(folder, 'projects'), { recursive: true, mode: 0o700 });
  for (const { path, empty } of settings) {
    if (empty === undefined || lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    if (empty === 'folder') mkdirSync(path, { recursive: true, mode: 0o700 });
    else makeFile(path, empty.text);
  }
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
  readonly walls: Walls | undefined;
}

/** What was there when a run began; on the disk, because its watcher may be killed. */
interface CliNote {
  readonly executor: string;
  readonly env: Readonly<Record<string, string>>;
  readonly before: readonly string[];
}

/** Notes which settings the programs of a run have before it begins. */
export function watchCli({ home }: Pick<WorkPlace, 'home'>, { run, env, executor, walls }: WatchedRun): void {
  if (walls === undefined || !env['HOME']) return;
  const places = Object.fromEntries(
    Object.entries(env).filter(([name]) => /(?:^|_)(?:HOME|DIR)$/.test(name)),
  );
  const before = findClis({ executor, env: places }).flatMap(listSuspects);
  const note: CliNote = { executor, env: places, before };
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
  const planted = findClis(note)
    .flatMap(listSuspects)
    .filter((path) => !before.has(path));
  const folder = join(home, 'quarantine', run.id);
  for (const path of planted) setAside(path, folder);
  rmSync(toNotePath(home, run), { force: true });
  if (planted.length === 0) return undefined;
  return `It left new settings of its program in your home, which are set aside in ${folder}: ${planted.join(', ')}`;
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

/** What a program has to write counts for nothing; of programs whose state is not known in full only names of settings count. */
function listSuspects({ folders, own, settings, written }: CliPlaces): string[] {
  const named = new Set(settings.map(({ path }) => path));
  return folders
    .flatMap((folder) => list(folder).map((name) => join(folder, name)))
    .filter((path) => !own.includes(path))
    .filter((path) => (written === undefined ? named.has(path) : !written.test(basename(path))));
}

function list(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

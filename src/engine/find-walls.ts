import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import {
  findCliPlaces,
  listCliFolders,
  NO_PLACES,
  type CliPlaces,
  type Person,
} from '#executors/cli-places.ts';
import type { ExecutorProfile } from '#executors/executor.ts';
import { HIDDEN_OF_HOME, listCaches, listReadCaches } from '#executors/home-places.ts';
import type { Walls } from '#process/walls.ts';
import type { WorkPlace } from './work.ts';

export interface WalledWork {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
  /** Left out for checks and set-ups. */
  readonly profile?: ExecutorProfile | undefined;
  /** Where the run's socket is. */
  readonly socket?: string | undefined;
}

/** What a program of an attempt can reach here; undefined where a person switched walls off, or the machine has none. */
export async function findWalls(place: WorkPlace, work: WalledWork): Promise<Walls | undefined> {
  const { walls } = place.settings();
  const wanted = work.profile === undefined ? walls.checks : (work.profile.walls ?? walls.agents);
  if (wanted === 'off' || (await (await place.processes()).bubblewrap()) === undefined) return undefined;
  return toWalls(place, work);
}

function toWalls(place: WorkPlace, { cwd, env, read_only = false, profile, socket }: WalledWork): Walls {
  const person = env['HOME'] ? { home: env['HOME'], env } : undefined;
  const { writable, hidden } = place.settings().walls;
  const cli = person === undefined ? NO_PLACES : findCliPlaces(profile?.executor ?? '', person);
  prepare(cli);
  const toPath = (path: string): string =>
    path.startsWith('~/') && person !== undefined ? join(person.home, path.slice(2)) : path;
  return {
    work: { path: cwd, read_only },
    writable: [...cli.folders, ...writable.map(toPath)],
    replaced: person === undefined ? [] : replaceCaches(place, person),
    own: cli.own,
    fixed: [...(person === undefined ? [] : listReadCaches(person)), ...listFixed(cli)],
    hidden: [
      ...(hidden ?? HIDDEN_OF_HOME.map((name) => `~/${name}`)).map(toPath),
      ...(person === undefined ? [] : listCliFolders(person)).filter((path) => !cli.folders.includes(path)),
    ],
    sealed: [place.home, place.root, place.records],
    let_in: [
      ...(socket === undefined ? [] : [dirname(socket)]),
      // A person named them: a recorded trajectory, a file of settings.
      ...(profile?.command ?? []).filter((word) => isAbsolute(word) && statOf(word)?.isFile() === true),
    ],
    // The store can be read, as the run's socket lets it be.
    readable: [place.project.root, place.repo.common_dir],
  };
}

/** Folders of the project's agents and checks, in the places of the user's own. */
function replaceCaches({ home, root }: WorkPlace, person: Person): Walls['replaced'] {
  return listCaches(person).flatMap(({ path, name, always }) => {
    if (always) mkdirSync(path, { recursive: true });
    if (statOf(path) === undefined) return [];
    const by = join(home, 'caches', basename(root), name);
    mkdirSync(by, { recursive: true, mode: 0o700 });
    return [{ path, by }];
  });
}

/** A folder that is missing could not be made inside, and settings that are missing could be made by the agent. */
function prepare({ folders, own, settings }: CliPlaces): void {
  if (settings.every(({ empty }) => empty === undefined)) return;
  for (const path of [...folders, ...own]) mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const { path, empty } of settings) {
    if (empty === undefined || statOf(path) !== undefined) continue;
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

function listFixed({ folders, own, settings, written }: CliPlaces): string[] {
  const named = settings.map(({ path }) => path);
  if (written === undefined) return named;
  const there = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => !written.test(name))
      .map((name) => join(folder, name)),
  );
  return [...named, ...there.filter((path) => !own.includes(path))];
}

function statOf(path: string): ReturnType<typeof statSync> | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { findCliPlaces, findPackageCaches, HIDDEN_OF_HOME, type CliPlaces } from '#executors/cli-places.ts';
import type { ExecutorProfile } from '#executors/executor.ts';
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
  const home = env['HOME'] || undefined;
  const { walls } = place.settings();
  const own = home === undefined ? NONE : findCliPlaces(profile?.executor ?? '', { home, env });
  prepare(own);
  return {
    work: { path: cwd, read_only },
    writable: [
      ...(home === undefined ? [] : findPackageCaches({ home, env })),
      ...own.folders,
      ...walls.writable.map((path) => toPath(path, home)),
    ],
    // The store can be read, as the run's socket lets it be; also where the project lies in a cache.
    fixed: [...own.settings.map(({ path }) => path), place.project.root, place.repo.common_dir],
    hidden: (walls.hidden ?? HIDDEN_OF_HOME.map((name) => `~/${name}`)).map((path) => toPath(path, home)),
    sealed: [place.home, place.root, place.records],
    let_in: [
      ...(socket === undefined ? [] : [dirname(socket)]),
      // A person named them: a recorded trajectory, a file of settings.
      ...(profile?.command ?? []).filter((word) => isAbsolute(word) && isFile(word)),
    ],
    readable: [place.project.root, place.repo.common_dir],
  };
}

const NONE: CliPlaces = { folders: [], settings: [] };

/** A folder that is missing could not be made inside, and settings that are missing could be made by the agent. */
function prepare({ folders, settings }: CliPlaces): void {
  if (settings.every(({ empty }) => empty === undefined)) return;
  for (const path of folders) mkdirSync(path, { recursive: true, mode: 0o700 });
  for (const { path, empty } of settings) {
    if (empty === undefined || statSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    if (empty === 'folder') mkdirSync(path, { mode: 0o700 });
    else writeFileSync(path, empty.text, { mode: 0o600, flag: 'wx' });
  }
}

function toPath(path: string, home: string | undefined): string {
  return path.startsWith('~/') && home !== undefined ? join(home, path.slice(2)) : path;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

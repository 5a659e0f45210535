import { dirname, isAbsolute, join } from 'node:path';
import { lstatSync, mkdirSync, statSync } from 'node:fs';
import { findCliPlaces, listCliPlaces, toPathsOf, type Person } from '#executors/cli-places.ts';
import type { ExecutorProfile } from '#executors/executor.ts';
import { HIDDEN_OF_HOME, listCaches, listReadCaches } from '#executors/home-places.ts';
import type { Walls } from '#process/walls.ts';
import { AGENT_CACHES, toCacheFolder } from './caches.ts';
import { protectCli } from './protect-cli.ts';
import type { WorkPlace } from './work.ts';

export interface WalledWork {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly read_only?: boolean;
  /** Left out for checks and set-ups. */
  readonly profile?: ExecutorProfile | undefined;
  /** Whose caches it has, by the name of their folder. */
  readonly caches?: string | undefined;
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

function toWalls(
  place: WorkPlace,
  { cwd, env, read_only = false, profile, caches = AGENT_CACHES, socket }: WalledWork,
): Walls {
  const person = env['HOME'] ? { home: env['HOME'], env } : undefined;
  const { writable, hidden, shown } = place.settings().walls;
  const clis = person === undefined ? [] : findCliPlaces(profile?.executor ?? '', person);
  const guarded = clis.map((cli) => protectCli(cli, cwd));
  const ofClis = new Set(clis.flatMap(({ folders, read }) => [...toPathsOf(folders), ...read]));
  const toPath = (path: string): string =>
    path.startsWith('~/') && person !== undefined ? join(person.home, path.slice(2)) : path;
  const open = new Set([...writable, ...shown].map(toPath));
  const usual = HIDDEN_OF_HOME.map((name) => toPath(`~/${name}`)).filter((path) => !open.has(path));
  return {
    work: { path: cwd, read_only },
    writable: [...guarded.flatMap((one) => one.writable), ...writable.map(toPath)],
    replaced: person === undefined ? [] : replaceCaches(place, person, caches),
    own: clis.flatMap((one) => one.own),
    fixed: [...(person === undefined ? [] : listReadCaches(person)), ...guarded.flatMap((one) => one.fixed)],
    hidden: [
      ...usual,
      ...hidden.map(toPath),
      ...(person === undefined ? [] : listCliPlaces(person)).filter((path) => !ofClis.has(path)),
    ],
    sealed: [place.home, place.root, place.records],
    let_in: [
      ...(socket === undefined ? [] : [dirname(socket)]),
      // A person named them: a recorded trajectory, a file of settings.
      ...(profile?.command ?? []).filter((word) => isAbsolute(word) && isFile(word)),
    ],
    // The store can be read, as the run's socket lets it be.
    readable: [place.project.root, place.repo.common_dir],
  };
}

/** Folders of the project in the places of the user's own. */
function replaceCaches(place: WorkPlace, person: Person, whose: string): Walls['replaced'] {
  return listCaches(person).flatMap(({ path, name, always }) => {
    if (always) mkdirSync(path, { recursive: true });
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
    const by = join(toCacheFolder(place, whose), name);
    mkdirSync(by, { recursive: true, mode: 0o700 });
    return [{ path, by }];
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

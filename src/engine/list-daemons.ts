import type { Daemon } from '#contract/daemon-operations.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { judgeIdentity, type Liveness } from '#process/process-identity.ts';
import type { ProcessMark } from '#store/attempt-store.ts';
import { openTaskReader, type ReadWatcher } from '#store/open-task-reader.ts';
import type { StoreLocation } from '#store/store-location.ts';
import { judgeServer, listServers, type RunningServer } from '#sync/running-servers.ts';
import { listPlaces, type Around as PlacesAround } from './list-places.ts';

/** A daemon with what it runs just now. */
export interface KnownDaemon {
  readonly daemon: Daemon;
  readonly runs: readonly { readonly agent: string; readonly executor: string }[];
}

interface Around extends PlacesAround {
  readonly now: number;
}

/** Servers first. Nothing is changed by looking. */
export function listDaemons(around: Around): KnownDaemon[] {
  const servers = listServers(around.place.home);
  const places = listPlaces(
    around,
    servers.flatMap(({ projects }) => projects),
  );
  const watchers = places.flatMap(({ paths }) =>
    readWatchers(paths.store).map((one) => ({ ...one, root: paths.root })),
  );
  const byProcess = Map.groupBy(watchers, ({ watcher }) => toId(watcher));
  const known = servers.map((server) => {
    const id = toId(server);
    const own = judgeServer(server) === 'alive' ? (byProcess.get(id) ?? []) : [];
    if (own.length > 0) byProcess.delete(id);
    return toServer(server, own, around);
  });
  const commands = [...byProcess.values()].map((own) => toCommand(own, around));
  return [...known, ...commands.filter(isOfInterest)];
}

/** One that ended in peace leaves its mark on tasks until the next start; one that was killed leaves runs. */
function isOfInterest({ daemon: { state }, runs }: KnownDaemon): boolean {
  return state !== 'gone' || runs.length > 0;
}

type Watcher = ReadWatcher & { readonly root: string };

function toServer(server: RunningServer, own: readonly Watcher[], { now }: Around): KnownDaemon {
  const { host, pid, version, url, projects, started_at } = server;
  const state = judgeServer(server);
  const runs = listRuns(own);
  return {
    runs,
    daemon: {
      id: toId(server),
      kind: 'server',
      host,
      pid,
      version,
      url,
      projects: [...projects],
      runs: runs.length,
      started_at,
      last_seen_at: state === 'alive' ? toIso(now) : null,
      state,
    },
  };
}

function toCommand(own: readonly Watcher[], { now }: Around): KnownDaemon {
  const mark: Pick<ProcessMark, 'host' | 'pid'> = own[0]?.watcher ?? { host: '', pid: 0 };
  const state = judge(own);
  const runs = listRuns(own);
  const heard = Math.max(...own.map(({ since, beat_at }) => beat_at ?? since));
  return {
    runs,
    daemon: {
      id: toId(mark),
      kind: 'command',
      host: mark.host,
      pid: mark.pid,
      version: null,
      url: null,
      projects: [...new Set(own.map(({ root }) => root))],
      runs: runs.length,
      started_at: toIso(Math.min(...own.map(({ since }) => since))),
      last_seen_at: toIso(state === 'alive' ? now : heard),
      state,
    },
  };
}

/** A number that is used again may be that of several; one that is there counts. */
function judge(own: readonly Watcher[]): Liveness {
  const found = new Set(
    own.map(({ watcher, is_over }) => {
      const seen = judgeIdentity(watcher);
      return seen === 'unknown' && is_over ? 'gone' : seen;
    }),
  );
  return found.has('alive') ? 'alive' : found.has('unknown') ? 'unknown' : 'gone';
}

function listRuns(own: readonly Watcher[]): KnownDaemon['runs'] {
  return own.flatMap(({ run }) => (run === null ? [] : [run]));
}

function toId({ host, pid }: Pick<ProcessMark, 'host' | 'pid'>): string {
  return `${host}-${pid}`;
}

function readWatchers(store: StoreLocation): ReadWatcher[] {
  try {
    using reader = openTaskReader(store);
    return reader.listWatchers();
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return [];
  }
}

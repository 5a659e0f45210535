import { hostname } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '#kernel/json.ts';
import { judgeIdentity, type Liveness, type ProcessIdentity, toIdentity } from '#process/process-identity.ts';
import { changeHomeFile, parseHomeObject, readHomeFile } from './home-file.ts';

/** A server of this person. */
export interface RunningServer extends ProcessIdentity {
  readonly url: string;
  /** Real paths of the projects. */
  readonly projects: readonly string[];
  /** Of Forge. Older ones did not say. */
  readonly version: string | null;
  /** The newest schema of a database that it knows. Older ones did not say. */
  readonly schema: number | null;
  readonly started_at: string | null;
  /** It lets go of its port, or has done so; its requests and agents may still be at work. */
  readonly stopping?: true;
}

const FILE = 'servers.json';

/** Puts a server on the list, and gives another one of the same projects that runs already. */
export function addRunning(home: string, server: RunningServer): Promise<RunningServer | undefined> {
  return change(home, (servers) => ({
    servers: [...servers, server],
    answer: servers.find(
      (one) => one.stopping !== true && isRunning(one) && sameSet(one.projects, server.projects),
    ),
  }));
}

/** Those that run now. A file that is not there or cannot be read names none. */
export function listRunning(home: string): readonly RunningServer[] {
  return listServers(home).filter(isRunning);
}

/** One that runs, works on one of these places and knows no newer schema than this. */
export function findOlderServer(
  home: string,
  { places, schema }: { readonly places: readonly string[]; readonly schema: number },
): RunningServer | undefined {
  return listRunning(home).find(
    (server) => (server.schema ?? 0) < schema && server.projects.some((project) => places.includes(project)),
  );
}

/** Those that did not say that they end too: the list is cleared when the next one begins. */
export function listServers(home: string): readonly RunningServer[] {
  const path = join(home, FILE);
  try {
    return parse(readHomeFile(home, FILE), path);
  } catch {
    return [];
  }
}

/** Before the port is free for others: what listens there from now on is not this server. */
export async function markStopping(home: string, pid: number, url: string): Promise<void> {
  await change(home, (servers) => ({
    servers: servers.map((one) => (one.pid === pid && one.url === url ? { ...one, stopping: true } : one)),
    answer: undefined,
  }));
}

export async function removeRunning(home: string, pid: number, url: string): Promise<void> {
  await change(home, (servers) => ({
    servers: servers.filter((one) => one.pid !== pid || one.url !== url),
    answer: undefined,
  }));
}

function change<T>(
  home: string,
  decide: (servers: RunningServer[]) => { servers: RunningServer[]; answer: T },
): Promise<T> {
  const path = join(home, FILE);
  return changeHomeFile(home, FILE, (text) => {
    const { servers, answer } = decide(parse(text, path).filter(mayRun));
    return { text: `${JSON.stringify({ servers }, null, 2)}\n`, answer };
  });
}

/** Only a help for people: what cannot be read is begun anew. */
function parse(text: string | undefined, path: string): RunningServer[] {
  try {
    const { servers } = parseHomeObject(text ?? '{}', path);
    return Array.isArray(servers) ? (servers as readonly JsonObject[]).flatMap(toServer) : [];
  } catch {
    return [];
  }
}

function toServer({
  url,
  projects,
  version,
  schema,
  started_at,
  stopping,
  ...process
}: JsonObject): RunningServer[] {
  const identity = readIdentity(process);
  if (identity === undefined || typeof url !== 'string' || !Array.isArray(projects)) return [];
  const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const facts = {
    version: textOf(version),
    schema: typeof schema === 'number' ? schema : null,
    started_at: textOf(started_at),
    ...(stopping === true && { stopping }),
  };
  return [{ ...identity, url, projects: projects.map(String), ...facts }];
}

/** Older ones said when they began and not where, so it must have been here; nothing where the system did not say. */
function readIdentity(process: JsonObject): ProcessIdentity | undefined {
  const { pid, began, host, boot_id, pid_namespace, start_time } = process;
  if (typeof pid !== 'number') return undefined;
  if (typeof began === 'string') return toIdentity({ pid, start_time: Number(began) });
  if (typeof start_time !== 'number' || typeof host !== 'string') return undefined;
  if (typeof boot_id !== 'string' || typeof pid_namespace !== 'string') return undefined;
  return { host, boot_id, pid_namespace, pid, start_time };
}

/** `unknown` where it is on another machine, or in a container that cannot be looked into from here. */
export function judgeServer(server: RunningServer): Liveness {
  if (server.start_time > 0 || server.host !== hostname()) return judgeIdentity(server);
  // Where the system does not tell when a process began, the number has to do.
  try {
    process.kill(server.pid, 0);
    return 'alive';
  } catch {
    return 'gone';
  }
}

export function isRunning(server: RunningServer): boolean {
  return judgeServer(server) === 'alive';
}

/** Those of other machines are not kept: nobody here would ever see that they are gone. */
function mayRun(server: RunningServer): boolean {
  const liveness = judgeServer(server);
  return liveness === 'alive' || (liveness === 'unknown' && server.host === hostname());
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}

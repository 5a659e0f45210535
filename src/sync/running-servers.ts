import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '#kernel/json.ts';
import { changeHomeFile, parseHomeObject } from './home-file.ts';

/** A server of this person on this machine. */
export interface RunningServer {
  readonly pid: number;
  /** What the system says about when the process began: a number that is used again is another process. */
  readonly began: string;
  readonly url: string;
  /** Real paths of the projects. */
  readonly projects: readonly string[];
  /** Of Forge. Older ones did not say. */
  readonly version: string | null;
  readonly started_at: string | null;
}

const FILE = 'servers.json';

/** Puts a server on the list, and gives another one of the same projects that runs already. */
export function addRunning(home: string, server: RunningServer): Promise<RunningServer | undefined> {
  return change(home, (servers) => ({
    servers: [...servers, server],
    answer: servers.find((one) => sameSet(one.projects, server.projects)),
  }));
}

/** Those that run now. A file that is not there or cannot be read names none. */
export function listRunning(home: string): readonly RunningServer[] {
  return listServers(home).filter(isRunning);
}

/** Those that did not say that they end too: the list is cleared when the next one begins. */
export function listServers(home: string): readonly RunningServer[] {
  const path = join(home, FILE);
  try {
    return parse(readFileSync(path, 'utf8'), path);
  } catch {
    return [];
  }
}

export async function removeRunning(home: string, pid: number, url: string): Promise<void> {
  await change(home, (servers) => ({
    servers: servers.filter((one) => one.pid !== pid || one.url !== url),
    answer: undefined,
  }));
}

/** Undefined where the system does not say, or there is no such process. */
export function readProcessStart(pid: number): string | undefined {
  try {
    // After the name in parentheses, which may hold anything, the twentieth field is the start.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function change<T>(
  home: string,
  decide: (servers: RunningServer[]) => { servers: RunningServer[]; answer: T },
): Promise<T> {
  const path = join(home, FILE);
  return changeHomeFile(
    home,
    FILE,
    (text) => {
      const { servers, answer } = decide(parse(text, path).filter(isRunning));
      return { text: `${JSON.stringify({ servers }, null, 2)}\n`, answer };
    },
    { mode: 0o600 },
  );
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

function toServer({ pid, began, url, projects, version, started_at }: JsonObject): RunningServer[] {
  if (typeof pid !== 'number' || typeof began !== 'string' || typeof url !== 'string') return [];
  if (!Array.isArray(projects)) return [];
  const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const facts = { version: textOf(version), started_at: textOf(started_at) };
  return [{ pid, began, url, projects: projects.map(String), ...facts }];
}

export function isRunning({ pid, began }: RunningServer): boolean {
  const now = readProcessStart(pid);
  if (now !== undefined) return now === began;
  try {
    process.kill(pid, 0);
    return began === '';
  } catch {
    return false;
  }
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { sep } from 'node:path';
import { holdFileLock } from './hold-file-lock.ts';
import { findIdentity, judgeIdentity, type ProcessIdentity, readSelf } from './process-identity.ts';

/** What those have to know of processes who leave a note of themselves on disk, for others to find when they die. */
export interface ProcessWitness {
  self(): ProcessIdentity;
  identify(pid: number): ProcessIdentity | undefined;
  isGone(process: ProcessIdentity): boolean;
  listInside(folder: string, isMeant: (args: readonly string[]) => boolean): readonly ProcessIdentity[];
  hold<T>(path: string, patience_ms: number, work: () => Promise<T>): Promise<T>;
}

export const processWitness: ProcessWitness = {
  self: readSelf,
  identify: (pid) => findIdentity(pid),
  isGone: (process) => judgeIdentity(process) === 'gone',
  listInside,
  hold: (path, patience_ms, work) => holdFileLock(path, { what: 'merge', patience_ms }, work),
};

/** Processes of this user that work in the folder, by their arguments. None where the system does not tell. */
function listInside(
  folder: string,
  isMeant: (args: readonly string[]) => boolean,
): readonly ProcessIdentity[] {
  const pids = orElse(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const place = orElse(() => readlinkSync(`/proc/${pid}/cwd`), '');
    if (place !== folder && !place.startsWith(folder + sep)) return [];
    const args = orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '').split('\0');
    return isMeant(args) ? (findIdentity(Number(pid)) ?? []) : [];
  });
}

/** A process may end between two looks at it, and those of others are not shown. */
function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

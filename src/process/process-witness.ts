import { holdFileLock } from './hold-file-lock.ts';
import { findIdentity, judgeIdentity, type ProcessIdentity, readSelf } from './process-identity.ts';

/** What those have to know of processes who leave a note of themselves on disk, for others to find when they die. */
export interface ProcessWitness {
  self(): ProcessIdentity;
  identify(pid: number): ProcessIdentity | undefined;
  isGone(process: ProcessIdentity): boolean;
  hold<T>(path: string, patience_ms: number, work: () => Promise<T>): Promise<T>;
}

export const processWitness: ProcessWitness = {
  self: readSelf,
  identify: (pid) => findIdentity(pid),
  isGone: (process) => judgeIdentity(process) === 'gone',
  hold: (path, patience_ms, work) => holdFileLock(path, { what: 'merge', patience_ms }, work),
};

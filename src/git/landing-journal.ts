import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import type { Repository } from './find-repository.ts';
import { look } from './guard-place.ts';
import { readTextIfThere } from './replace-file.ts';

/** One process, on one boot of one machine. */
export interface ProcessMark {
  readonly host: string;
  readonly boot_id: string;
  readonly pid_namespace: string;
  readonly pid: number;
  readonly start_time: number;
}

/** What a landing has to know of processes; this room does not know them itself. */
export interface LandingWitness {
  self(): ProcessMark;
  /** Undefined where there is no such process any more. */
  identify(pid: number): ProcessMark | undefined;
  /** True only where that is certain. */
  isGone(process: ProcessMark): boolean;
  /** Processes that work in the folder, by their arguments, as far as the system tells. */
  listInside(folder: string, isMeant: (args: readonly string[]) => boolean): readonly ProcessMark[];
  /** Runs `work` while no other process holds this path; throws store_busy when the patience is over. */
  hold<T>(path: string, patience_ms: number, work: () => Promise<T>): Promise<T>;
}

/** What is on disk before the first step of a landing in a working tree, so that its death can be made good. */
export interface LandingJournal {
  readonly v: 1;
  readonly holder: ProcessMark;
  /** The git that moves the branch, which may outlive its parent for a moment. */
  readonly git: ProcessMark | null;
  readonly ref: string;
  readonly old: string;
  readonly new: string;
  readonly worktree: string;
  readonly git_dir: string;
  /** The files that are `index.lock` at one of the steps, by inode: a lock with another one is another process's. */
  readonly index_locks: readonly string[];
  /** The same for the lock of the branch and of HEAD. */
  readonly ref_locks: readonly string[];
}

type Shared = Pick<Repository, 'common_dir'>;

/** There while something lands, for all working trees of the repository: every command looks for it once. */
export function toLandingFolder({ common_dir }: Shared): string {
  return join(common_dir, 'forge', 'landing');
}

/** Held by the process that lands or heals. */
export function toLandingLock({ common_dir }: Shared): string {
  return join(common_dir, 'forge', 'landing.lock');
}

/** The folder of one working tree's landing; on the file system of its index. */
export function toLandingPlace({ common_dir, git_dir }: Pick<Repository, 'common_dir' | 'git_dir'>): string {
  const name = git_dir === common_dir ? 'main' : `worktree-${basename(git_dir)}`;
  return join(toLandingFolder({ common_dir }), name);
}

/** Whole or not at all. The first one reaches the disk before anything is changed; later ones name more locks. */
export function writeJournal(folder: string, journal: LandingJournal, options: { sync: boolean }): void {
  const path = join(folder, JOURNAL);
  const temporary = `${path}.tmp`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    writeSync(file, JSON.stringify(journal));
    if (options.sync) fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  if (options.sync) syncFolder(folder);
}

const JOURNAL = 'journal.json';

function syncFolder(folder: string): void {
  let file: number;
  try {
    file = openSync(folder, 'r');
  } catch {
    return; // Windows opens no folders.
  }
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

export function makeLandingPlace(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

export function removeLandingPlace(folder: string): void {
  // The journal first: what is left of the folder without it means nothing.
  rmSync(join(folder, JOURNAL), { force: true });
  rmSync(folder, { recursive: true, force: true });
  try {
    rmdirSync(join(folder, '..'));
  } catch {
    // Another working tree's is there.
  }
}

export interface FoundLanding {
  readonly folder: string;
  /** Undefined where the process died before it had written one: it had changed nothing. */
  readonly journal: LandingJournal | undefined;
}

export function listLandings(repo: Shared): readonly FoundLanding[] {
  const top = toLandingFolder(repo);
  if (look(top)?.isDirectory() !== true) return [];
  return readdirSync(top).map((name) => {
    const folder = join(top, name);
    return { folder, journal: parseJournal(readTextIfThere(join(folder, JOURNAL)) ?? '') };
  });
}

function parseJournal(text: string): LandingJournal | undefined {
  try {
    const value = JSON.parse(text) as LandingJournal; // Written by this file alone, in the user's own git directory.
    return value.v === 1 && typeof value.holder === 'object' && typeof value.new === 'string'
      ? value
      : undefined;
  } catch {
    return undefined;
  }
}

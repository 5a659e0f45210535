import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { GitRepo } from './ask-git.ts';
import { makeLockFile, readInode, takeLock, toIndexLock } from './index-lock.ts';
import {
  type FoundLanding,
  type LandingJournal,
  type LandingWitness,
  listLandings,
  removeLandingPlace,
  toLandingLock,
  writeJournal,
} from './landing-journal.ts';
import { type Mended, mendCheckout } from './mend-checkout.ts';
import { readTextIfThere } from './replace-file.ts';

export type Healed =
  | ({ readonly kind: 'healed'; readonly worktree: string; readonly branch: string } & Mended)
  /** Something is in the way; the next command tries again. */
  | { readonly kind: 'left'; readonly worktree: string; readonly branch: string; readonly why: string };

/**
 * Puts right what a process left that was killed while it landed a merge in a working tree: forward where the branch
 * has the merge, else back. What the user has done there stays. A landing whose process is alive, or of which that is
 * not certain, is left alone. Safe to call at any time and by several processes at once.
 */
export async function healLandings(
  repo: GitRepo,
  witness: LandingWitness,
  patience_ms: number = LIMITS.landing_heal_ms,
): Promise<readonly Healed[]> {
  if (!listLandings(repo).some((found) => isBroken(found, witness))) return [];
  try {
    return await witness.hold(toLandingLock(repo), patience_ms, () => healHeld(repo, witness, patience_ms));
  } catch (error) {
    // Another process lands or heals at this moment.
    if (!isForgeError(error) || error.code !== 'store_busy') throw error;
    return [];
  }
}

/** The same for a process that has the landing lock: nobody else lands, so whatever is there was left. */
export async function healHeld(
  repo: GitRepo,
  witness: LandingWitness,
  patience_ms: number,
): Promise<readonly Healed[]> {
  const healed: Healed[] = [];
  for (const found of listLandings(repo)) {
    if (found.journal === undefined) removeLandingPlace(found.folder);
    else healed.push(await healOne(repo, { ...found, journal: found.journal }, witness, patience_ms));
  }
  return healed;
}

/** One without a journal has changed nothing. One of this process has failed, unless it is at work right now. */
function isBroken({ journal }: FoundLanding, witness: LandingWitness): boolean {
  return journal === undefined || journal.holder.pid === witness.self().pid || witness.isGone(journal.holder);
}

async function healOne(
  repo: GitRepo,
  found: { readonly folder: string; readonly journal: LandingJournal },
  witness: LandingWitness,
  patience_ms: number,
): Promise<Healed> {
  const { folder, journal } = found;
  const place = toPlace(repo, found);
  const told = { worktree: place.worktree, branch: journal.ref.replace(/^refs\/heads\//, '') };
  if (!existsSync(place.git_dir) || !existsSync(place.worktree)) {
    removeLandingPlace(folder);
    return { kind: 'healed', ...told, side: 'old', mended: [], kept: [] };
  }
  const end = performance.now() + patience_ms;
  // The git that moves the branch may have the word and be about to do it.
  while (journal.git !== null && !witness.isGone(journal.git)) {
    if (performance.now() > end)
      return { kind: 'left', ...told, why: `its git (process ${journal.git.pid}) is still at work` };
    await setTimeout(POLL_MS);
  }
  removeRefLocks(place, journal);
  const locked = await lockIndex(place, found, Math.max(0, end - performance.now()));
  if (locked === undefined) {
    const lock = toIndexLock(place.git_dir);
    return { kind: 'left', ...told, why: `another git is at work there, or left ${lock} behind` };
  }
  const mended = await mendCheckout(place, {
    journal: locked.journal,
    folder,
    what: 'all',
    note: locked.note,
  });
  removeLandingPlace(folder);
  return { kind: 'healed', ...told, ...mended };
}

const POLL_MS = 10;

function toPlace(repo: GitRepo, { folder, journal }: { folder: string; journal: LandingJournal }): GitRepo {
  const name = /^worktree-(.+)$/.exec(basename(folder))?.[1];
  const git_dir = name === undefined ? repo.common_dir : join(repo.common_dir, 'worktrees', name);
  return { ...repo, git_dir, worktree: journal.worktree };
}

/** git removes its own; only where it was killed together with its parent they are still there. */
function removeRefLocks(place: GitRepo, journal: LandingJournal): void {
  const branch = join(place.common_dir, `${journal.ref}.lock`);
  const head = join(place.git_dir, 'HEAD.lock');
  const isOurs = (lock: string): boolean => journal.ref_locks.includes(readInode(lock) ?? '');
  // The lock of a branch holds what the branch is to be: nobody else brings this commit.
  const isOursByContent = readTextIfThere(branch)?.trim() === journal.new;
  if (isOurs(head) || isOursByContent) rmSync(head, { force: true });
  if (isOurs(branch) || isOursByContent) rmSync(branch, { force: true });
}

/** The lock that the landing left is taken over; one with another inode is another process's. */
export async function lockIndex(
  place: GitRepo,
  { folder, journal }: { readonly folder: string; readonly journal: LandingJournal },
  patience_ms: number,
): Promise<{ readonly journal: LandingJournal; readonly note: (inode: string) => void } | undefined> {
  const lock = toIndexLock(place.git_dir);
  let now = journal;
  const note = (inode: string): void => {
    if (now.index_locks.includes(inode)) return;
    now = { ...now, index_locks: [...now.index_locks, inode] };
    writeJournal(folder, now, { sync: false });
  };
  const left = readInode(lock);
  if (left !== undefined && now.index_locks.includes(left)) return { journal: now, note };
  const prepared = join(folder, 'lock');
  note(makeLockFile(prepared));
  const inode = await takeLock(lock, prepared, patience_ms);
  if (inode === undefined) return undefined;
  note(inode);
  return { journal: now, note };
}

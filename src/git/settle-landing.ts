import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LIMITS } from '#kernel/limits.ts';
import { askGit, type GitRepo } from './ask-git.ts';
import { lockIndex } from './heal-landings.ts';
import { findFile, isSameIndex } from './index-lock.ts';
import type { LandedPlace } from './land-checkout.ts';
import { removeLandingPlace } from './landing-journal.ts';
import { mendCheckout } from './mend-checkout.ts';
import { isAncestor } from './read-commit.ts';
import { readRef, readSymbolicRef } from './read-ref.ts';

/**
 * Looks some times whether a git that had begun before the landing has undone it afterwards. One that had read the
 * index before may write it back: its entries are put right. One that resets to the HEAD it had read before moves the
 * branch back, with success on both sides: `moved back` then, with what is left of the files taken back too. The
 * journal is removed last.
 */
export async function settleLanding(
  repo: GitRepo,
  landing: { readonly ref: string; readonly commit: string; readonly patience_ms: number },
  places: readonly LandedPlace[],
): Promise<'settled' | 'moved back'> {
  let waited = 0;
  let looked = places;
  for (const at of LOOKS) {
    await setTimeout(at - waited);
    waited = at;
    if (await isMovedBack(repo, landing)) {
      for (const place of looked) await mend(place, 'all', landing.patience_ms);
      for (const { folder } of looked) removeLandingPlace(folder);
      return 'moved back';
    }
    looked = await Promise.all(looked.map((place) => lookAt(place, landing)));
  }
  for (const { folder } of looked) removeLandingPlace(folder);
  return 'settled';
}

/** A git on a busy machine has written within this time what it read before. */
const LOOKS = [30, 90, LIMITS.landing_settle_ms];

/** Only where the index was written since, or another branch was checked out. */
async function lookAt(
  place: LandedPlace,
  { ref, patience_ms }: { readonly ref: string; readonly patience_ms: number },
): Promise<LandedPlace> {
  const path = join(place.repo.git_dir, 'index');
  const index = findFile(path);
  if (isSameIndex(index, place.index) && (await readSymbolicRef(place.repo, 'HEAD')) === ref) return place;
  await mend(place, 'index', patience_ms);
  return { ...place, index: findFile(path) };
}

async function mend(
  { repo, ...found }: LandedPlace,
  what: 'all' | 'index',
  patience_ms: number,
): Promise<void> {
  const locked = await lockIndex(repo, found, patience_ms);
  // Another git holds it for long; its command ends with an index that the next look or command puts right.
  if (locked === undefined) return;
  await mendCheckout(repo, { folder: found.folder, ...locked, what });
}

/** A user who takes the merge back on purpose names what to go to; then it stays back. */
async function isMovedBack(
  repo: GitRepo,
  { ref, commit }: { readonly ref: string; readonly commit: string },
): Promise<boolean> {
  const now = await readRef(repo, ref);
  if (now === undefined || (await isAncestor(repo, commit, now))) return false;
  const { stdout } = await askGit(repo, ['log', '-g', '-n', '20', '--format=%H %gs', ref, '--']);
  const moves = stdout
    .split('\n')
    .map((line) => ({ to: line.split(' ', 1)[0], why: line.replace(/^\S+ /, '') }));
  // Without a log of the branch nobody can say; made again it can be taken back again.
  if (stdout.trim() === '') return true;
  return moves.some(({ to, why }, at) => why === RESET && to !== moves[at + 1]?.to);
}

/** What git writes for `git reset --hard`, also inside of `git stash push`. */
const RESET = 'reset: moving to HEAD';

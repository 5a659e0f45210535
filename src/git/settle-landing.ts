import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { LIMITS } from '#kernel/limits.ts';
import { askGit, type GitRepo } from './ask-git.ts';
import { lockIndex } from './heal-landings.ts';
import { findFile, isSameIndex } from './index-lock.ts';
import { hasVanished } from './landing-checkouts.ts';
import { type IsOurs, isPlacedAs, keepLate, returnSaved, toBackups } from './landing-backups.ts';
import type { LandedPlace } from './landing-place.ts';
import {
  type LandingJournal,
  type LandingWitness,
  type ProcessMark,
  makeLandingPlace,
  removeLandingPlace,
  toLandingPlace,
  writeJournal,
} from './landing-journal.ts';
import { mendCheckout, readStaged } from './mend-checkout.ts';
import { isSameEntry } from './private-index.ts';
import type { PathChange } from './stage-landing.ts';
import { isAncestor } from './read-commit.ts';
import { readRef, resolveRef } from './read-ref.ts';

/**
 * Looks some times whether a git that had begun before the landing has undone it afterwards. One that had read the
 * index before may write it back: its entries are put right. One that resets to the HEAD it had read before moves the
 * branch back, with success on both sides: `moved back` then, with what is left of the files taken back too. The
 * journal is removed last.
 */
export async function settleLanding(
  repo: GitRepo,
  landing: {
    readonly ref: string;
    readonly commit: string;
    readonly patience_ms: number;
    readonly witness: LandingWitness;
  },
  places: readonly LandedPlace[],
): Promise<'settled' | 'moved back'> {
  const { witness } = landing;
  const begun = places.flatMap(({ repo: { worktree } }) => witness.listInside(worktree, writesIndex));
  let looked = places;
  for await (const _ of waitForLooks(() => begun.some((git) => !witness.isGone(git)))) {
    if (await isMovedBack(repo, landing)) {
      for (const place of looked) await whileThere(place, () => mend(place, 'all', landing.patience_ms));
      for (const { folder } of looked) removeLandingPlace(folder);
      return 'moved back';
    }
    const looks = looked.map((place) => whileThere(place, () => lookAt(place, landing)));
    looked = (await Promise.all(looks)).filter((place) => place !== undefined);
  }
  for (const {
    repo: { worktree },
    folder,
    moved,
  } of looked) {
    const isOurs: IsOurs = (path, file) => isPlacedAs(moved.placed.get(path), file);
    returnSaved({ worktree, backups: toBackups(folder) }, keepLate(moved.backups), isOurs);
    removeLandingPlace(folder);
  }
  return 'settled';
}

/** Undefined where the user has removed the working tree meanwhile: there is nothing to put right any more. */
async function whileThere<T>(
  { repo, folder }: Pick<LandedPlace, 'repo' | 'folder'>,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    if (!hasVanished(repo)) return await work();
  } catch (error) {
    if (!hasVanished(repo)) throw error;
  }
  removeLandingPlace(folder);
  return undefined;
}

/** Some looks in any case; more as long as a git is at work that had begun before, and one after its end. */
async function* waitForLooks(isAtWork: () => boolean): AsyncGenerator<number> {
  let waited = 0;
  const wait = async (until: number): Promise<number> => {
    await setTimeout(until - waited);
    waited = until;
    return until;
  };
  for (const at of LOOKS) yield await wait(at);
  while (isAtWork() && waited < LIMITS.landing_settle_last_ms) await wait(waited + MORE_MS);
  if (waited > LIMITS.landing_settle_ms) yield waited;
}

const MORE_MS = 25;

/**
 * Waits until no git of the user's is at work that writes an index, and gives what looks again: whether none has begun
 * since. One that does not end, such as a commit with an open editor, is not waited for.
 */
export async function waitForQuiet(
  places: readonly GitRepo[],
  witness: LandingWitness,
): Promise<() => boolean> {
  const list = (): readonly ProcessMark[] =>
    places.flatMap(({ worktree }) => witness.listInside(worktree, writesIndex));
  let at_work = list();
  for (let waited = 0; at_work.length > 0 && waited < LIMITS.landing_quiet_ms; waited += QUIET_MS) {
    await setTimeout(QUIET_MS);
    at_work = list();
  }
  const known = new Set(at_work.map(({ pid }) => pid));
  return () => list().every(({ pid }) => known.has(pid));
}

const QUIET_MS = 10;

/**
 * A command of git that may write back an index, or go on with a branch, which it read long before; `git status`
 * looks first.
 */
export function writesIndex(args: readonly string[]): boolean {
  const [program = '', ...rest] = args;
  if (!/(?:^|\/)git(?:\.exe)?$/.test(program)) return false;
  const at = rest.findIndex((arg, n) => !arg.startsWith('-') && !/^-[cC]$/.test(rest[n - 1] ?? ''));
  const [command = '', ...more] = rest.slice(at === -1 ? rest.length : at);
  // Forge's own gits ask for no locks; the one that moves the branch is among them.
  const isOurs = rest.slice(0, at).includes('--no-optional-locks');
  return WRITERS.has(command) || (!isOurs && MOVERS.get(command)?.test(more.join(' ')) === true);
}

/** Commands that change where a branch or a HEAD is, as far as they are not only asked to show it. */
const MOVERS: ReadonlyMap<string, RegExp> = new Map([
  ['branch', /(?:^| )(?:-[a-zA-Z]*[mMcCdDf]|--(?:move|copy|delete|force))(?: |$)/],
  ['symbolic-ref', /(?:^| )(?:-d|--delete|[^- ]\S* \S)/],
  ['update-ref', /^/],
  ['worktree', /^(?:add|move|remove|repair)(?: |$)/],
]);

const WRITERS: ReadonlySet<string> = new Set(
  'add am apply checkout cherry-pick commit merge mv pull read-tree rebase reset restore revert rm sparse-checkout stash submodule switch update-index'.split(
    ' ',
  ),
);

/**
 * For a branch that nobody had checked out when it moved: a `git switch` that had read it before comes to a HEAD that
 * has moved, with the files and the index of where it was. They follow.
 */
export async function settleElsewhere(
  listPlaces: () => Promise<readonly GitRepo[]>,
  journal: Omit<LandingJournal, 'worktree' | 'git_dir' | 'index_locks'>,
  { changes, isAtWork }: { readonly changes: readonly PathChange[]; readonly isAtWork: () => boolean },
): Promise<void> {
  for await (const _ of waitForLooks(isAtWork)) {
    for (const repo of await listPlaces()) {
      const folder = toLandingPlace(repo);
      await whileThere({ repo, folder }, async () => {
        const staged = await readStaged(repo);
        if (!changes.some(({ path, from }) => isSameEntry(staged.get(path), from))) return;
        const { git_dir, worktree } = repo;
        makeLandingPlace(folder);
        const own = { ...journal, git_dir, worktree, index_locks: [] };
        writeJournal(folder, own, { sync: true });
        await mend({ repo, folder, journal: own }, 'all', LIMITS.index_lock_ms);
        removeLandingPlace(folder);
      });
    }
  }
}

/** A git on a busy machine has written within this time what it read before. */
const LOOKS = [30, 90, LIMITS.landing_settle_ms];

/** Only where the index was written since, or another branch was checked out; and locked only to be put right. */
async function lookAt(
  place: LandedPlace,
  { ref, patience_ms }: { readonly ref: string; readonly patience_ms: number },
): Promise<LandedPlace> {
  const path = join(place.repo.git_dir, 'index');
  const index = findFile(path);
  const isOnBranch = (await resolveRef(place.repo, 'HEAD')) === ref;
  if (isOnBranch && isSameIndex(index, place.index)) return place;
  const staged = await readStaged(place.repo);
  const isWrong = ({ path: at, from, to }: PathChange): boolean =>
    isSameEntry(staged.get(at), isOnBranch ? from : to);
  if (!place.changes.some(isWrong)) return { ...place, index };
  await mend(place, 'index', patience_ms);
  return { ...place, index: findFile(path) };
}

async function mend(
  { repo, ...found }: Pick<LandedPlace, 'repo' | 'folder' | 'journal'>,
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

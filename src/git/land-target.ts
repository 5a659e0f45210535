import { randomInt } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { GitRepo } from './ask-git.ts';
import { healHeld } from './heal-landings.ts';
import { type CheckoutOutcome, landBranch, landCheckouts } from './land-checkout.ts';
import {
  findBlock,
  hasVanished,
  isBeingMade,
  listOthers,
  listPlaces,
  type Place,
} from './landing-checkouts.ts';
import type { LandedPlace, LandingStep, Refusal } from './landing-place.ts';
import { type LandedChanges, listOverlap, toLandedChanges } from './land-overlap.ts';
import { type LandingWitness, toLandingLock } from './landing-journal.ts';
import { isAncestor } from './read-commit.ts';
import { readRef, resolveRef } from './read-ref.ts';
import { toShownStderr } from './run-git.ts';
import { toShownPath } from './shown-path.ts';
import { settleElsewhere, settleLanding, waitForQuiet, writesIndex } from './settle-landing.ts';
import { listPathChanges, type PathChange } from './stage-landing.ts';

export interface LandRequest {
  readonly branch: string;
  /** Where the branch was when the commit was made for it. */
  readonly old: string;
  readonly commit: string;
  readonly witness: LandingWitness;
  /** How long to wait for another git in the user's checkout. */
  readonly patience_ms?: number;
  readonly on_step?: ((step: LandingStep) => void) | undefined;
}

/** Something of the user's is in the way; nothing was changed. */
export interface LandingOverlap {
  readonly kind: 'overlap';
  readonly files: readonly string[];
  readonly worktree: string;
  /** What git is in the middle of there, where that is the reason. */
  readonly operation?: string;
}

export type Landing =
  | { readonly kind: 'landed' }
  /** Somebody was faster; nothing was changed. */
  | { readonly kind: 'moved'; readonly now: string | undefined }
  | LandingOverlap
  /** Other processes keep the checkout or the branch busy; nothing was changed, and later it may go. */
  | { readonly kind: 'busy'; readonly worktree: string; readonly message: string };

/**
 * Moves the branch to a commit that was made for it, and every working tree that has it checked out with it, as far
 * as nothing of the user's is touched. Refused as a whole otherwise. No hook runs. `landed` is said when no git that
 * had begun before can undo it any more.
 */
export async function landTarget(repository: GitRepo, asked: LandRequest): Promise<Landing> {
  const { old, commit, witness } = asked;
  const patience = asked.patience_ms ?? LIMITS.index_lock_ms;
  const repo: GitRepo = { timeout_ms: LIMITS.git_checkout_ms, ...repository };
  await checkDescent(repo, old, commit);
  const branch = await resolveBranch(repo, asked.branch);
  const request = { ...asked, branch };
  const now = await readRef(repo, toRef(branch));
  if (now !== old) return { kind: 'moved', now };
  mkdirSync(dirname(toLandingLock(repo)), { recursive: true });
  try {
    return await witness.hold(toLandingLock(repo), patience, () => landHeld(repo, request, patience));
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'store_busy') throw error;
    return { kind: 'busy', worktree: repo.worktree, message: error.message };
  }
}

/** What would be in the way of a landing now; undefined where nothing is. Reads only. */
export async function findObstacle(
  repository: GitRepo,
  { branch, old, commit }: Pick<LandRequest, 'branch' | 'old' | 'commit'>,
): Promise<LandingOverlap | undefined> {
  const repo: GitRepo = { timeout_ms: LIMITS.git_checkout_ms, ...repository };
  const changes = toLandedChanges(await listPathChanges(repo, old, commit));
  for (const place of await listPlaces(repo, branch)) {
    const blocked = toBlock(place);
    if (blocked !== undefined) return blocked;
    const files = await listOverlap(place.repo, changes);
    if (files.length > 0) return { kind: 'overlap', files, worktree: place.repo.worktree };
  }
  return undefined;
}

interface HeldRequest extends LandRequest {
  /** How often git has moved it back. */
  readonly repeats?: number;
}

/** For a process that has the landing lock. */
async function landHeld(repo: GitRepo, request: HeldRequest, patience: number): Promise<Landing> {
  const { branch, old, commit, witness } = request;
  const left = await healLeft(repo, witness);
  if (left !== undefined) return left;
  const changes = await listPathChanges(repo, old, commit);
  const end = performance.now() + patience;
  let why = 'another git keeps changing it';
  for (let tries = 0; tries === 0 || performance.now() < end; tries += 1) {
    const now = await readRef(repo, toRef(branch));
    if (now !== old) return { kind: 'moved', now };
    const places = await listPlaces(repo, branch);
    const blocked = places.flatMap((place) => toBlock(place) ?? [])[0];
    if (blocked !== undefined) return blocked;
    const made = places.find((place) => isBeingMade(place.repo))?.repo.worktree;
    const around = places.length === 0 ? await listOthers(repo) : places.map((place) => place.repo);
    const attempt = { ...request, changes, around, tries, left_ms: Math.max(0, end - performance.now()) };
    const outcome =
      made === undefined
        ? await tryLanding(repo, attempt, places).catch((error: unknown) =>
            judgeFailure(repo, attempt, error),
          )
        : { kind: 'again' as const, why: `git worktree add has not finished ${made}` };
    if (outcome.kind !== 'again') return outcome;
    why = outcome.why ?? why;
    await setTimeout(randomInt(5, 30));
  }
  return { kind: 'busy', worktree: repo.worktree, message: `The checkout of ${branch}: ${why}` };
}

/** What an earlier landing has moved aside and could not put back yet, a new one would lose. */
async function healLeft(repo: GitRepo, witness: LandingWitness): Promise<Landing | undefined> {
  for (const healed of await healHeld(repo, witness, LIMITS.landing_heal_ms)) {
    if (healed.kind !== 'left') continue;
    return { kind: 'busy', worktree: healed.worktree, message: `${healed.worktree}: ${healed.why}` };
  }
  return undefined;
}

interface Attempt extends HeldRequest {
  readonly changes: readonly PathChange[];
  /** The working trees of the branch, or all where none has it. */
  readonly around: readonly GitRepo[];
  readonly tries: number;
  readonly left_ms: number;
}

type Tried = Landing | { readonly kind: 'again'; readonly why?: string };

async function tryLanding(repo: GitRepo, attempt: Attempt, places: readonly Place[]): Promise<Tried> {
  const { branch, old, commit, witness, changes, around, left_ms, on_step } = attempt;
  const landed = toLandedChanges(changes);
  const isQuiet = await waitForQuiet(around, witness);
  const landing = { ref: toRef(branch), old, commit, witness, isQuiet, patience_ms: left_ms, on_step };
  const outcome: CheckoutOutcome =
    places.length === 0
      ? await landBranch(repo, around, landing)
      : await landCheckouts(around, {
          ...landing,
          changes,
          findOverlap: (place) => listOverlap(place, landed),
          holds_index: attempt.tries >= LIMITS.landing_light_tries,
        });
  switch (outcome.kind) {
    case 'landed':
      return places.length === 0 ? followLater(repo, attempt, []) : settle(repo, attempt, outcome.places);
    case 'refused': {
      const overlap = await findOverlap(outcome.place, landed, outcome.refusal);
      const { said } = outcome.refusal;
      return overlap ?? { kind: 'again', ...(said !== '' && { why: toShownStderr(said) }) };
    }
    case 'busy':
      return { kind: 'again', why: `another git is at work there, or left ${outcome.lock} behind` };
    case 'again':
      return outcome;
  }
}

/**
 * Where the branch has the commit it is landed, whatever went wrong after: what is left is healed. A working tree that
 * the user has removed in the middle is none any more, and the others are looked at again.
 */
async function judgeFailure(repo: GitRepo, { around, ...attempt }: Attempt, error: unknown): Promise<Tried> {
  const now = await readRef(repo, toRef(attempt.branch));
  const isLanded = now !== undefined && (await isAncestor(repo, attempt.commit, now));
  if (!isLanded && !around.some(hasVanished)) throw error;
  const left = await healLeft(repo, attempt.witness);
  return isLanded ? { kind: 'landed' } : (left ?? { kind: 'again' });
}

async function settle(repo: GitRepo, request: Attempt, places: readonly LandedPlace[]): Promise<Landing> {
  const { branch, commit, repeats = 0 } = request;
  const landing = { ref: toRef(branch), commit, patience_ms: LIMITS.index_lock_ms, witness: request.witness };
  if ((await settleLanding(repo, landing, places)) === 'settled') return followLater(repo, request, places);
  if (repeats >= LIMITS.landing_repeats)
    return { kind: 'busy', worktree: repo.worktree, message: `git moved ${branch} back ${repeats} times` };
  return landHeld(repo, { ...request, repeats: repeats + 1 }, request.patience_ms ?? LIMITS.index_lock_ms);
}

/** Undefined where nothing is in the way any more: another git was in the middle of its work. */
async function findOverlap(
  place: GitRepo,
  changes: LandedChanges,
  { said }: Refusal,
): Promise<Landing | undefined> {
  const { worktree } = place;
  await setTimeout(SETTLE_MS);
  const files = await listOverlap(place, changes);
  if (files.length > 0) return { kind: 'overlap', files, worktree };
  // An entry that is told to be taken for unchanged, a file outside of a sparse checkout.
  const lines = new Set(said.split('\n').map((line) => line.trim()));
  const isNamed = (path: string): boolean => lines.has(path) || said.includes(`'${path}'`);
  const named = [...changes.all].map(toShownPath).filter(isNamed).sort();
  return named.length === 0 ? undefined : { kind: 'overlap', files: named, worktree };
}

const SETTLE_MS = 50;

/** What no landing may touch. */
function toBlock(place: Place): LandingOverlap | undefined {
  const operation = findBlock(place);
  const { worktree } = place.repo;
  return operation === undefined ? undefined : { kind: 'overlap', files: [], worktree, operation };
}

/** A working tree that was on its way to the branch, or was just made, has its old files: they follow. */
async function followLater(
  repo: GitRepo,
  { branch, old, commit, witness, changes }: Attempt,
  known: readonly LandedPlace[],
): Promise<Landing> {
  const ref = toRef(branch);
  const listNew = async (): Promise<readonly GitRepo[]> => {
    const free = (await listPlaces(repo, branch)).filter((place) => findBlock(place) === undefined);
    const isKnown = ({ git_dir }: GitRepo): boolean => known.some((one) => one.repo.git_dir === git_dir);
    return free.map((place) => place.repo).filter((place) => !isKnown(place));
  };
  if (known.length > 0 && (await listNew()).length === 0) return { kind: 'landed' };
  const landing = { v: 1, holder: witness.self(), git: null, ref, old, new: commit } as const;
  const others = await listOthers(repo);
  const begun = others.flatMap(({ worktree }) => witness.listInside(worktree, writesIndex));
  const isAtWork = (): boolean =>
    begun.some((git) => !witness.isGone(git)) || others.some((other) => isBeingMade(other));
  const listMade = async (): Promise<readonly GitRepo[]> =>
    (await listNew()).filter((place) => !isBeingMade(place));
  await settleElsewhere(listMade, { ...landing, ref_locks: [] }, { changes, isAtWork });
  return { kind: 'landed' };
}

/** Where a symbolic ref is a branch, the branch that it leads to. */
async function resolveBranch(repo: GitRepo, branch: string): Promise<string> {
  const ref = await resolveRef(repo, toRef(branch));
  if (ref?.startsWith(HEADS) === true) return ref.slice(HEADS.length);
  throw new ForgeError('invalid_input', `${branch} leads to ${ref ?? 'itself'}, which is no branch`, {
    hint: `git symbolic-ref ${toRef(branch)} shows where it leads`,
    details: { branch },
  });
}

async function checkDescent(repo: GitRepo, old: string, commit: string): Promise<void> {
  if (await isAncestor(repo, old, commit)) return;
  throw new ForgeError('invalid_input', `${commit.slice(0, 12)} does not stand on ${old.slice(0, 12)}`, {
    hint: 'Make the candidate again from where the branch is',
    details: { old, commit },
  });
}

const HEADS = 'refs/heads/';

function toRef(branch: string): string {
  return HEADS + branch;
}

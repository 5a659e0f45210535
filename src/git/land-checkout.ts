import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import type { GitRepo } from './ask-git.ts';
import { toIndexLock } from './index-lock.ts';
import { type CheckoutLanding, type LandedPlace, LandingPlace, type Refusal } from './landing-place.ts';
import { openPreparedRef, type PreparedRef } from './prepared-ref.ts';
import { readRef, readSymbolicRef } from './read-ref.ts';
import { toShownPath } from './shown-path.ts';

export type CheckoutOutcome =
  | { readonly kind: 'landed'; readonly places: readonly LandedPlace[] }
  /** Something changed between a look and a step; nothing was changed. */
  | { readonly kind: 'again' }
  | { readonly kind: 'busy'; readonly lock: string }
  /** Something of the user's is in the way in this working tree; git names more than these. */
  | { readonly kind: 'refused'; readonly place: GitRepo; readonly refusal: Refusal };

/**
 * Moves a branch and the working trees that have it, all at one moment, so that no other git can ever see the new
 * index with the old HEAD or the old index with the new HEAD. Everything that takes long is done before the index is
 * locked: a user's command that meets the lock fails. For a process that holds the landing lock.
 */
export async function landCheckouts(
  places: readonly GitRepo[],
  landing: CheckoutLanding,
): Promise<CheckoutOutcome> {
  const [first] = places;
  if (first === undefined) return { kind: 'again' };
  const works = places.map((repo) => new LandingPlace(repo, landing));
  await using ref = await openPreparedRef(first, 'forge: merge');
  try {
    for (const work of works) work.open(ref.pid);
    if (landing.holds_index) {
      const busy = await lockAll(works, landing);
      if (busy !== undefined) return busy;
    }
    for (const work of works) {
      const refused = await work.makeReady();
      if (refused !== undefined) return { kind: 'refused', place: work.repo, refusal: refused };
    }
    if (!landing.holds_index) {
      const busy = await lockAll(works, landing);
      if (busy !== undefined) return busy;
    }
    return await landLocked(works, landing, ref);
  } finally {
    for (const work of works) work.close();
  }
}

/**
 * Moves a branch that no working tree has. A `git switch` to it has read it long before its HEAD says so, and holds its
 * index lock nearly all of that time: the others are locked for the moment, so that none is on its way.
 */
export async function landBranch(
  repo: GitRepo,
  others: readonly GitRepo[],
  landing: Omit<CheckoutLanding, 'changes' | 'findOverlap' | 'holds_index'>,
): Promise<CheckoutOutcome> {
  const works = others.map(
    (other) =>
      new LandingPlace(other, { ...landing, changes: [], findOverlap: async () => [], holds_index: true }),
  );
  await using ref = await openPreparedRef(repo, 'forge: merge');
  try {
    for (const work of works) work.open(ref.pid);
    const busy = await lockAll(works, landing);
    if (busy !== undefined) return busy;
    for (const work of works) if (await work.isOnBranch()) return { kind: 'again' };
    const { ref: name, old, commit } = landing;
    if (!(await ref.hold({ ref: name, from: old, to: commit }))) {
      if ((await readRef(repo, name)) !== old) return { kind: 'again' };
      return { kind: 'busy', lock: join(repo.common_dir, `${name}.lock`) };
    }
    if (!landing.isQuiet()) return { kind: 'again' };
    ref.commit();
    return (await ref.committed()) ? { kind: 'landed', places: [] } : { kind: 'again' };
  } finally {
    for (const work of works) work.close();
  }
}

async function lockAll(
  works: readonly LandingPlace[],
  landing: Pick<CheckoutLanding, 'on_step'>,
): Promise<CheckoutOutcome | undefined> {
  for (const work of works)
    if (!(await work.lock())) return { kind: 'busy', lock: toIndexLock(work.repo.git_dir) };
  landing.on_step?.('locked');
  return undefined;
}

async function landLocked(
  works: readonly LandingPlace[],
  landing: CheckoutLanding,
  ref: PreparedRef,
): Promise<CheckoutOutcome> {
  for (const work of works) if (!(await work.isWhereItWas())) return { kind: 'again' };
  const { ref: name, old, commit } = landing;
  if (!(await ref.hold({ ref: name, from: old, to: commit }))) return whyNotPrepared(works, landing);
  for (const [at, work] of works.entries()) {
    const byGit = at === 0 && (await readSymbolicRef(work.repo, 'HEAD')) === name;
    if (!work.lockHead({ byGit })) return { kind: 'again' };
  }
  landing.on_step?.('prepared');
  // A switch writes the index first and HEAD after: now that HEAD is locked, it counts.
  for (const work of works) if (!(await work.isWhereItWas()) || !work.isUntouched()) return { kind: 'again' };
  const failure = moveAll(works, landing, ref);
  if (failure === undefined && (await ref.committed())) {
    landing.on_step?.('committed');
    return { kind: 'landed', places: works.map((work) => work.toLanded()) };
  }
  await ref[Symbol.asyncDispose]();
  for (const work of works) await work.undo();
  const [first] = works;
  if (first !== undefined && (await readRef(first.repo, name)) === commit)
    return { kind: 'landed', places: works.map((work) => work.toLanded()) };
  if (failure instanceof Error) throw toMoveError(failure, works);
  return failure ?? { kind: 'again' };
}

/** All at once: nothing is awaited from the first file to the last rename. Gives what went wrong. */
function moveAll(
  works: readonly LandingPlace[],
  { on_step }: CheckoutLanding,
  ref: PreparedRef,
): Error | CheckoutOutcome | undefined {
  try {
    for (const work of works) {
      const files = work.move().map(toShownPath);
      if (files.length > 0) return { kind: 'refused', place: work.repo, refusal: { files, said: '' } };
    }
    on_step?.('files');
    for (const work of works) work.putIndex();
    on_step?.('index');
    // Both at once: the branch moves even if this process dies between them, and the lock is there until the end.
    ref.commit();
    on_step?.('commit');
    for (const work of works) work.release();
    on_step?.('freed');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function toMoveError(cause: Error, works: readonly LandingPlace[]): ForgeError {
  const worktree = works.map(({ repo }) => repo.worktree).join(' and ');
  return new ForgeError('io_failed', `A merge could not be put into ${worktree}: ${cause.message}`, {
    hint: 'See that the files there can be written, then merge again; nothing was changed',
    details: { worktree },
    cause,
  });
}

async function whyNotPrepared(
  works: readonly LandingPlace[],
  landing: CheckoutLanding,
): Promise<CheckoutOutcome> {
  const [first] = works;
  if (first === undefined || (await readRef(first.repo, landing.ref)) !== landing.old)
    return { kind: 'again' };
  return { kind: 'busy', lock: join(first.repo.common_dir, `${landing.ref}.lock`) };
}

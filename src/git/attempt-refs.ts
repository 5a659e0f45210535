import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { askGit, getFromGit } from './ask-git.ts';
import { findCheckout } from './branches.ts';
import { checkName } from './checkout-record.ts';
import type { ControlGit } from './control-directory.ts';
import { isAncestor } from './read-commit.ts';
import { readRef } from './read-ref.ts';
import { refreshFile } from './replace-file.ts';
import { type GitResult, toGitFailure } from './run-git.ts';

/** In the user's repository, because `git gc` there would otherwise prune what an attempt is built on. */
export function toKeepRef(attemptId: string): string {
  checkName('id', attemptId);
  return `refs/forge/keep/${attemptId}`;
}

export function toBranch(name: string): string {
  checkName('name', name);
  return `forge/${name}`;
}

export function toBranchRef(name: string): string {
  return `refs/heads/${toBranch(name)}`;
}

const RESCUE = 'refs/forge/rescue/';

/** What the attempt had when it was last harvested, or its base. */
export function readKept(control: ControlGit, attemptId: string): Promise<string | undefined> {
  return readRef(control.repository, toKeepRef(attemptId));
}

/** The control directory knows the commit too, so that a fetch there need not walk the whole history. */
export function noteKept(control: ControlGit, attemptId: string, commit: string): void {
  refreshFile(join(control.git_dir, toKeepRef(attemptId)), `${commit}\n`);
}

/** The same, where somebody has deleted the ref: set to the attempt's branch again, or to where it began. */
export async function getKept(
  control: ControlGit,
  attempt: { readonly attempt_id: string; readonly name: string; readonly base: string },
): Promise<string> {
  const kept = await readKept(control, attempt.attempt_id);
  if (kept !== undefined) return kept;
  const commit = (await readRef(control.repository, toBranchRef(attempt.name))) ?? attempt.base;
  const ref = toKeepRef(attempt.attempt_id);
  const result = await changeRefs(control, `create ${ref} ${commit}\n`, 'forge: keep');
  const now = await readKept(control, attempt.attempt_id);
  if (now === undefined) throw toGitFailure(['update-ref'], result);
  noteKept(control, attempt.attempt_id, now);
  return now;
}

/** Both refs of a new attempt or none. Throws already_exists where the branch, or the attempt, is there. */
export async function createAttemptRefs(
  control: ControlGit,
  refs: { readonly attempt_id: string; readonly name: string; readonly commit: string },
): Promise<void> {
  const { attempt_id, name, commit } = refs;
  const names = [toKeepRef(attempt_id), toBranchRef(name)];
  const input = names.map((ref) => `create ${ref} ${commit}\n`).join('');
  const result = await changeRefs(control, input, 'forge: start');
  if (result.exit === 0) return noteKept(control, attempt_id, commit);
  if (/already exists|exists; cannot create/.test(result.stderr)) {
    throw new ForgeError('already_exists', `There is a branch or an attempt ${toBranch(name)} already`, {
      hint: 'Take a longer name',
      details: { branch: toBranch(name), attempt: attempt_id },
    });
  }
  throw toGitFailure(['update-ref'], result);
}

/** After a start that failed: only what is still as it was made. */
export async function undoAttemptRefs(
  control: ControlGit,
  refs: { readonly attempt_id: string; readonly name: string; readonly commit: string },
): Promise<void> {
  const { attempt_id, name, commit } = refs;
  const input = [toKeepRef(attempt_id), toBranchRef(name)].map((ref) => `delete ${ref} ${commit}\n`).join('');
  await changeRefs(control, input, 'forge: undo');
  forgetKept(control, attempt_id);
}

export type BranchOutcome = 'moved' | 'missing' | 'elsewhere' | 'checked_out';

/**
 * Moves what keeps the attempt, and its branch with it. The branch is the user's to look at and to change: one that
 * was deleted, moved or checked out stays as it is, and the commits are kept all the same. Throws version_conflict
 * where another Forge has harvested the attempt meanwhile.
 */
export async function publishHead(
  control: ControlGit,
  head: { readonly attempt_id: string; readonly name: string; readonly from: string; readonly to: string },
): Promise<BranchOutcome> {
  const { attempt_id, name, from, to } = head;
  const outcome = await lookAtBranch(control, name, from);
  if (from === to && (await readKept(control, attempt_id)) === from) return outcome;
  const keep = `update ${toKeepRef(attempt_id)} ${to} ${from}\n`;
  const branch = outcome === 'moved' ? `update ${toBranchRef(name)} ${to} ${from}\n` : '';
  const result = await changeRefs(control, keep + branch, 'forge: harvest');
  if (result.exit === 0) {
    noteKept(control, attempt_id, to);
    return outcome;
  }
  if ((await readKept(control, attempt_id)) !== from) throw harvestedMeanwhile(attempt_id);
  const moved = await lookAtBranch(control, name, from);
  if (moved === 'moved' || outcome !== 'moved') throw toGitFailure(['update-ref'], result);
  return publishHead(control, head);
}

async function lookAtBranch(control: ControlGit, name: string, expected: string): Promise<BranchOutcome> {
  const now = await readRef(control.repository, toBranchRef(name));
  if (now === undefined) return 'missing';
  if (now !== expected) return 'elsewhere';
  const place = await findCheckout(control.repository, toBranch(name));
  return place === undefined ? 'moved' : 'checked_out';
}

function harvestedMeanwhile(attemptId: string): ForgeError {
  return new ForgeError('version_conflict', `Attempt ${attemptId} was changed by another Forge meanwhile`, {
    hint: 'Look at it again',
    details: { attempt: attemptId },
  });
}

/** Keeps a commit for good, under the next free number; the ref that has it already where there is one. */
export async function addRescueRef(control: ControlGit, attemptId: string, commit: string): Promise<string> {
  for (;;) {
    const refs = await listRescueRefs(control, attemptId);
    const same = refs.find((ref) => ref.commit === commit);
    if (same !== undefined) return same.ref;
    const numbers = refs.map(({ ref }) => Number(ref.slice(ref.lastIndexOf('/') + 1)) || 0);
    const ref = `${RESCUE}${attemptId}/${Math.max(0, ...numbers) + 1}`;
    const result = await changeRefs(control, `create ${ref} ${commit}\n`, 'forge: rescue');
    if (result.exit === 0) return ref;
    // Another Forge took the number; whatever else went wrong would go wrong again.
    if ((await readRef(control.repository, ref)) === undefined) throw toGitFailure(['update-ref'], result);
  }
}

export interface AttemptRef {
  readonly ref: string;
  readonly commit: string;
}

export function listRescueRefs(control: ControlGit, attemptId: string): Promise<readonly AttemptRef[]> {
  checkName('id', attemptId);
  return listRefs(control, [`${RESCUE}${attemptId}/`]);
}

/** Everything that Forge holds in the user's repository for attempts: what keeps, what was rescued, the branches. */
export function listCheckoutRefs(control: ControlGit): Promise<readonly AttemptRef[]> {
  return listRefs(control, ['refs/forge/keep/', RESCUE, 'refs/heads/forge/']);
}

async function listRefs(control: ControlGit, patterns: readonly string[]): Promise<readonly AttemptRef[]> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...patterns];
  const lines = (await getFromGit(control.repository, args)).split('\n').filter((line) => line !== '');
  return lines.map((line) => ({
    commit: line.slice(0, line.indexOf(' ')),
    ref: line.slice(line.indexOf(' ') + 1),
  }));
}

export interface DroppedRefs {
  readonly branch: 'deleted' | 'missing' | 'elsewhere' | 'checked_out';
  /** Set where something was not in the target and is kept here now. */
  readonly rescue?: string;
}

/**
 * Takes the attempt's branch away, and what kept it. What the target does not contain gets a rescue ref first, so
 * that no commit is lost. A branch that somebody moved or has checked out stays.
 */
export async function dropAttemptRefs(
  control: ControlGit,
  attempt: { readonly attempt_id: string; readonly name: string; readonly target: string },
): Promise<DroppedRefs> {
  const { attempt_id, name, target } = attempt;
  const kept = await readKept(control, attempt_id);
  const expected = kept ?? (await readRef(control.repository, toBranchRef(name)));
  if (expected === undefined) return { branch: 'missing' };
  const rescue = (await isContained(control, expected, target))
    ? undefined
    : await addRescueRef(control, attempt_id, expected);
  const found = await lookAtBranch(control, name, expected);
  const branch = found === 'moved' ? `delete ${toBranchRef(name)} ${expected}\n` : '';
  const keep = kept === undefined ? '' : `delete ${toKeepRef(attempt_id)} ${kept}\n`;
  const result = await changeRefs(control, branch + keep, 'forge: remove');
  if (result.exit !== 0) throw toGitFailure(['update-ref'], result);
  forgetKept(control, attempt_id);
  return { branch: found === 'moved' ? 'deleted' : found, ...(rescue !== undefined && { rescue }) };
}

async function isContained(control: ControlGit, commit: string, target: string): Promise<boolean> {
  const tip = await readRef(control.repository, `refs/heads/${target}`);
  return isAncestor(control.repository, commit, tip ?? target);
}

function forgetKept(control: ControlGit, attemptId: string): void {
  rmSync(join(control.git_dir, toKeepRef(attemptId)), { force: true });
}

function changeRefs(control: ControlGit, input: string, reason: string): Promise<GitResult> {
  return askGit(control.repository, ['update-ref', '-m', reason, '--stdin'], { input });
}

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getFromGit } from './ask-git.ts';
import { findFact, restoreGitFolder, toSparseSettings } from './attempt-git-folder.ts';
import { askOnce, listAttemptSecrets } from './attempt-secrets.ts';
import { addRescueRef, getKept } from './attempt-refs.ts';
import { type Checkout, removeRecord, toPrivateIndex, toRecordFolder } from './checkout-record.ts';
import { checkCheckout, type Collected, collectTips } from './collect-tips.ts';
import { type ControlGit, getFromControl } from './control-directory.ts';
import { listDisowned } from './disowned-commits.ts';
import { flattenNested } from './flatten-nested.ts';
import { look, resolvePlace } from './guard-place.ts';
import { writeIndexTree } from './private-index.ts';
import { isAncestor } from './read-commit.ts';
import { removeTree } from './remove-tree.ts';
import { toShownPath } from './shown-path.ts';
import { listDifferences, openStagingIndex, stagePaths } from './stage-work-tree.ts';
import { setTrailers } from './trailers.ts';
import { writeCommit } from './write-commit.ts';

/** Files that differ from the checkout's own last commit, new ones among them; ignored ones are not. */
export async function readDirty(control: ControlGit, checkout: Checkout): Promise<readonly string[]> {
  checkCheckout(control, checkout);
  const { head } = await collectTips(control, checkout, await getKept(control, checkout));
  using staging = await openStagingIndex(control, checkout, head);
  const found = await listDifferences(control, { checkout, index: staging.path });
  const paths = [...found.tracked, ...found.untracked, ...found.nested.map((path) => `${path}/`)];
  return paths.map((path) => toShownPath(path)).sort();
}

export interface Rescue {
  /** `refs/forge/rescue/<attempt>/<n>` in the user's repository. */
  readonly ref: string;
  readonly commit: string;
  /** Of branches apart from HEAD. */
  readonly more: readonly string[];
}

/**
 * Keeps everything that was not harvested yet, uncommitted files and repositories inside included, in refs of the
 * user's repository. The checkout stays as it is. Undefined where there is nothing that another ref does not have.
 * Idempotent: what was rescued before is not rescued again.
 */
export async function rescueCheckout(control: ControlGit, checkout: Checkout): Promise<Rescue | undefined> {
  return (await rescueAll(control, checkout)).rescue;
}

interface Rescued {
  readonly rescue: Rescue | undefined;
  /** Why commits apart from HEAD were not taken. */
  readonly left_out: readonly string[];
}

async function rescueAll(control: ControlGit, checkout: Checkout): Promise<Rescued> {
  checkCheckout(control, checkout);
  const known = await getKept(control, checkout);
  const collected = await collectTips(control, checkout, known);
  const commit = await commitEverything(control, checkout, collected);
  const seen = listDisowned(control, checkout);
  const refs = new Map<string, string>();
  for (const oid of new Set([commit, ...collected.others])) {
    if (seen.includes(oid) || (await isAncestor(control, oid, known))) continue;
    if (oid !== commit && (await isAncestor(control, oid, commit))) continue;
    refs.set(oid, await addRescueRef(control, checkout.attempt_id, oid));
  }
  const [first, ...more] = [...refs];
  const { left_out } = collected;
  if (first === undefined) return { rescue: undefined, left_out };
  return { rescue: { ref: first[1], commit: first[0], more: more.map(([, ref]) => ref) }, left_out };
}

async function commitEverything(
  control: ControlGit,
  checkout: Checkout,
  { head, secrets: found }: Collected,
): Promise<string> {
  using staging = await openStagingIndex(control, checkout, head);
  const { tracked, untracked, nested } = await listDifferences(control, { checkout, index: staging.path });
  const changed = [...tracked, ...untracked];
  const secrets = askOnce(() => listAttemptSecrets(control, checkout, { head, changed, nested, found }));
  const place = { checkout, index: staging.path, secrets, without_filter: 'keep_filter' } as const;
  await stagePaths(control, place, changed);
  const isFlattened = await flattenNested(control, place, nested);
  if (changed.length === 0 && !isFlattened) return head;
  const tree = await writeIndexTree(control, { GIT_INDEX_FILE: staging.path });
  const [before, date] = (await getFromGit(control, ['log', '-1', '--format=%T %ct', head])).split(' ');
  if (tree === before) return head;
  // The same files on the same commit give the same rescue.
  const author = { name: 'Forge', email: 'forge@localhost', date: `${date} +0000` };
  // Trailers tell whose it is, also where it is checked out under another name.
  const message = setTrailers(`Uncommitted work of ${checkout.name}`, {
    'Forge-Attempt': checkout.attempt_id,
  });
  return await writeCommit(control, { tree, parents: [head], message, sign: false, author });
}

/**
 * `git reset --hard HEAD && git clean -fd` in the checkout, by the control directory: commits stay, everything else
 * that is not ignored goes, into a rescue ref first.
 */
export async function resetCheckout(control: ControlGit, checkout: Checkout): Promise<Rescue | undefined> {
  const rescue = await rescueCheckout(control, checkout);
  const { head } = await collectTips(control, checkout, await getKept(control, checkout));
  using staging = await openStagingIndex(control, checkout, head);
  const options = { index: staging.path, work_tree: checkout.path, timeout_ms: control.checkout_timeout_ms };
  const sparse = toSparseSettings(control, checkout);
  await getFromControl(control, [...sparse, 'read-tree', '--reset', '-u', head], options);
  const copied = control.copied.flatMap((pattern) => ['-e', pattern]);
  await getFromControl(control, [...sparse, 'clean', '--quiet', '-f', '-d', ...copied], options);
  staging.save(head);
  restoreGitFolder(control, checkout, head);
  return rescue;
}

export interface Removed {
  readonly removed: boolean;
  readonly rescue?: Rescue;
  /** Why commits apart from HEAD went with the folder: a rule of the repository forbids to store them. */
  readonly left_out?: readonly string[];
}

/**
 * Removes the checkout's folder, after a rescue unless it was made to be thrown away; its refs stay. Only the folder that was made for the attempt, where
 * it was made: anything else at the path is refused, and links inside are removed, not followed. Idempotent.
 */
export async function removeCheckout(control: ControlGit, checkout: Checkout): Promise<Removed> {
  const place = resolvePlace(checkout.root, checkout.path);
  if (look(place) === undefined) {
    removeRecord(control, checkout.attempt_id);
    return { removed: false };
  }
  checkCheckout(control, checkout);
  const begun = join(toRecordFolder(control, checkout.attempt_id), 'removing');
  // A folder that was never filled, or is half gone, has nothing to say about the attempt.
  const isFilled =
    existsSync(toPrivateIndex(control, checkout.attempt_id)) || findFact(checkout, 'attempt') !== undefined;
  const isWhole = isFilled && !existsSync(begun) && checkout.is_throwaway !== true;
  const { rescue, left_out = [] } = isWhole ? await rescueAll(control, checkout) : {};
  writeFileSync(begun, '');
  await removeTree(place);
  removeRecord(control, checkout.attempt_id);
  return { removed: true, ...(rescue && { rescue }), ...(left_out.length > 0 && { left_out }) };
}

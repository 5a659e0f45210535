import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { ForgeError } from '#kernel/errors.ts';
import { askGit, getFromGit, type GitRepo } from './ask-git.ts';
import { toGitFolder, toSparseList, toSparseSettings, writeGitFolder } from './attempt-git-folder.ts';
import { createAttemptRefs, getKept, toBranch, undoAttemptRefs } from './attempt-refs.ts';
import {
  checkName,
  type Checkout,
  removeRecord,
  toPrivateIndex,
  toRecordFolder,
  writeRecord,
} from './checkout-record.ts';
import { type ControlGit, getFromControl } from './control-directory.ts';
import { resolvePlace } from './guard-place.ts';
import { removeTreeNow } from './remove-tree.ts';
import { readTextIfThere, refreshFile } from './replace-file.ts';
import { noteIndexHead } from './stage-work-tree.ts';

export interface StartRequest {
  readonly attempt_id: string;
  /** The branch will be `forge/<name>`. */
  readonly name: string;
  /** The folder of all checkouts, which is made where it is not there. */
  readonly root: string;
  /** Below it; must not be there. */
  readonly path: string;
  /** Full id of the commit to begin with. */
  readonly base: string;
  /** `project`, `task` and the like: `forge.<name>` in the checkout's configuration. */
  readonly facts: Readonly<Record<string, string>>;
  /** Only the part of the tree that the user's own checkout has. */
  readonly sparse?: boolean;
  readonly submodules?: Checkout['submodules'];
  /** For a look at one commit: without a branch, and nothing that is left in it is kept. */
  readonly is_throwaway?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Makes an isolated checkout: its branch and what keeps its commits in the user's repository, the files, and a git
 * directory of its own. All of it or nothing: what was made is removed again when it fails. Throws already_exists
 * where the folder, the branch or the attempt is there, permission_denied for a place outside of `root`.
 */
export async function startCheckout(control: ControlGit, request: StartRequest): Promise<Checkout> {
  const { attempt_id, name, base, facts } = request;
  checkRequest(request);
  mkdirSync(request.root, { recursive: true, mode: 0o700 });
  const path = resolvePlace(request.root, request.path);
  const checkout: Checkout = {
    attempt_id,
    name,
    root: realpathSync.native(request.root),
    path,
    base,
    facts,
    sparse: request.sparse === true && (await isSparse(control.repository)),
    submodules: request.submodules ?? 'none',
    ...(request.is_throwaway === true && { is_throwaway: true }),
  };
  makeFolder(toRecordFolder(control, attempt_id), `Attempt ${attempt_id} is there already`);
  try {
    makeFolder(path, `${path} is there already`);
  } catch (error) {
    removeRecord(control, attempt_id);
    throw error;
  }
  const refs = { attempt_id, name, commit: base };
  // Each takes its time and neither needs the other.
  const [created, filled] = await Promise.allSettled([
    request.is_throwaway === true ? undefined : createAttemptRefs(control, refs),
    fillCheckout(control, checkout, { head: base, ...(request.signal && { signal: request.signal }) }),
  ]);
  const failed = [created, filled].find((step) => step.status === 'rejected');
  if (failed === undefined) return checkout;
  removeTreeNow(path);
  removeRecord(control, attempt_id);
  if (created.status === 'fulfilled' && request.is_throwaway !== true) await undoAttemptRefs(control, refs);
  throw failed.reason;
}

/**
 * Makes the checkout again at the same path, where its folder was removed: with what was last harvested, on the same
 * branch. Sessions of agents are found by their folder, so another path would not do.
 */
export async function recreateCheckout(
  control: ControlGit,
  checkout: Checkout,
  options: { readonly signal?: AbortSignal } = {},
): Promise<string> {
  mkdirSync(checkout.root, { recursive: true, mode: 0o700 });
  const path = resolvePlace(checkout.root, checkout.path);
  const head = await getKept(control, checkout);
  makeFolder(path, `${path} is there already`);
  try {
    mkdirSync(toRecordFolder(control, checkout.attempt_id), { recursive: true });
    rmSync(toPrivateIndex(control, checkout.attempt_id), { force: true });
    await fillCheckout(control, checkout, { head, ...options });
  } catch (error) {
    removeTreeNow(path);
    throw error;
  }
  return head;
}

/** The folder is there and empty. */
async function fillCheckout(
  control: ControlGit,
  checkout: Checkout,
  { head, signal }: { readonly head: string; readonly signal?: AbortSignal },
): Promise<void> {
  writeRecord(control, checkout);
  const options = { timeout_ms: control.checkout_timeout_ms, ...(signal && { signal }) };
  if (checkout.sparse) copySparseList(control);
  await getFromControl(
    control,
    [...toSparseSettings(control, checkout), 'read-tree', '--reset', '-u', head],
    {
      ...options,
      index: toPrivateIndex(control, checkout.attempt_id),
      work_tree: checkout.path,
    },
  );
  noteIndexHead(control, checkout, head);
  writeGitFolder(control, checkout, head);
  if (checkout.submodules !== 'none') await updateSubmodules(control, checkout, options);
}

/** The list of the user's own checkout, for all attempts that want it. */
function copySparseList(control: ControlGit): void {
  const list = readTextIfThere(toSparseList(control.repository.git_dir)) ?? '';
  refreshFile(toSparseList(control.git_dir), list);
}

async function isSparse(repository: GitRepo): Promise<boolean> {
  if (readTextIfThere(toSparseList(repository.git_dir)) === undefined) return false;
  const result = await askGit(repository, ['config', '--type=bool', '--get', 'core.sparseCheckout']);
  return result.stdout.trim() === 'true';
}

/**
 * In the checkout's own git directory, which nobody but Forge has written to yet: the submodules' git directories
 * belong into it. Their objects are borrowed from the user's where those have them.
 */
async function updateSubmodules(
  control: ControlGit,
  checkout: Checkout,
  options: { readonly timeout_ms: number; readonly signal?: AbortSignal },
): Promise<void> {
  const folder = toGitFolder(checkout);
  const { git_env, settings } = control;
  const own: GitRepo = {
    ...control.repository,
    worktree: checkout.path,
    git_dir: folder,
    common_dir: folder,
    git_env: { GIT_ALLOW_PROTOCOL: git_env?.['GIT_ALLOW_PROTOCOL'] ?? '' },
    settings: [
      ...(settings ?? []),
      'submodule.alternateLocation=superproject',
      'submodule.alternateErrorStrategy=info',
      'init.templateDir=',
    ],
  };
  const deep = checkout.submodules === 'recursive' ? ['--recursive'] : [];
  await getFromGit(own, ['submodule', '--quiet', 'update', '--init', '--checkout', ...deep], options);
}

function checkRequest({ attempt_id, name, base, facts }: StartRequest): void {
  checkName('id', attempt_id);
  checkName('name', name);
  if (!/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(base))
    throw new ForgeError('invalid_input', `${JSON.stringify(base)} is not the full id of a commit`);
  const wrong = Object.entries(facts).find(
    ([key, value]) => !/^[a-z][a-z0-9-]*$/.test(key) || value.includes('\0'),
  );
  if (wrong !== undefined)
    throw new ForgeError(
      'invalid_input',
      `forge.${wrong[0]} cannot stand in the configuration of ${toBranch(name)}`,
    );
}

function makeFolder(path: string, message: string): void {
  try {
    mkdirSync(path, { mode: 0o777 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new ForgeError('already_exists', message, {
      hint: 'Take another name',
      details: { path },
      cause: error,
    });
  }
}

import { join } from 'node:path';
import type { Attempt, StepResult } from '#contract/attempt.ts';
import { startCheckout } from '#git/attempt-checkout.ts';
import type { Checkout } from '#git/checkout-record.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { listTouched, listUntracked, putBack } from '#git/put-back.ts';
import { removeCheckout } from '#git/rescue-checkout.ts';
import { showCommit } from '#git/show-commit.ts';
import { openControl, toCheckout } from './attempt-workspace.ts';
import { AGENT_CACHES, openCheckCaches } from './caches.ts';
import { putFurniture } from './furnish-folder.ts';
import { setUpAnew, setUpForChecks } from './set-up-folder.ts';
import type { WorkPlace } from './work.ts';

/** A folder with the files of one commit, for its checks. */
export interface CheckFolder extends AsyncDisposable {
  /** The attempt, at the path of this folder. */
  readonly attempt: Attempt;
  /** Whose caches its checks have inside of walls. */
  readonly caches: string;
  /** Before each check. Gives the command of the set-up that failed. */
  readonly setUp: () => Promise<StepResult | undefined>;
  /** Tracked files that are not as the commit has them. */
  readonly listTouched: () => Promise<readonly string[]>;
  readonly putBack: () => Promise<void>;
  /** Files and folders that the commit does not have, the topmost of each. */
  readonly listUntracked: () => Promise<readonly string[]>;
}

export interface FolderRequest {
  readonly attempt: Attempt;
  readonly commit: string;
  /** The review or the merge that checks; names the folder. */
  readonly gate_id: string;
  /** Set where it is a merge that checks: the commit that the attempt's folder shows otherwise. */
  readonly head?: string | undefined;
}

/**
 * A folder of its own with nothing but the commit, what `workspace.copy` names and what the set-up makes. An agent leaves
 * more than its commit in its own folder: programs that git ignores, settings of git, a doctored index. None of it
 * decides a check here.
 */
export async function openFreshFolder(place: WorkPlace, request: FolderRequest): Promise<CheckFolder> {
  const { attempt, commit, gate_id } = request;
  const control = await openControl(place);
  const { workspace } = place.settings();
  const task = await place.store.getTask(attempt.task_id);
  const name = `${attempt.name}-check-${gate_id.slice(0, 8)}`;
  await using made = new AsyncDisposableStack();
  const checkout = await startCheckout(control, {
    attempt_id: gate_id,
    name,
    root: place.root,
    path: join(place.root, name),
    base: commit,
    facts: { project: place.project.root, task: attempt.task_id, attempt: attempt.id },
    sparse: workspace.sparse,
    submodules: workspace.submodules ? 'top' : 'none',
    is_throwaway: true,
  });
  made.defer(async () => void (await removeCheckout(control, checkout)));
  const { whose: caches } = made.use(await openCheckCaches(place, gate_id));
  const there = { ...attempt, path: checkout.path };
  await putFurniture(place, control, { attempt: there, checkout, task });
  let isSetUp = false;
  const all = made.move();
  return {
    ...toFolder(control, checkout, { attempt: there, commit, caches }),
    async setUp() {
      if (isSetUp) return undefined;
      isSetUp = true;
      return setUpAnew(place, there, caches);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** The attempt's own folder, with everything that its agent has left there. */
export async function openOwnFolder(
  place: WorkPlace,
  { attempt, commit, head }: FolderRequest,
): Promise<CheckFolder> {
  const control = await openControl(place);
  const checkout = toCheckout(place, control, attempt);
  if (head !== undefined) await showCommit(control, checkout, commit);
  return {
    ...toFolder(control, checkout, { attempt, commit, caches: AGENT_CACHES }),
    // Another tree may need other packages than those that are there.
    setUp: () => setUpForChecks(place, attempt),
    async [Symbol.asyncDispose]() {
      if (head !== undefined) await showCommit(control, checkout, head);
    },
  };
}

function toFolder(
  control: ControlGit,
  checkout: Checkout,
  {
    attempt,
    commit,
    caches,
  }: { readonly attempt: Attempt; readonly commit: string; readonly caches: string },
): Omit<CheckFolder, 'setUp' | typeof Symbol.asyncDispose> {
  return {
    attempt,
    caches,
    listTouched: () => listTouched(control, checkout, commit),
    putBack: () => putBack(control, checkout, commit),
    listUntracked: () => listUntracked(control, checkout, commit),
  };
}

import { join } from 'node:path';
import type { Attempt, PickRule } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { listAttemptNames } from '#domain/attempt-names.ts';
import { recreateCheckout, startCheckout } from '#git/attempt-checkout.ts';
import { dropAttemptRefs } from '#git/attempt-refs.ts';
import { findDefaultBranch, listOwnBranches } from '#git/branches.ts';
import { findRecord, isRegistered, type Checkout } from '#git/checkout-record.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { readRef } from '#git/read-ref.ts';
import { removeCheckout } from '#git/rescue-checkout.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { quoteForShell } from '#sync/forge-program.ts';
import { findPortBlock } from '#process/lease-ports.ts';
import { findSecretsOf } from './agent-secrets.ts';
import { SETUP_CACHES } from './caches.ts';
import { changeFolderNote } from './folder-note.ts';
import { furnishFolder } from './furnish-folder.ts';
import { requireRoom } from './keep-room.ts';
import { listLinkPatterns } from './link-file.ts';
import { setUpFolder } from './set-up-folder.ts';
import { systemWriter, type WorkPlace } from './work.ts';

/** An attempt and the folder it works in. */
export interface Workspace {
  readonly attempt: Attempt;
  readonly checkout: Checkout;
}

export function openControl(place: WorkPlace): Promise<ControlGit> {
  const { workspace } = place.settings();
  const copied = [...workspace.copy, ...listLinkPatterns(place)];
  return place.control(copied);
}

/**
 * The task's unfinished attempt, its folder made again where it is gone; undefined where it has none. What is made again
 * is set up by whoever runs something there.
 */
export async function findWorkspace(
  place: WorkPlace,
  control: ControlGit,
  taskId: string,
): Promise<Workspace | undefined> {
  const attempt = (await place.store.listAttempts({ task_id: taskId, state: 'active' })).at(-1);
  return attempt && openFolder(place, control, attempt);
}

/** Its folder, made again where it is gone. */
export async function openFolder(
  place: WorkPlace,
  control: ControlGit,
  attempt: Attempt,
): Promise<Workspace> {
  const checkout = toCheckout(place, control, attempt);
  if (!isRegistered(control, checkout)) await remakeFolder(place, control, { attempt, checkout });
  return { attempt, checkout };
}

async function remakeFolder(
  place: WorkPlace,
  control: ControlGit,
  { attempt, checkout }: Workspace,
): Promise<void> {
  await place.folders.hold(attempt, 'it makes the folder again', async () => {
    // Another process may have done it while this one waited for its turn.
    if (isRegistered(control, checkout)) return;
    changeFolderNote(place, attempt.id, { setup: null, size: null });
    await recreateCheckout(control, checkout);
    const task = await place.store.getTask(attempt.task_id);
    await furnishFolder(place, control, { attempt, checkout, task });
  });
}

/** The task's unfinished attempt, or a new one at the tip of the target branch. */
export async function openWorkspace(
  place: WorkPlace,
  { task, agent }: { readonly task: Task; readonly agent: string | null },
): Promise<Workspace> {
  if (agent !== null) place.checkout.lookAhead();
  const control = await openControl(place);
  const known = await findWorkspace(place, control, task.id);
  if (known === undefined) return startWorkspace(place, control, { task, agent });
  return reopenWorkspace(place, control, { attempt: known.attempt, agent });
}

/** An unfinished attempt for somebody to go on with. */
export async function reopenWorkspace(
  place: WorkPlace,
  control: ControlGit,
  { attempt, agent, pick }: Pick<NewWork, 'agent' | 'pick'> & { readonly attempt: Attempt },
): Promise<Workspace> {
  const known = await openFolder(place, control, attempt);
  await place.folders.hold(attempt, 'set-up', () => setUpFolder(place, attempt));
  const change = { id: attempt.id, agent, pick, cleanup_at: null };
  return { ...known, attempt: await place.store.changeAttempt(change, systemWriter(place)) };
}

export async function startWorkspace(
  place: WorkPlace,
  control: ControlGit,
  { task, agent }: { readonly task: Task; readonly agent: string | null },
): Promise<Workspace> {
  return fillWorkspace(place, control, {
    task,
    attempt: await beginAttempt(place, control, { task, agent }),
  });
}

interface NewWork {
  readonly task: Task;
  readonly agent: string | null;
  /** How one of several is picked, where somebody said so. */
  readonly pick?: PickRule | undefined;
}

/** The row alone; its folder has to be made. */
export async function beginAttempt(place: WorkPlace, control: ControlGit, work: NewWork): Promise<Attempt> {
  await requireRoom(place, control);
  const target = await findTarget(place, control);
  return startAttempt(place, { ...work, ...target });
}

/** The folder of an attempt that was just begun. */
export async function fillWorkspace(
  place: WorkPlace,
  control: ControlGit,
  { task, attempt }: { readonly task: Task; readonly attempt: Attempt },
): Promise<Workspace> {
  try {
    const checkout = await place.folders.hold(attempt, 'set-up', () =>
      makeFolder(place, control, { attempt, task }),
    );
    place.watch({ kind: 'attempt', attempt });
    return { attempt, checkout };
  } catch (error) {
    await takeBack(place, control, attempt);
    throw error;
  }
}

/** Nobody has worked there yet; what a set-up that failed left is of no use. */
async function takeBack(place: WorkPlace, control: ControlGit, attempt: Attempt): Promise<void> {
  const checkout = toCheckout(place, control, attempt);
  if (isRegistered(control, checkout)) {
    await place.folders.hold(attempt, 'removal', () => removeCheckout(control, checkout));
    await dropAttemptRefs(control, { ...checkout, target: attempt.target });
  }
  const removed_at = toIso(place.clock.now());
  const change = { id: attempt.id, state: 'archived', removed_at, port: null } as const;
  await place.store.changeAttempt(change, systemWriter(place));
}

async function makeFolder(
  place: WorkPlace,
  control: ControlGit,
  { attempt, task }: { readonly attempt: Attempt; readonly task: Task },
): Promise<Checkout> {
  const { workspace } = place.settings();
  const checkout = await startCheckout(control, {
    ...toCheckout(place, control, attempt),
    sparse: workspace.sparse,
    submodules: workspace.submodules ? 'top' : 'none',
  });
  await furnishFolder(place, control, { attempt, checkout, task });
  await setUpFolder(place, attempt, SETUP_CACHES);
  return checkout;
}

export function toCheckout(place: WorkPlace, control: ControlGit, attempt: Attempt): Checkout {
  return (
    findRecord(control, attempt.id) ?? {
      attempt_id: attempt.id,
      name: attempt.name,
      root: place.root,
      path: attempt.path,
      base: attempt.base_commit,
      facts: { project: place.project.root, task: attempt.task_id, attempt: attempt.id },
      sparse: false,
      submodules: 'none',
    }
  );
}

/** Throws state_invalid where there is nothing to begin with. */
export async function findTarget(
  place: WorkPlace,
  control?: ControlGit,
): Promise<{ target: string; base: string }> {
  const target = place.settings().merge.target ?? (await findDefaultBranch(place.repo, control));
  const base = target === undefined ? undefined : await readRef(place.repo, `refs/heads/${target}`);
  if (target !== undefined && base !== undefined) return { target, base };
  throw target === undefined ? await explainOpenTarget(place) : explainMissingTarget(place, target);
}

/** Several branches, and nothing that says which of them is the one. */
async function explainOpenTarget({ repo }: WorkPlace): Promise<ForgeError> {
  const branches = await listOwnBranches(repo);
  const [first = 'main'] = branches;
  const shown = branches.slice(0, SHOWN_BRANCHES).map(escapeLine).join(', ');
  const more = branches.length > SHOWN_BRANCHES ? ` and ${branches.length - SHOWN_BRANCHES} more` : '';
  return new ForgeError(
    'state_invalid',
    branches.length === 0
      ? 'The repository has no branch to begin with'
      : `Nothing says which branch to begin with and to merge into: there are ${shown}${more}`,
    {
      hint:
        branches.length === 0
          ? 'git switch -c main && git commit --allow-empty -m "First commit"'
          : `git -C ${quoteForShell(repo.worktree)} switch ${quoteForShell(first)}, or {"merge": {"target": ${JSON.stringify(first)}}} in .forge/config.json`,
      details: { branches: branches.slice(0, SHOWN_BRANCHES) },
    },
  );
}

const SHOWN_BRANCHES = 10;

function explainMissingTarget(place: WorkPlace, target: string): ForgeError {
  const isSet = place.settings().merge.target !== undefined;
  return new ForgeError(
    'state_invalid',
    `There is no commit on the branch ${escapeLine(target)} to begin with`,
    {
      hint: isSet
        ? `merge.target names it: git branch ${quoteForShell(target)}, or set another in .forge/config.json`
        : `git commit --allow-empty -m "First commit", or git fetch . origin/${target}:${target}, or set merge.target in .forge/config.json`,
      details: { target },
    },
  );
}

/** The first name that nobody has, and ports that nobody has. */
async function startAttempt(
  place: WorkPlace,
  { task, agent, pick, target, base }: NewWork & { readonly target: string; readonly base: string },
): Promise<Attempt> {
  const id = crypto.randomUUID();
  const { redact } = await findSecretsOf(place, { task_id: task.id, agent });
  const names = listAttemptNames(id, redact(task.title));
  for (let at = 0; at < names.length;) {
    const name = names[at] ?? id;
    const port = await findPort(place);
    const path = join(place.root, name);
    try {
      return await place.store.startAttempt(
        {
          id,
          task_id: task.id,
          name,
          path,
          target,
          base_commit: base,
          agent,
          port,
          pick,
          holder: place.watcher,
        },
        systemWriter(place),
      );
    } catch (error) {
      if (!isForgeError(error) || error.code !== 'already_exists') throw error;
      // Whoever took the same ports a moment ago has written them down by now.
      if (error.details.port === undefined) at += 1;
    }
  }
  throw new ForgeError('already_exists', `Every name for an attempt of ${task.id} is taken`);
}

async function findPort(place: WorkPlace): Promise<number | null> {
  const { ports: size } = place.settings().workspace;
  if (size === 0) return null;
  const there = await place.store.listAttempts({ there: true, host: place.watcher.host });
  const taken = there.flatMap(({ port }) => (port === null ? [] : [{ first: port, size }]));
  return (await findPortBlock({ size, taken })).first;
}

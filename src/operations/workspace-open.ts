import type { Attempt } from '#contract/attempt.ts';
import type { OutputOf } from '#contract/declare.ts';
import type { openWorkspace as declaration } from '#contract/workspace-operations.ts';
import { BRANCH_FOLDER, listAttemptNames } from '#domain/attempt-names.ts';
import { maskSecrets } from '#domain/find-secrets.ts';
import { findTarget, openControl, openFolder, startWorkspace } from '#engine/attempt-workspace.ts';
import { requireRoom } from '#engine/keep-room.ts';
import { setUpFolder } from '#engine/set-up-folder.ts';
import type { WorkPlace } from '#engine/work.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { startOwnCheckout } from '#sync/own-checkouts.ts';
import { implement, type OperationContext } from './operation.ts';

type Worktree = OutputOf<typeof declaration>;

export const workspaceOpen = implement<typeof declaration>({
  async run(ctx, { task, attempt }) {
    if (task === undefined && attempt !== undefined)
      throw new ForgeError('usage', '--attempt is one of a task: name the task too', {
        hint: `forge workspace open <task> --attempt ${attempt}`,
      });
    const { place } = await ctx.workshop();
    return task === undefined ? openOwn(place) : openOfTask(ctx, place, { ref: task, number: attempt });
  },
  text: worktreeText,
});

export function worktreeText({ path, branch, task_id, created }: Worktree): string {
  const whose = task_id === null ? '' : ` of ${task_id}`;
  return escapeLine(`${created ? 'Made' : 'There is'} ${path}${whose}, on ${branch}`);
}

/** The attempt stays whose it is. */
async function openOfTask(
  { project }: OperationContext,
  place: WorkPlace,
  { ref, number }: { readonly ref: string; readonly number: number | undefined },
): Promise<Worktree> {
  const task = await project.store.getTask((await project.store.findTask(ref)).id);
  const open = await place.store.listAttempts({ task_id: task.id, state: 'active' });
  const known = findMeant(task.id, open, number);
  const control = await openControl(place);
  const { attempt } =
    known === undefined
      ? await startWorkspace(place, control, { task, agent: null })
      : await openFolder(place, control, known);
  await place.folders.hold(attempt, 'set-up', () => setUpFolder(place, attempt));
  const { id: attempt_id, branch, path } = attempt;
  return {
    project: place.project.name,
    task_id: task.id,
    attempt_id,
    branch,
    path,
    created: known === undefined,
  };
}

/** Undefined where it has none yet. Nobody is given one of several by chance. */
function findMeant(id: string, open: readonly Attempt[], number: number | undefined): Attempt | undefined {
  if (number === undefined && open.length < 2) return open[0];
  const meant = open.find((attempt) => attempt.number === number);
  if (meant !== undefined) return meant;
  const known = open.map((one) => `${one.number} (${one.agent ?? 'nobody'}, ${one.name})`);
  const message =
    number === undefined
      ? `${id} has ${open.length} open attempts: ${known.join(', ')}`
      : `${id} has no open attempt ${number}; it has ${known.length === 0 ? 'none' : known.join(', ')}`;
  throw new ForgeError(number === undefined ? 'state_invalid' : 'not_found', message, {
    hint:
      open[0] === undefined
        ? `forge task attempts ${id}`
        : `forge workspace open ${id} --attempt ${open[0].number}`,
    details: {
      id,
      attempts: open.map((one) => ({ number: one.number, attempt_id: one.id, path: one.path })),
    },
  });
}

async function openOwn(place: WorkPlace): Promise<Worktree> {
  const { name, root: project } = place.project;
  const { base } = await findTarget(place);
  const { workspace } = place.settings();
  const attempt_id = crypto.randomUUID();
  const control = await openControl(place);
  await requireRoom(place, control);
  const checkout = await startOwnCheckout(control, {
    attempt_id,
    names: listAttemptNames(attempt_id, maskSecrets(name)),
    root: place.root,
    base,
    project,
    sparse: workspace.sparse,
    submodules: workspace.submodules ? 'top' : 'none',
  });
  const { path } = checkout;
  const branch = `${BRANCH_FOLDER}${checkout.name}`;
  return { project: name, task_id: null, attempt_id, branch, path, created: true };
}

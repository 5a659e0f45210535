import type { OutputOf } from '#contract/declare.ts';
import type { openWorkspace as declaration } from '#contract/workspace-operations.ts';
import { BRANCH_FOLDER, listAttemptNames } from '#domain/attempt-names.ts';
import { findTarget, findWorkspace, openControl, startWorkspace } from '#engine/attempt-workspace.ts';
import { requireRoom } from '#engine/keep-room.ts';
import { setUpFolder } from '#engine/set-up-folder.ts';
import type { WorkPlace } from '#engine/work.ts';
import { escapeLine } from '#kernel/text.ts';
import { startOwnCheckout } from '#sync/own-checkouts.ts';
import { implement, type OperationContext } from './operation.ts';

type Worktree = OutputOf<typeof declaration>;

export const workspaceOpen = implement<typeof declaration>({
  async run(ctx, { task }) {
    const { place } = await ctx.workshop();
    return task === undefined ? openOwn(place) : openOfTask(ctx, place, task);
  },
  text: worktreeText,
});

export function worktreeText({ path, branch, task_id, created }: Worktree): string {
  const whose = task_id === null ? '' : ` of ${task_id}`;
  return escapeLine(`${created ? 'Made' : 'There is'} ${path}${whose}, on ${branch}`);
}

/** The attempt stays whose it is. */
async function openOfTask({ project }: OperationContext, place: WorkPlace, ref: string): Promise<Worktree> {
  const task = await project.store.getTask((await project.store.findTask(ref)).id);
  const control = await openControl(place);
  const known = await findWorkspace(place, control, task.id);
  const { attempt } = known ?? (await startWorkspace(place, control, { task, agent: null }));
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

async function openOwn(place: WorkPlace): Promise<Worktree> {
  const { name, root: project } = place.project;
  const { base } = await findTarget(place);
  const { workspace } = place.settings();
  const attempt_id = crypto.randomUUID();
  const control = await openControl(place);
  await requireRoom(place, control);
  const checkout = await startOwnCheckout(control, {
    attempt_id,
    names: listAttemptNames(attempt_id, name),
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

import type { Attempt } from '#contract/attempt.ts';
import type { Workspace } from '#contract/workspace-operations.ts';
import { openControl } from '#engine/attempt-workspace.ts';
import type { WorkPlace } from '#engine/work.ts';
import { listOwnCheckouts, type OwnCheckout } from '#sync/own-checkouts.ts';
import { BRANCH_FOLDER } from '#domain/attempt-names.ts';

/** The folder of an attempt, or one of somebody's own, and whether a run is at work in it. */
export type KnownWorkspace =
  | { readonly attempt: Attempt; readonly busy: boolean }
  | { readonly own: OwnCheckout; readonly busy: false };

/** The oldest first, those without a task behind the others. */
export async function listKnown(
  place: WorkPlace,
  { all }: { readonly all: boolean },
): Promise<KnownWorkspace[]> {
  const { store } = place;
  const [attempts, runs, control] = await Promise.all([
    store.listAttempts(all ? {} : { there: true }),
    store.listRuns({ open: true }),
    openControl(place),
  ]);
  const busy = new Set(runs.map(({ attempt_id }) => attempt_id));
  return [
    ...attempts.map((attempt) => ({ attempt, busy: busy.has(attempt.id) })),
    ...listOwnCheckouts(control).map((own) => ({ own, busy: false as const })),
  ];
}

export function toWorkspace(known: KnownWorkspace, size_bytes: number | null): Workspace {
  if ('own' in known) {
    const { attempt_id, name, path } = known.own.checkout;
    const { created_at } = known.own;
    const nobody = { task_id: null, agent: null, cleanup_at: null, removed_at: null };
    const branch = `${BRANCH_FOLDER}${name}`;
    return {
      attempt_id,
      name,
      branch,
      path,
      state: 'active',
      busy: false,
      size_bytes,
      created_at,
      ...nobody,
    };
  }
  const { id: attempt_id, task_id, name, branch, path, agent, state } = known.attempt;
  const { created_at, cleanup_at, removed_at } = known.attempt;
  const times = { created_at, cleanup_at, removed_at };
  return { attempt_id, task_id, name, branch, path, agent, state, busy: known.busy, size_bytes, ...times };
}

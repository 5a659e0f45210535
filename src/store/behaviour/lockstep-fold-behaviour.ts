import { toIso } from '#kernel/clock.ts';
import { toRequest } from '../../../tests/support/fold-lines.ts';
import type { Replication } from '../replication.ts';
import type { TaskStore, Writer } from '../store.ts';

export type Fate = 'new' | 'edited' | 'deleted' | 'odd';

interface Brought {
  readonly id: string;
  readonly fate: Fate;
  readonly title: string;
  /** Whole ids. */
  readonly blockers: readonly string[];
  readonly parent_id: string | null;
  /** When it was written, in minutes after now. */
  readonly minutes: number;
}

/** Takes in the line of a task as another clone has it: a new one, or one that is known here. */
export async function takeIn(
  store: Pick<TaskStore, 'getTask'> & Pick<Replication, 'foldTasks'>,
  { id, fate, title, blockers, parent_id, minutes }: Brought,
  { actor, now }: Writer,
): Promise<unknown> {
  const known = fate === 'new' || fate === 'odd' ? undefined : await store.getTask(id);
  const updated_at = toIso(now + minutes * 60_000);
  const content = {
    title,
    dependencies: blockers.map((one) => ({ id: one, type: 'blocks' })),
    parent_id,
    ...(fate === 'odd' && {
      archived_at: { user: 'ann' },
      'role:coder': 'nobody',
      review_config: [1],
    }),
  };
  const line = {
    id,
    status: known?.status ?? 'open',
    ...(known !== undefined && { state: known.state, assignee: known.assignee }),
    created_at: known?.created_at ?? updated_at,
    created_by: known?.created_by ?? 'zoe',
    updated_at,
    ...(fate === 'deleted' ? { title: '', deleted_at: updated_at } : content),
  };
  return store.foldTasks(toRequest([line]), { actor, now });
}

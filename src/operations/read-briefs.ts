import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Status } from '#contract/task.ts';
import { PROPOSED_LABEL } from '#domain/list-waiting.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { TaskBrief, TaskLooks, WalkedTask, WalkEnd } from '#store/task-looks.ts';

/** Tasks by their whole ids, without those that are not here, in parts with other requests served in between. */
export async function* eachBriefs(
  store: Pick<TaskLooks, 'listBriefs'>,
  ids: readonly string[],
): AsyncGenerator<readonly TaskBrief[]> {
  const max_bytes = LIMITS.answer_page_bytes;
  for (let at = 0; at < ids.length;) {
    if (at > 0) await nextTurn();
    const part = ids.slice(at, at + LIMITS.tasks_a_turn);
    const { tasks, looked } = await store.listBriefs({ ids: part, max_bytes });
    at += looked;
    yield tasks;
  }
}

/** All of them. */
export async function readBriefs(
  store: Pick<TaskLooks, 'listBriefs'>,
  ids: readonly string[],
): Promise<TaskBrief[]> {
  const found: TaskBrief[] = [];
  for await (const part of eachBriefs(store, ids)) found.push(...part);
  return found;
}

/** All tasks of a status, or those of them that are parked, in parts as above. */
export async function* eachWalked(
  store: Pick<TaskLooks, 'walkTasks'>,
  { status, parked_only }: { readonly status: Status; readonly parked_only?: boolean },
): AsyncGenerator<readonly WalkedTask[]> {
  const bounds = { max_rows: LIMITS.answer_list_rows, max_bytes: LIMITS.list_read_bytes };
  for (let after: WalkEnd | undefined; ;) {
    const part = await store.walkTasks({ status, parked_only, label: PROPOSED_LABEL, after, ...bounds });
    yield part.tasks;
    after = part.after;
    if (after === undefined) return;
    await nextTurn();
  }
}

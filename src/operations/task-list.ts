import type { listTasks } from '#contract/query-operations.ts';
import { isForgeError } from '#kernel/errors.ts';
import { implement, type OperationContext } from './operation.ts';
import { readCursor } from './read-cursor.ts';
import { readPortion } from './read-portion.ts';
import { countLine, taskLines } from './task-lines.ts';

export const taskList = implement<typeof listTasks>({
  async run(ctx, input) {
    const { all, cursor, ...query } = input;
    const after = await readCursor(cursor, query.sort);
    const { store } = ctx.project;
    // Who names a state means it, also where tasks end there.
    const asked = { ...query, after, open_only: all !== true && query.state === undefined };
    const found = await readPortion(ctx.portion, {
      all: () => store.listTasks(asked),
      page: (max_bytes) => store.pageTasks({ ...asked, max_bytes }),
    });
    if (query.state !== undefined && found.length === 0) await checkState(ctx, query.state);
    return found;
  },
  text: (tasks, view) =>
    taskLines(tasks, view, { none: 'No tasks. Make one: forge task create "…"' }) + countLine(tasks, view),
});

/** Only where nothing was found: a task may stand in a state that its workflow no longer has. */
async function checkState({ project }: OperationContext, state: string): Promise<void> {
  const { unknownState } = await import('#domain/unknown-state.ts');
  const toCommand = (near: string): string => `forge task list --state ${near}`;
  try {
    if (project.workflow().states.has(state)) return;
  } catch (error) {
    // A workflow with faults says nothing of its states.
    if (isForgeError(error) && error.code === 'invalid_input') return;
    throw error;
  }
  throw unknownState(project.workflow(), state, { toCommand });
}

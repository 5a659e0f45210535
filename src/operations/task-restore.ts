import type { restoreTask } from '#contract/task-operations.ts';
import { isForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import type { DeletedTask } from '#store/report.ts';
import { toTextFold } from '#sync/fold-request.ts';
import { digestText } from '#sync/read-file-lines.ts';
import { findLineInGit, rememberTask } from '#sync/remember-task.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

type Context = Parameters<ReturnType<typeof implement<typeof restoreTask>>['run']>[0];

export const taskRestore = implement<typeof restoreTask>({
  async run(ctx, input) {
    const { store, paths } = ctx.project;
    const by = await writerOf(ctx);
    const deleted = await readDeletedOrRecall(ctx, input.id);
    if (deleted === undefined) return store.getTask(toFullId(ctx, input.id));
    // What the store forgot, or never knew because another clone deleted the task, is in git.
    const remembered = deleted.knows.links
      ? undefined
      : await rememberTask(paths, deleted, { machine: ctx.machine, meter: ctx.host.meter });
    return store.restoreTask({ ...input, remembered }, by);
  },
  text: (task) => `Restored task ${escapeLine(task.id)}: ${escapeLine(task.title)}`,
});

/**
 * A task of which the store knows nothing may still be in git: its line left the task file, and the store was lost. The
 * newest line of it is joined in; undefined where it is back by that.
 */
async function readDeletedOrRecall(ctx: Context, ref: string): Promise<DeletedTask | undefined> {
  const { store, paths } = ctx.project;
  const known = await findDeleted(ctx, ref);
  if (known !== undefined) return known;
  const id = toFullId(ctx, ref);
  const isThere = (await store.listHeads([id])).length > 0;
  const look = { machine: ctx.machine, meter: ctx.host.meter };
  const line = isThere ? undefined : await findLineInGit(paths, id, look);
  // What is not deleted, and what nothing knows, is refused by the store.
  if (line === undefined) return store.readDeleted(ref);
  const lines = [{ text: line, number: 1 }];
  const now = ctx.clock.now();
  // It may be forgotten and asked for again: a digest of its own each time.
  const digest = `${digestText(line)}.${now}`;
  await store.foldTasks(toTextFold(`git:recalled:${id}`, lines, { digest, now }), await writerOf(ctx));
  return findDeleted(ctx, id);
}

async function findDeleted({ project: { store } }: Context, ref: string): Promise<DeletedTask | undefined> {
  try {
    return await store.readDeleted(ref);
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'not_found') throw error;
    return undefined;
  }
}

function toFullId({ project }: Context, ref: string): string {
  const id = ref.toLowerCase();
  return id.includes('-') ? id : `${project.config.idPrefix}-${id}`;
}

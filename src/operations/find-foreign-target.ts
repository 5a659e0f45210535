import { ForgeError, isForgeError } from '#kernel/errors.ts';
import { isTaskId } from '#kernel/ids.ts';
import { findProjectOf, prefixOf } from '#sync/foreign-tasks.ts';
import { findRegistered } from '#sync/project-registry.ts';
import type { OperationContext } from './operation.ts';

/**
 * The whole id of another registered project's task; undefined where the id means a task of this project. Throws
 * not_found for what is nowhere. With `force` a whole id is taken as it is where nobody can be asked about it.
 */
export async function findForeignTarget(
  ctx: OperationContext,
  ref: string,
  { force }: { force: boolean },
): Promise<string | undefined> {
  const { config, store } = ctx.project;
  const prefix = prefixOf(ref);
  const whole = ref.toLowerCase();
  if (prefix === undefined || prefix === config.idPrefix || (await store.holdsTask(whole))) return undefined;
  const project = findProjectOf(ref, ctx.place);
  if (project === undefined) {
    if (await isShortHere(ctx, ref)) return undefined;
    if (force && isTaskId(whole)) return whole;
    throw new ForgeError(
      'not_found',
      `No task ${ref} here, and no registered project has ids that begin with ${prefix}-`,
      { hint: 'forge project add <name> <path>', details: { id: ref, prefix } },
    );
  }
  try {
    await using other = await ctx.openProject(findRegistered(project, ctx.place));
    return (await other.store.getTask(ref)).id;
  } catch (error) {
    if (!isForgeError(error)) throw error;
    if (error.code === 'not_found') {
      throw new ForgeError('not_found', `${error.message} in project ${project.name} (${project.path})`, {
        hint: `forge search -C ${JSON.stringify(project.path)}`,
        details: { id: ref, project: project.name },
      });
    }
    if (force && error.code !== 'ambiguous_id' && isTaskId(whole)) return whole;
    throw error;
  }
}

/** Ids that were imported may be shortened like others. */
async function isShortHere({ project }: OperationContext, ref: string): Promise<boolean> {
  try {
    await project.store.getTask(ref);
    return true;
  } catch (error) {
    if (isForgeError(error) && error.code === 'not_found') return false;
    throw error;
  }
}

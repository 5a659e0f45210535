import { statSync } from 'node:fs';
import type { runHook } from '#contract/sync-operations.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { findProject, type FoundProject } from '#sync/find-project.ts';
import { toGitRepo } from '#sync/machine.ts';
import { runPostMerge, runPreCommit } from '#sync/run-hook.ts';
import { toTaskFiles } from '#sync/task-files.ts';
import { implement, type OperationContext } from './operation.ts';

export const gitHook = implement<typeof runHook>({
  async run(ctx, { hook, args = [] }) {
    const found = findHere(ctx);
    if (found === undefined) return { messages: [] };
    // A checkout of single files is told apart by git's third argument.
    if (hook === 'post-checkout' && args[2] === '0') return { messages: [] };
    try {
      if (READS_FILES.has(hook) && isLarge(found)) return { messages: await mendHooks(ctx, found) };
      if (hook === 'pack-blobs') return { messages: await packBlobs(ctx, found) };
      if (hook === 'post-index-change') return { messages: await mendHooks(ctx, found) };
      return { messages: await perform(ctx, hook, found) };
    } catch (error) {
      // A commit must never fail because of tasks: the next command catches up.
      const why = error instanceof Error ? error.message : String(error);
      return { messages: [`Left out: ${why}`] };
    }
  },
  text: ({ messages }) => messages.map((line) => `[forge] ${escapeLine(line)}`).join('\n'),
});

const READS_FILES: ReadonlySet<string> = new Set(['post-merge', 'post-checkout', 'post-rewrite']);

async function perform(ctx: OperationContext, hook: string, found: FoundProject): Promise<string[]> {
  await using project = await ctx.openProject(found, { lock_timeout_ms: LIMITS.hook_lock_timeout_ms });
  if (hook === 'pre-commit') return await runPreCommit(project, ctx.machine);
  const { tasks } = project.folded;
  const changed = tasks === undefined ? 0 : tasks.created + tasks.updated + tasks.deleted;
  const joined = changed === 0 ? [] : [`${changed} task change${changed === 1 ? '' : 's'} joined in`];
  return hook === 'post-merge' ? [...joined, ...(await runPostMerge(project, ctx.machine))] : joined;
}

/** Started by a commit that left more in git's store of objects than it should keep. */
async function packBlobs(ctx: OperationContext, { paths }: FoundProject): Promise<string[]> {
  const { packTaskBlobs } = await import('#sync/loose-task-blobs.ts');
  await packTaskBlobs(paths, toGitRepo(paths.root, ctx.machine));
  return [];
}

/** Another program wrote Forge out of the hooks, or will: git has brought the files by which it does. */
async function mendHooks(ctx: OperationContext, { paths }: FoundProject): Promise<string[]> {
  const { healHooks } = await import('#sync/heal-hooks.ts');
  const told: string[] = [];
  await healHooks(paths, ctx.machine, (line) => void told.push(line));
  return told;
}

/** Undefined where Forge has nothing to do, whatever the reason. */
function findHere(ctx: OperationContext): FoundProject | undefined {
  try {
    return findProject(ctx.cwd, ctx.machine.env, ctx.machine.homeDir);
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

/** So much takes longer than somebody who switches branches should wait; the next command does it. */
function isLarge({ paths }: FoundProject): boolean {
  const stats = statSync(toTaskFiles(paths).tasks, { throwIfNoEntry: false });
  return stats !== undefined && stats.size > LIMITS.hook_file_bytes;
}

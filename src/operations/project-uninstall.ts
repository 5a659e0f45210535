import type { uninstallProject as declaration } from '#contract/project-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { findProject } from '#sync/find-project.ts';
import { uninstallProject } from '#sync/uninstall-project.ts';
import { implement } from './operation.ts';

export const projectUninstall = implement<typeof declaration>({
  async run(ctx, input) {
    const { env, homeDir } = ctx.machine;
    const found = findProject(ctx.cwd, env, homeDir);
    const done = input.yes === true;
    // Opened once more, so that the copy holds what a crash or a pull left to be joined in.
    if (done) await (await ctx.openProject(found))[Symbol.asyncDispose]();
    const result = await uninstallProject(found, { machine: ctx.machine, dry_run: !done });
    return { done, removed: [...result.removed], backup: result.backup, notes: [...result.notes] };
  },
  text: ({ done, removed, backup, notes }) =>
    [
      done
        ? 'Forge is out of this repository'
        : "Would remove the hooks, the merge driver, the lines in git's files, and",
      ...removed.map((path) => `  ${escapeLine(path)}`),
      ...(backup === null ? [] : [`Every task: ${escapeLine(backup)}`]),
      ...notes.map((note) => escapeLine(note)),
      ...(done ? [] : ['To do it: forge uninstall --yes']),
    ].join('\n'),
});

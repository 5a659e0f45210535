import type { initProject } from '#contract/project-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';

export const projectInit = implement<typeof initProject>({
  run: (ctx, input) => ctx.host.initProject({ prefix: input.prefix, name: input.name }),
  text: (project) =>
    [
      `Initialized Forge project "${escapeLine(project.name)}" in ${escapeLine(project.directory)}`,
      `Task ids begin with ${project.idPrefix}-. Commit .forge and .gitignore to share the project.`,
      'Next: forge task create "My first task"',
    ].join('\n'),
});

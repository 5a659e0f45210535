import type { resumeProject as declaration } from '#contract/workflow-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const projectResume = implement<typeof declaration>({
  async run(ctx) {
    const { paused_at } = await ctx.project.store.pauseProject(false, await writerOf(ctx));
    return { project: ctx.project.config.idPrefix, paused_at };
  },
  text: ({ project }) => `Agents may claim in ${escapeLine(project)}`,
});

import type { pauseProject as declaration } from '#contract/workflow-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

export const projectPause = implement<typeof declaration>({
  async run(ctx) {
    const { paused_at } = await ctx.project.store.pauseProject(true, await writerOf(ctx));
    return { project: ctx.project.config.idPrefix, paused_at };
  },
  text: ({ project }) => `Agents claim nothing in ${escapeLine(project)} until forge project resume`,
});

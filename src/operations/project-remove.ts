import type { removeProject as declaration } from '#contract/home-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { removeProject } from '#sync/project-registry.ts';
import { implement } from './operation.ts';

export const projectRemove = implement<typeof declaration>({
  run: (ctx, input) => removeProject(ctx.place.home, input.name),
  text: ({ name, path }) => `Took ${escapeLine(name)} off the register; ${escapeLine(path)} is as it was`,
});

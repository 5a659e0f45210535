import { isAbsolute, join, resolve } from 'node:path';
import type { addProject as declaration } from '#contract/home-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { addProject, findProjectToAdd } from '#sync/project-registry.ts';
import { implement } from './operation.ts';

const VERBS = { added: 'Registered', updated: 'Updated', unchanged: 'Already registered:' } as const;

export const projectAdd = implement<typeof declaration>({
  async run(ctx, input) {
    const { name, path } = sortWords(input);
    const folder = resolve(ctx.cwd, expandHome(path ?? '.', ctx.place.homeDir));
    const found = findProjectToAdd(folder, ctx.place);
    // Makes its database where there is none yet, so that others can look into it.
    await using _project = await ctx.openProject(found);
    return await addProject(ctx.place, { found, name, now: ctx.clock.now() });
  },
  text: ({ outcome, name, prefix, path }) =>
    `${VERBS[outcome]} ${escapeLine(name)} (${escapeLine(path)}), ids ${prefix}-…`,
});

/** One word alone may be a path; a name does not look like one. */
function sortWords(input: { name?: string | undefined; path?: string | undefined }): typeof input {
  const { name, path } = input;
  const isPath = path === undefined && name !== undefined && /^(\.{1,2}$|\.{0,2}[/\\]|~[/\\])/.test(name);
  return isPath || (path === undefined && name !== undefined && isAbsolute(name)) ? { path: name } : input;
}

/** A quoted `~/b`, which no shell has expanded. */
function expandHome(path: string, homeDir: string): string {
  return /^~[/\\]/.test(path) ? join(homeDir, path.slice(2)) : path;
}

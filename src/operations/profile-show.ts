import type { showProfile as declaration } from '#contract/agent-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { getProfile } from '#sync/agent-profiles.ts';
import { setUpLines, toProfileEntry } from './agent-entry.ts';
import { implement } from './operation.ts';

export const profileShow = implement<typeof declaration>({
  run: async (ctx, { name }) => toProfileEntry(getProfile(ctx.place.home, name)),
  text: ({ name, description, created_at, profile, env }) =>
    [
      escapeLine(name),
      ...(description === '' ? [] : [`  ${escapeLine(description)}`]),
      `  since        ${created_at}`,
      ...setUpLines(profile, env),
    ].join('\n'),
});

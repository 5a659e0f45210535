import type { showAgent as declaration } from '#contract/home-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { getAgent } from '#sync/agent-identities.ts';
import { implement } from './operation.ts';

export const agentShow = implement<typeof declaration>({
  run: async (ctx, { name }) => getAgent(ctx.place.home, name),
  text: ({ name, description, created_at, paused_at }) =>
    [
      escapeLine(name),
      ...(description === '' ? [] : [`  ${escapeLine(description)}`]),
      `  since    ${created_at}`,
      ...(paused_at === null ? [] : [`  paused   ${paused_at}`]),
    ].join('\n'),
});

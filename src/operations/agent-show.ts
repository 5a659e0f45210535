import type { showAgent as declaration } from '#contract/agent-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { getAgent } from '#sync/agent-identities.ts';
import { describeSuspended, setUpLines, toCurrentEntry } from './agent-entry.ts';
import { implement } from './operation.ts';
import { wrapWords } from './text-width.ts';

export const agentShow = implement<typeof declaration>({
  run: async (ctx, { name }) => toCurrentEntry(ctx, getAgent(ctx.place.home, name)),
  text: (
    { name, description, created_at, paused_at, suspended, profile, profile_name, env, max },
    { columns, now },
  ) =>
    [
      escapeLine(name),
      ...(description === '' ? [] : [`  ${escapeLine(description)}`]),
      `  since        ${created_at}`,
      ...(paused_at === null ? [] : [`  paused       ${paused_at}`]),
      ...(suspended === null
        ? []
        : [
            '  suspended',
            ...wrapWords(escapeLine(describeSuspended(suspended, now)), { columns, indent: '    ' }),
            `  try          ${escapeLine(suspended.command)}`,
          ]),
      ...(profile_name === null
        ? []
        : [`  profile      ${escapeLine(profile_name)}${profile === null ? ', which is not there' : ''}`]),
      ...setUpLines(profile, env),
      ...(max === null ? [] : [`  at once      ${max}`]),
    ].join('\n'),
});

import type { addDependency } from '#contract/graph-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { writerOf } from './writer.ts';

const VERBS = {
  blocks: 'depends on',
  related: 'is related to',
  'discovered-from': 'was discovered from',
} as const;

export const depAdd = implement<typeof addDependency>({
  async run(ctx, input) {
    const type = input.type ?? 'blocks';
    const { from_id, to_id, added } = await ctx.project.store.addDependency(
      { ...input, type },
      await writerOf(ctx),
    );
    return { from_id, to_id, type, added };
  },
  text: ({ from_id, to_id, type, added }) => {
    const edge = `${escapeLine(from_id)} ${VERBS[type]} ${escapeLine(to_id)}`;
    return added ? `Added: ${edge}` : `Already there: ${edge}`;
  },
});

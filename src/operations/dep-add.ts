import type { InputOf } from '#contract/declare.ts';
import type { addDependency } from '#contract/graph-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { maybeForeign } from './maybe-foreign.ts';
import { implement, type OperationContext } from './operation.ts';
import { writerOf } from './writer.ts';

const VERBS = {
  blocks: 'depends on',
  related: 'is related to',
  'discovered-from': 'was discovered from',
} as const;

type Input = InputOf<typeof addDependency>;

export const depAdd = implement<typeof addDependency>({
  async run(ctx, input) {
    const type = input.type ?? 'blocks';
    const { store, config, foreign } = ctx.project;
    const target = maybeForeign(input.to_id, config.idPrefix) ? await findForeign(ctx, input) : undefined;
    // Only where edges lead out of this project can a cycle lead through others.
    if (type === 'blocks' && (target !== undefined || foreign.size > 0))
      await refuseCycle(ctx, {
        from_id: input.from_id,
        to_id: target ?? (await store.getTask(input.to_id)).id,
      });
    const { from_id, to_id, added } = await store.addDependency(
      {
        from_id: input.from_id,
        to_id: target ?? input.to_id,
        type,
        foreign: target !== undefined,
        fence: input.fence,
      },
      await writerOf(ctx),
    );
    return { from_id, to_id, type, added };
  },
  text: ({ from_id, to_id, type, added }) => {
    const edge = `${escapeLine(from_id)} ${VERBS[type]} ${escapeLine(to_id)}`;
    return added ? `Added: ${edge}` : `Already there: ${edge}`;
  },
});

async function findForeign(ctx: OperationContext, input: Input): Promise<string | undefined> {
  const { findForeignTarget } = await import('./find-foreign-target.ts');
  return findForeignTarget(ctx, input.to_id, { force: input.force === true });
}

async function refuseCycle(
  { project, place }: OperationContext,
  edge: { from_id: string; to_id: string },
): Promise<void> {
  const { refuseForeignCycle } = await import('#sync/foreign-tasks.ts');
  const { id: from_id } = await project.store.getTask(edge.from_id);
  if (from_id === edge.to_id) return; // the store says it better
  refuseForeignCycle(
    { from_id, to_id: edge.to_id },
    { own: project.paths.store, prefix: project.config.idPrefix, place },
  );
}

import type { taskRoles as declaration } from '#contract/workflow-operations.ts';
import { listRoles } from '#engine/assign-role.ts';
import { implement } from './operation.ts';
import { tableText } from './table-text.ts';

export const taskRoles = implement<typeof declaration>({
  run: (ctx, { id }) => listRoles(ctx.project.store, ctx.project.workflow(), id),
  text: (roles, view) =>
    tableText(
      view,
      [
        { header: 'ROLE', value: ({ role }) => role },
        { header: 'HOLDER', value: ({ holder }) => toText(holder) },
        { header: 'FROM', value: ({ from }) => from ?? '' },
      ],
      roles,
    ),
});

function toText(holder: { agent: string } | { user: string } | null): string {
  if (holder === null) return '-';
  return 'agent' in holder ? `agent ${holder.agent}` : `user ${holder.user}`;
}

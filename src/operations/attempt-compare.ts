import type { OutputOf } from '#contract/declare.ts';
import type { compareAttempts as declaration } from '#contract/run-task-operations.ts';
import { viewAttempts, type ViewedAttempt } from '#engine/view-attempts.ts';
import { escapeLine } from '#kernel/text.ts';
import { attemptTable, linesOf } from './attempt-table.ts';
import { implement } from './operation.ts';
import { tableText } from './table-text.ts';

type Compared = OutputOf<typeof declaration>;
type ComparedFile = Compared['files'][number];

export const attemptCompare = implement<typeof declaration>({
  async run(ctx, { id, all = false }) {
    const { id: task_id } = await ctx.project.store.findTask(id);
    const { place } = await ctx.workshop();
    const query = { task_id, ...(!all && { state: 'active' as const }) };
    const viewed = await viewAttempts(place, query);
    return { task_id, attempts: viewed.map(({ view }) => view), files: compareFiles(viewed) };
  },
  text({ task_id, attempts, files }, view) {
    if (attempts.length === 0) return escapeLine(`${task_id} has no unfinished attempt.`);
    const table = attemptTable(view, attempts);
    if (files.length === 0) return `${table}\n\nNo changes.`;
    const changes = tableText<ComparedFile>(
      view,
      [
        { header: 'FILE', value: ({ path }) => path, flexible: true, minimum: 20 },
        ...attempts.map(({ number }) => ({
          header: `NO ${number}`,
          value: ({ changed }: ComparedFile) =>
            linesOf(changed.find((one) => one.number === number) ?? null) || '-',
          align: 'right' as const,
        })),
        { header: '', value: ({ same }) => (same ? 'same' : '') },
      ],
      files,
    );
    return `${table}\n\n${changes}`;
  },
});

function compareFiles(viewed: readonly ViewedAttempt[]): ComparedFile[] {
  const paths = [...new Set(viewed.flatMap(({ files }) => files.map(({ path }) => path)))].toSorted();
  return paths.map((path) => {
    const found = viewed.flatMap(({ number, files }) => {
      const file = files.find((one) => one.path === path);
      return file === undefined ? [] : [{ number, ...file }];
    });
    const isShared = found.length === viewed.length && viewed.length > 1;
    return {
      path,
      changed: found.map(({ number, insertions, deletions }) => ({ number, insertions, deletions })),
      same: isShared && new Set(found.map(({ blob }) => blob)).size === 1,
    };
  });
}

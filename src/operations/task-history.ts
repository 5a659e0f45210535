import type { taskHistory as declaration } from '#contract/task-log-operations.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import { compareText } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { style } from './style-text.ts';
import { tableText } from './table-text.ts';

export const taskHistory = implement<typeof declaration>({
  async run(ctx, input) {
    const { store, paths } = ctx.project;
    const { history_entries: most, history_bytes } = SERVED_LIMITS;
    const bounds = ctx.stays
      ? { limit: Math.min(input.limit ?? most, most), max_bytes: history_bytes }
      : { limit: input.limit };
    const entries = await store.readHistory({ id: input.id, ...bounds });
    if (input.git !== true) return entries;
    const { readGitHistory } = await import('#sync/read-git-history.ts');
    const { id } = await store.findTask(input.id);
    const commits = await readGitHistory(paths, id, ctx.machine);
    const all = [...entries, ...commits].sort((a, b) => compareText(a.at, b.at));
    return bounds.limit === undefined ? all : all.slice(-bounds.limit);
  },
  text: (entries, view) =>
    tableText(
      view,
      [
        { header: 'WHEN', value: (entry) => entry.at, style: (text) => style(view, 'dim', text) },
        { header: 'WHO', value: (entry) => entry.triggered_by, flexible: 'first', minimum: 12 },
        { header: 'WHAT', value: (entry) => entry.summary, flexible: true, minimum: 20 },
        { header: 'STATE', value: (entry) => moveOf(entry) },
      ],
      entries,
    ),
});

function moveOf({ from_state, to_state }: { from_state: string | null; to_state: string | null }): string {
  return from_state === null || from_state === to_state ? '' : `${from_state} -> ${to_state ?? ''}`;
}

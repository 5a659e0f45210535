import type { projectStats as declaration } from '#contract/query-operations.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { PRIORITY_LABELS } from './priority-labels.ts';
import { style } from './style-text.ts';

export const projectStats = implement<typeof declaration>({
  async run({ project: { store, config }, clock }) {
    const stats = await store.readStats({ now: clock.now(), exclude_types: config.ready.excludeTypes });
    return { ...stats, paused_at: await store.readPause() };
  },
  text(stats, view) {
    const list = (counts: Record<string, number>, name = (key: string) => key): string =>
      Object.entries(counts)
        .map(([key, n]) => `${n} ${escapeLine(name(key))}`)
        .join(', ') || 'none';
    const rows: [string, string][] = [
      ['Tasks', `${stats.total}${stats.deleted > 0 ? ` (and ${stats.deleted} deleted)` : ''}`],
      ['Status', list(inOrder(stats.by_status))],
      ['State', list(stats.by_state)],
      ['Type', list(stats.by_type)],
      ['Priority', list(stats.by_priority, (key) => PRIORITY_LABELS[Number(key)] ?? key)],
      ['Queue', `${stats.ready} ready, ${stats.blocked} blocked, ${stats.parked} parked`],
      ['Closed', `${stats.closed_last_7_days} in the last 7 days`],
      ...(stats.paused_at === null ? [] : [['Paused', stats.paused_at] satisfies [string, string]]),
      ...stats.assigned.map(({ assignee, in_progress, open }): [string, string] => [
        'Owner',
        `${escapeLine(assignee)}: ${in_progress} in progress${open > 0 ? `, ${open} reserved` : ''}`,
      ]),
    ];
    return rows.map(([name, value]) => `${style(view, 'dim', name.padEnd(9))} ${value}`).join('\n');
  },
});

/** As a task goes through them. */
function inOrder(counts: Record<string, number>): Record<string, number> {
  const order = ['open', 'in_progress', 'closed'].filter((status) => counts[status] !== undefined);
  return Object.fromEntries(order.map((status) => [status, counts[status] ?? 0]));
}

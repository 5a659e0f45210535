import type { TaskSummary } from '#contract/task.ts';
import { countTasks } from '#kernel/text.ts';
import type { TextView } from './operation.ts';
import { style, stylePriority, styleStatus } from './style-text.ts';
import { tableText, type TableColumn } from './table-text.ts';

type Listed = TaskSummary & {
  labels?: readonly string[];
  impact?: { critical_path: number; unblocks: number } | undefined;
};

interface Listing {
  /** What an empty list says. */
  readonly none: string;
  /** Every task of the list is in the same state, so a column for it says nothing. */
  readonly one_state?: true;
}

/** Tasks as a table. Owners, labels and impact have a column only where some task has one. */
export function taskLines(tasks: readonly Listed[], view: TextView, listing: Listing): string {
  if (tasks.length === 0) return listing.none;
  const columns: TableColumn<Listed>[] = [
    { header: 'ID', value: (task) => task.id, style: (text) => style(view, 'bold', text) },
    {
      header: 'PRI',
      value: (task) => `P${task.priority}`,
      style: (text, task) => stylePriority(view, task.priority, text),
    },
    { header: 'TYPE', value: (task) => task.type },
  ];
  if (listing.one_state !== true) {
    columns.push({
      header: 'STATE',
      value: (task) => task.state,
      style: (text, task) => styleStatus(view, task.status, text),
    });
  }
  if (tasks.some((task) => task.assignee !== null)) {
    columns.push({ header: 'OWNER', value: (task) => task.assignee ?? '-', flexible: 'first', minimum: 8 });
  }
  if (tasks.some((task) => task.impact !== undefined)) {
    columns.push({
      header: 'CHAIN',
      value: (task) => String(task.impact?.critical_path ?? ''),
      align: 'right',
    });
    columns.push({
      header: 'UNBLOCKS',
      value: (task) => String(task.impact?.unblocks ?? ''),
      align: 'right',
    });
  }
  columns.push({ header: 'TITLE', value: (task) => task.title, flexible: true, minimum: 24 });
  if (tasks.some((task) => (task.labels?.length ?? 0) > 0)) {
    const labels = (task: Listed): string => task.labels?.join(', ') ?? '';
    columns.push({
      header: 'LABELS',
      value: labels,
      flexible: 'first',
      minimum: 6,
      style: (text) => style(view, 'dim', text),
    });
  }
  return tableText(view, columns, tasks);
}

/** "12 tasks" below a list, where it is long enough to wonder, and that there may be more where a limit cut it. */
export function countLine(tasks: readonly unknown[], view: TextView): string {
  const isFull = tasks.length > 0 && tasks.length === view.limit;
  if (tasks.length < 10 && !isFull) return '';
  const more = isFull ? ', as --limit says; there may be more' : '';
  return `\n${style(view, 'dim', `${countTasks(tasks.length)}${more}`)}`;
}

import type { Task, TaskSummary } from '#contract/task.ts';
import type { TextView } from './operation.ts';
import { style, stylePriority, styleStatus } from './style-text.ts';
import { tableText, type TableColumn } from './table-text.ts';

type Listed = TaskSummary & { labels?: readonly string[] };

/** Tasks as a table; `none` is what an empty list says. */
export function taskLines(tasks: readonly Listed[], view: TextView, none: string): string {
  if (tasks.length === 0) return none;
  const columns: TableColumn<Listed>[] = [
    { header: 'ID', value: (task) => task.id, style: (text) => style(view, 'bold', text) },
    {
      header: 'PRI',
      value: (task) => `P${task.priority}`,
      style: (text, task) => stylePriority(view, task.priority, text),
    },
    { header: 'TYPE', value: (task) => task.type },
    {
      header: 'STATE',
      value: (task) => task.state,
      style: (text, task) => styleStatus(view, task.status, text),
    },
    { header: 'OWNER', value: (task) => task.assignee ?? '-' },
    { header: 'TITLE', value: (task) => task.title, flexible: true },
  ];
  if (tasks.some((task) => (task.labels?.length ?? 0) > 0)) {
    columns.push({
      header: 'LABELS',
      value: (task) => task.labels?.join(', ') ?? '',
      style: (text) => style(view, 'dim', text),
    });
  }
  return tableText(view, columns, tasks);
}

/** "12 tasks" below a list, where it is long enough to wonder. */
export function countLine(tasks: readonly Task[], view: TextView): string {
  return tasks.length < 10 ? '' : `\n${style(view, 'dim', `${tasks.length} tasks`)}`;
}

import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { WorkNews } from '#engine/work.ts';
import { countTasks, escapeLine } from '#kernel/text.ts';
import type { TextView } from './operation.ts';

/** Where a task got to, in one line. */
function describeWorked({ task, attempt, merge, reached }: WorkedTask): string {
  const place =
    merge?.state === 'landed'
      ? `, merged into ${merge.target}`
      : attempt === null || attempt.removed_at !== null
        ? ''
        : `, on ${attempt.branch}`;
  const why = reached || task.error_annotation === undefined ? '' : `: ${task.error_annotation.message}`;
  return escapeLine(`${task.id} is in ${task.state}${place}${why}`);
}

/**
 * A line for each. On a terminal those of several that are merged are told in one: whoever looked has seen them go,
 * and nothing of theirs is left to do.
 */
export function workedText(worked: readonly WorkedTask[], { columns }: Pick<TextView, 'columns'>): string {
  if (worked.length === 1 || !Number.isFinite(columns)) return worked.map(describeWorked).join('\n');
  const merged = new Map<string, number>();
  const lines: string[] = [];
  for (const one of worked) {
    if (one.reached && one.merge?.state === 'landed')
      merged.set(one.merge.target, (merged.get(one.merge.target) ?? 0) + 1);
    else lines.push(describeWorked(one));
  }
  for (const [target, count] of merged)
    lines.push(escapeLine(`${countTasks(count)} ${count === 1 ? 'is' : 'are'} merged into ${target}`));
  return lines.join('\n');
}

/** One line for everything that somebody who waits wants to know. */
export function newsLine(news: WorkNews): string | undefined {
  const line = toLine(news);
  return line === undefined ? undefined : escapeLine(line);
}

function toLine(news: WorkNews): string | undefined {
  switch (news.kind) {
    case 'attempt':
      return `${news.attempt.task_id}  attempt ${news.attempt.name} in ${news.attempt.path}`;
    case 'run': {
      const { task_id, agent, role, state, message } = news.run;
      return `${task_id}  ${agent} (${role}) ${state}${message === null ? '' : `: ${message}`}`;
    }
    case 'review': {
      const { task_id, status, step_results } = news.review;
      const last = step_results.at(-1);
      return status === 'running' && last !== undefined
        ? `${task_id}  check ${last.command}: ${last.outcome}`
        : `${task_id}  review ${status}`;
    }
    case 'merge':
      return `${news.merge.task_id}  merge into ${news.merge.target}: ${news.merge.state}`;
    case 'note':
      return `${news.task_id}  ${news.text}`;
    case 'step':
    case 'entry':
      return undefined;
  }
}

import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { WorkNews } from '#engine/work.ts';
import { escapeLine } from '#kernel/text.ts';
import type { OperationContext } from './operation.ts';

/** Where a task got to, in one line. */
export function describeWorked({ task, attempt, merge, reached }: WorkedTask): string {
  const place =
    merge?.state === 'landed'
      ? `, merged into ${merge.target}`
      : attempt === null || attempt.removed_at !== null
        ? ''
        : `, on ${attempt.branch}`;
  const why = reached || task.error_annotation === undefined ? '' : `: ${task.error_annotation.message}`;
  return escapeLine(`${task.id} is in ${task.state}${place}${why}`);
}

/** One line for everything that somebody who waits wants to know. */
export function tellNews({ host }: OperationContext, news: WorkNews): void {
  const line = toLine(news);
  if (line !== undefined) host.progress(escapeLine(line));
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

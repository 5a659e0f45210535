import type { Attempt } from '#contract/attempt.ts';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { WorkNews } from '#engine/work.ts';
import { countTasks, escapeLine, firstAndLast } from '#kernel/text.ts';
import type { TextView } from './operation.ts';
import { describeApproval } from './work-board.ts';

/** Where a task got to, in one line. */
function describeWorked({ task, attempt, merge, reached, wait }: WorkedTask): string {
  const place =
    merge?.state === 'landed'
      ? `, merged into ${merge.target}`
      : attempt === null || attempt.removed_at !== null
        ? ''
        : `, on ${attempt.branch}`;
  const told = wait?.message ?? task.error_annotation?.message;
  const isPassed = reached && task.status === 'in_progress' && task.review_passed_at !== undefined;
  const next = wait === null ? '' : ` (${wait.command})`;
  const stays = reached || told === undefined ? '' : `: ${told}${next}`;
  const why = isPassed ? `: it passed (forge run ${task.id} --merge)` : stays;
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

/**
 * One line for everything that somebody who waits wants to know. Remembers the attempts it was told of, so that a line
 * says which of several it is about: `fg-a3f8 #2`.
 */
export function createNewsLines(): (news: WorkNews) => string | undefined {
  const known = new Map<string, Pick<Attempt, 'task_id' | 'number'>>();
  const name: NameTask = (task_id, attempt_id) => {
    const number = known.get(attempt_id ?? '')?.number;
    const count = [...known.values()].filter((one) => one.task_id === task_id).length;
    return number === undefined || Math.max(count, number) === 1 ? task_id : `${task_id} #${number}`;
  };
  return (news) => {
    if (news.kind === 'attempt') known.set(news.attempt.id, news.attempt);
    const line = toLine(news, name);
    return line === undefined ? undefined : escapeLine(line);
  };
}

type NameTask = (task_id: string, attempt_id: string | null | undefined) => string;

function toLine(news: WorkNews, name: NameTask): string | undefined {
  switch (news.kind) {
    case 'attempt': {
      const { id, task_id, name: folder, path, state } = news.attempt;
      return `${name(task_id, id)}  attempt ${folder} ${state === 'active' ? `in ${path}` : state}`;
    }
    case 'run': {
      const { task_id, attempt_id, agent, role, state, message } = news.run;
      const why = message === null ? '' : `: ${message}`;
      return `${name(task_id, attempt_id)}  ${agent} (${role}) ${state}${why}`;
    }
    case 'review': {
      const { task_id, attempt_id, status, step_results } = news.review;
      const last = step_results.at(-1);
      const what =
        status === 'running' && last !== undefined
          ? `check ${last.command}: ${last.outcome}${last.reused_from === undefined ? '' : ' (same tree as before)'}`
          : `review ${status}`;
      return `${name(task_id, attempt_id)}  ${what}`;
    }
    case 'merge': {
      const { task_id, attempt_id, target, state, message } = news.merge;
      const why = message === null || state === 'landed' ? '' : `: ${firstAndLast(message)}`;
      return `${name(task_id, attempt_id)}  merge into ${target}: ${state}${why}`;
    }
    case 'note':
      return `${name(news.task_id, news.attempt_id)}  ${news.text}`;
    case 'entry': {
      const { run, entry } = news;
      // All else that an agent says is in its log; this waits for an answer.
      if (entry.kind !== 'approval') return undefined;
      return `${name(run.task_id, run.attempt_id)}  ${run.agent} (${run.role}) ${describeApproval(run, entry)}`;
    }
    case 'step':
      return undefined;
  }
}

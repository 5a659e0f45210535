import type { runTasks as declaration, WorkedTask } from '#contract/run-task-operations.ts';
import type { WorkNews } from '#engine/work.ts';
import { workTask } from '#engine/work-task.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { engineOf } from './engine-of.ts';
import { implement, type OperationContext } from './operation.ts';

export const runStart = implement<typeof declaration>({
  async run(ctx, { ids, agent, merge = false, max }) {
    const workshop = await ctx.workshop();
    const { place } = workshop;
    if (place.agents.find(agent) === undefined) throw refuseAgent(agent);
    await place.settleLost();
    const plain = await engineOf(ctx);
    const engine = { ...plain, follows: true };
    const tasks = await Promise.all(ids.map((id) => place.store.findTask(id)));
    const whole = [...new Set(tasks.map(({ id }) => id))];
    const stop = workshop.listen((news) => tell(ctx, news));
    try {
      return await inTurns(whole, max ?? place.settings().scheduler.max, (id) =>
        workTask(workshop, { ...engine, by: { ...engine.by, now: ctx.clock.now() } }, { id, agent, merge }),
      );
    } finally {
      stop();
    }
  },
  text: (worked) => worked.map(describe).join('\n'),
  exit: (worked) => (worked.every(({ reached }) => reached) ? 0 : 1),
});

function describe({ task, attempt, merge, reached }: WorkedTask): string {
  const place =
    merge?.state === 'landed'
      ? `, merged into ${merge.target}`
      : attempt === null || attempt.removed_at !== null
        ? ''
        : `, on ${attempt.branch}`;
  const why = reached || task.error_annotation === undefined ? '' : `: ${task.error_annotation.message}`;
  return escapeLine(`${task.id} is in ${task.state}${place}${why}`);
}

/** At most so many at once, in the order they were given. */
async function inTurns<T>(
  ids: readonly string[],
  max: number,
  work: (id: string) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let at = next++; at < ids.length; at = next++) results[at] = await work(ids[at] ?? '');
  };
  await Promise.all(Array.from({ length: Math.min(max, ids.length) }, worker));
  return results;
}

/** One line for everything that somebody who waits wants to know. */
function tell({ host }: OperationContext, news: WorkNews): void {
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

function refuseAgent(agent: string): ForgeError {
  return new ForgeError('not_found', `${agent} is no agent that Forge can start`, {
    hint: `forge agent add ${agent} --executor claude`,
    details: { agent },
  });
}

import type { readyTasks } from '#contract/query-operations.ts';
import type { OutputOf } from '#contract/declare.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement, type TextView } from './operation.ts';
import { readCursor } from './read-cursor.ts';
import { readPortion } from './read-portion.ts';
import { style, styleStatus } from './style-text.ts';
import { countLine, taskLines } from './task-lines.ts';

const NOTHING = 'Nothing is ready. `forge ready --explain` says why; `forge task create "…"` makes a task.';

type Row = OutputOf<typeof readyTasks>[number];
type Explained = Extract<Row, { ready: boolean }>;

export const taskReady = implement<typeof readyTasks>({
  async run(ctx, input) {
    const { store, config, foreign } = ctx.project;
    const { explain, cursor, ...query } = input;
    if (explain === true && query.sort !== undefined) {
      throw new ForgeError(
        'usage',
        '--explain goes through all open tasks by priority; --sort does not apply',
      );
    }
    if (explain === true && cursor !== undefined)
      throw new ForgeError('usage', '--explain has no pages; --cursor does not apply');
    const after = await readCursor(cursor, query.sort);
    const asked = { ...query, after, exclude_types: config.ready.excludeTypes };
    if (explain !== true) {
      return readPortion(ctx.portion, {
        all: () => store.listReady(asked),
        page: (max_bytes) => store.pageReady({ ...asked, max_bytes }),
      });
    }
    const most = NEIGHBOUR_LIMITS.blocked_tasks;
    const limit = ctx.stays ? Math.min(asked.limit ?? most, most) : asked.limit;
    const explained = await store.explainReady({ ...asked, limit });
    if (foreign.size === 0) return explained;
    const { fillExplained } = await import('./fill-foreign.ts');
    return explained.map((task) => fillExplained(task, foreign));
  },
  text(tasks, view) {
    const explained = tasks.filter((task): task is Explained => 'reasons' in task);
    if (explained.length > 0) return explained.map((task) => explanation(task, view)).join('\n');
    const cut = tasks.length === view.limit ? countLine(tasks, view) : '';
    return taskLines(tasks, view, { none: NOTHING, one_state: true }) + cut;
  },
});

function explanation(task: Explained, view: TextView): string {
  const verdict = task.ready
    ? style(view, 'green', 'ready    ')
    : styleStatus(view, task.status, 'not ready');
  return `${verdict}  ${escapeLine(task.id)}  ${escapeLine(task.title)}\n           ${escapeLine(task.reasons.join('; '))}`;
}

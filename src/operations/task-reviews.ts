import type { Review } from '#contract/attempt.ts';
import type { listReviews as declaration } from '#contract/run-operations.ts';
import { LIMITS } from '#kernel/limits.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement, type TextView } from './operation.ts';
import { SHORT_ID } from './run-text.ts';
import { tableText } from './table-text.ts';

export const taskReviews = implement<typeof declaration>({
  run: ({ project: { store } }, { id }) => store.listReviews({ task_id: id }),
  text(reviews, view) {
    if (reviews.length === 0) return 'No reviews.';
    return `${table(reviews, view)}${lastLines(reviews)}`;
  },
});

function table(reviews: readonly Review[], view: TextView): string {
  return tableText<Review>(
    view,
    [
      { header: 'NO', value: ({ attempt_number }) => String(attempt_number), align: 'right' },
      { header: 'STATUS', value: ({ status }) => status },
      { header: 'HEAD', value: ({ head_commit }) => (head_commit ?? '').slice(0, SHORT_ID) },
      { header: 'STARTED', value: ({ started_at }) => started_at },
      { header: 'WHAT IT SAID', value: describe, flexible: true, minimum: 20 },
    ],
    reviews,
  );
}

/** What the check of the newest review said last, where it failed: the end of an output says what is wrong. */
function lastLines(reviews: readonly Review[]): string {
  const failed = reviews.at(-1)?.step_results.find(({ outcome }) => outcome !== 'passed');
  const said = failed?.output.trimEnd() ?? '';
  if (failed === undefined || said === '') return '';
  const lines = said.slice(-LIMITS.reason_tail_length).split('\n').slice(-SHOWN_LINES);
  const shown = lines.map((line) => `  ${escapeLine(line)}`).join('\n');
  return `\n\nThe end of what ${escapeLine(failed.command)} said:\n${shown}`;
}

const SHOWN_LINES = 20;

/** The step that failed, else the verdict, else how many passed. */
function describe({ status, step_results, verdict, verdict_by }: Review): string {
  const failed = step_results.find(({ outcome }) => outcome !== 'passed');
  if (failed !== undefined) {
    const exit = failed.exit_code === null ? failed.outcome : `exit ${failed.exit_code}`;
    return `${failed.command}: ${exit}`;
  }
  if (verdict !== null)
    return `${verdict.verdict}${verdict_by === null ? '' : ` by ${verdict_by}`}: ${verdict.summary}`;
  const taken = step_results.filter(({ reused_from }) => reused_from !== undefined).length;
  const passed = step_results.length === 1 ? '1 step passed' : `${step_results.length} steps passed`;
  const how = taken === 0 ? passed : `${passed}, ${taken} taken over from the same tree`;
  return status === 'waiting' ? `${how}; waits for the word of its reviewer` : how;
}

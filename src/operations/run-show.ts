import type { OutputOf } from '#contract/declare.ts';
import type { showRun as declaration } from '#contract/run-operations.ts';
import { describeRequest } from '#domain/describe-request.ts';
import { describeStray } from '#domain/describe-stray.ts';
import { describeUsage, isCounted } from '#domain/describe-usage.ts';
import { escapeLine } from '#kernel/text.ts';
import { implement } from './operation.ts';
import { findRunLog } from './run-log-place.ts';
import { ruleLines, SHORT_ID, stateOf } from './run-text.ts';
import { style } from './style-text.ts';

export const runShow = implement<typeof declaration>({
  async run({ project: { store, paths } }, { id }) {
    const run = await store.getRun(id);
    const [attempt, approvals, always] = await Promise.all([
      store.getAttempt(run.attempt_id),
      store.listApprovals({ run_id: run.id, pending: true }),
      store.listApprovals({ task_id: run.task_id, always: true }),
    ]);
    return { ...run, attempt, approvals, always, log: findRunLog(paths, run) };
  },
  text(run, view) {
    const rows = listRows(run).filter(([, value]) => value !== '');
    const width = Math.max(...rows.map(([name]) => name.length));
    const lines = rows.map(
      ([name, value]) => `${style(view, 'dim', name.padEnd(width))}  ${escapeLine(value)}`,
    );
    const asked = run.approvals.map((approval) =>
      escapeLine(`Asks leave for ${describeRequest(approval)} (${approval.id.slice(0, SHORT_ID)})`),
    );
    const next = asked.length === 0 ? [] : [`forge runs approve ${run.id.slice(0, SHORT_ID)}`];
    return [...lines, ...ruleLines(run.always), ...asked, ...next].join('\n');
  },
});

function listRows(run: OutputOf<typeof declaration>): readonly (readonly [string, string])[] {
  const { usage, attempt } = run;
  return [
    ['Run', run.id],
    ['Task', run.task_id],
    ['Agent', `${run.agent} (${run.executor}), as ${run.role}`],
    ['State', stateOf(run)],
    ['Message', run.message ?? ''],
    ['Warning', attempt.strayed === null ? '' : describeStray(attempt)],
    ['Worktree', attempt.removed_at === null ? attempt.path : `${attempt.path} (removed)`],
    ['Branch', attempt.branch],
    ['Started', run.started_at ?? ''],
    ['Ended', run.ended_at ?? ''],
    ['Retry after', run.retry_after ?? ''],
    // One that has ended has used something, said or not.
    ['Usage', isCounted(usage) || run.ended_at !== null ? describeUsage(usage) : ''],
    ['Log', run.log],
  ];
}

import type { Review } from '#contract/attempt.ts';
import type { Task, TaskView } from '#contract/task.ts';
import type { reviewTask as declaration } from '#contract/run-operations.ts';
import { parseFinding } from '#domain/decide-review.ts';
import { openGates } from '#engine/gate-changes.ts';
import { giveVerdict } from '#engine/give-verdict.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';
import { waitOf } from './wait-place.ts';

export const taskReview = implement<typeof declaration>({
  async run(ctx, { id, verdict, reason, findings = [], force = false, version, fence }) {
    const found = findings.map(parseFinding);
    const summary = reason ?? found[0]?.message;
    if (summary === undefined && verdict === 'reject') {
      throw new ForgeError('invalid_input', 'A rejection says why: whoever worked on it is told', {
        hint: `forge review ${id} reject --reason "…"`,
      });
    }
    const said = { verdict, summary: summary ?? 'It passes', findings: found };
    const given = await giveVerdict(await engineOf(ctx), ctx.project.store, {
      id,
      verdict: said,
      force,
      version,
      fence,
      gates: openGates((await ctx.workshop()).place, { may_allow: ctx.trusts === true }),
    });
    return { ...given, ...(await waitOf(ctx, given.task)) };
  },
  text({ task, review, wait }) {
    const id = escapeLine(task.id);
    const by = escapeLine(review.verdict_by ?? '');
    const blocker = review.verdict?.findings.find(({ severity }) => severity === 'blocker');
    const isNone = review.verdict?.verdict === 'pass' && review.status === 'failed' && blocker !== undefined;
    const lines = [`Review of ${id} ${review.status}, by ${by}: ${id} is in ${escapeLine(task.state)}`];
    if (isNone) lines.push('A pass with a blocker is none.');
    if (task.error_annotation !== undefined)
      lines.push(`Waits: ${escapeLine(task.error_annotation.message)}`);
    const next = findNext(task, { review, wait });
    if (next !== undefined) lines.push(`Next: ${escapeLine(next)}`);
    return lines.join('\n');
  },
});

/** What a person types to go on; undefined where nothing has to be typed. */
function findNext(
  { id, status, error_annotation }: Task,
  { review, wait }: { readonly review: Review; readonly wait?: TaskView['wait'] },
): string | undefined {
  const isPassed = review.status === 'passed' && status === 'in_progress' && error_annotation === undefined;
  return isPassed ? `forge run ${id} --merge` : wait?.command;
}

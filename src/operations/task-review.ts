import type { Review } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import type { reviewTask as declaration } from '#contract/run-operations.ts';
import { parseFinding } from '#domain/decide-review.ts';
import { openGates } from '#engine/gate-changes.ts';
import { giveVerdict } from '#engine/give-verdict.ts';
import { ForgeError } from '#kernel/errors.ts';
import { escapeLine } from '#kernel/text.ts';
import { engineOf } from './engine-of.ts';
import { implement } from './operation.ts';

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
    return giveVerdict(await engineOf(ctx), ctx.project.store, {
      id,
      verdict: said,
      force,
      version,
      fence,
      gates: openGates((await ctx.workshop()).place),
    });
  },
  text({ task, review }) {
    const id = escapeLine(task.id);
    const by = escapeLine(review.verdict_by ?? '');
    const blocker = review.verdict?.findings.find(({ severity }) => severity === 'blocker');
    const isNone = review.verdict?.verdict === 'pass' && review.status === 'failed' && blocker !== undefined;
    const lines = [`Review of ${id} ${review.status}, by ${by}: ${id} is in ${escapeLine(task.state)}`];
    if (isNone) lines.push('A pass with a blocker is none.');
    if (task.error_annotation !== undefined)
      lines.push(`Waits: ${escapeLine(task.error_annotation.message)}`);
    const next = findNext(task, review);
    if (next !== undefined) lines.push(`Next: ${escapeLine(next)}`);
    return lines.join('\n');
  },
});

/** What a person types to go on; undefined where the task is through or says itself what it waits for. */
function findNext({ id, status, assignee, ...task }: Task, review: Review): string | undefined {
  if (status !== 'in_progress' || task.error_annotation !== undefined) return undefined;
  if (review.status === 'passed') return `forge run ${id} --merge`;
  return review.status === 'failed' ? `forge run ${id} --agent ${assignee ?? '<name>'}` : undefined;
}

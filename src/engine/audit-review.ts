import { join } from 'node:path';
import { type Attempt, type Review, type Run, Verdict } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { composeAudit } from '#domain/compose-prompt.ts';
import { decideReview, isSaidByPerson } from '#domain/decide-review.ts';
import { startCheckout } from '#git/attempt-checkout.ts';
import { showAllDiffs } from '#git/attempt-git-folder.ts';
import { removeCheckout } from '#git/rescue-checkout.ts';
import type { Annotation } from '#domain/plan-transition.ts';
import { openControl } from './attempt-workspace.ts';
import { findWorkBase } from './find-work-base.ts';
import { runAgent, toAgentEnvironment, type AgentEnd } from './run-agent.ts';
import type { Conclusion } from './settle-run.ts';
import { systemWriter, type ManagedAgent, type WorkPlace } from './work.ts';

/** What the auditor has to answer, as JSON. */
export const VERDICT_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['verdict', 'summary', 'findings'],
  properties: {
    verdict: { enum: ['pass', 'reject'] },
    summary: { type: 'string' },
    findings: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['severity', 'message'],
        properties: {
          severity: { enum: ['blocker', 'major', 'minor'] },
          file: { type: 'string' },
          line: { type: 'integer' },
          message: { type: 'string' },
        },
      },
    },
  },
} as const;

export interface Audited {
  readonly end: AgentEnd;
  readonly conclusion: Conclusion;
  readonly review: Review;
  /** Why a person has to look at it. */
  readonly why: Annotation | undefined;
}

/** One look at the commit that was checked, by somebody who cannot change it: in a folder that is thrown away. */
export async function auditReview(
  place: WorkPlace,
  {
    task,
    attempt,
    review,
    run,
    agent,
  }: {
    readonly task: Task;
    readonly attempt: Attempt;
    readonly review: Review;
    readonly run: Run;
    readonly agent: ManagedAgent;
  },
): Promise<Audited> {
  const control = await openControl(place);
  // No run before the review can tell the name: programs of agents read what they keep of a folder by it.
  const name = `${attempt.name}-review-${review.id.slice(0, 8)}`;
  const checkout = await startCheckout(control, {
    attempt_id: review.id,
    name,
    root: place.root,
    path: join(place.root, name),
    base: review.head_commit ?? attempt.base_commit,
    facts: { project: place.project.root, task: task.id, attempt: attempt.id },
    is_throwaway: true,
  });
  try {
    showAllDiffs(control, checkout);
    const end = await runAgent(place, {
      run,
      attempt,
      agent,
      cwd: checkout.path,
      prompt: composeAudit({
        task,
        base: await findWorkBase(place.repo, { ...attempt, head_commit: review.head_commit }),
        head: review.head_commit ?? attempt.base_commit,
        prompt: task.review_config?.review_prompt ?? agent.prompt,
      }),
      resume: false,
      read_only: true,
      output_schema: VERDICT_SCHEMA,
      env: toAgentEnvironment(place, { attempt, agent, run }),
    });
    return await concludeAudit(place, { review, end, run, agent: agent.name });
  } finally {
    await removeCheckout(control, checkout);
  }
}

async function concludeAudit(
  { store, ...place }: WorkPlace,
  {
    review,
    end,
    run,
    agent,
  }: { readonly review: Review; readonly end: AgentEnd; readonly run: Run; readonly agent: string },
): Promise<Audited> {
  const by = systemWriter(place);
  const parsed = Verdict.safeParse(end.structured);
  if (end.outcome !== 'completed' || !parsed.success) {
    const message =
      end.outcome === 'completed'
        ? 'It gave no verdict in the form it was asked for'
        : (end.message ?? end.outcome);
    const ended = await store.finishReview({ id: review.id, status: 'void', run_id: run.id }, by);
    const outcome = end.outcome === 'completed' ? 'failed' : end.outcome;
    const conclusion = { outcome, message, retry_after: end.retry_after ?? null, lost: end.lost };
    // A person who stops it says what comes next, and raises a cap; everything else is tried again.
    const code = outcome === 'cap_reached' ? outcome : 'auditor';
    const waits = outcome === 'stopped' || outcome === 'cap_reached';
    const why = waits ? { code, message: `The auditor: ${message}` } : undefined;
    return { end, conclusion, review: ended, why };
  }
  const verdict = parsed.data;
  const decision = decideReview({
    holder: { kind: 'managed', name: agent },
    has_attempt: true,
    steps: review.step_results,
    verdict,
  });
  const status = decision.answer === 'passed' ? 'passed' : 'failed';
  const said = { verdict, verdict_by: `agent:${agent}`, run_id: run.id };
  const ended = await store.finishReview({ id: review.id, status, ...said }, by);
  const conclusion = { outcome: 'completed', message: verdict.summary, retry_after: null } as const;
  const why = findRepeat(await store.listReviews({ task_id: review.task_id }), ended);
  return { end, conclusion, review: ended, why };
}

/** An agent that could not do anything about it the last time will not now. */
export function findRepeat(
  all: readonly Review[],
  { id, status, verdict, verdict_by }: Review,
): Annotation | undefined {
  // A person who says the same again knows why.
  if (isSaidByPerson({ verdict_by })) return undefined;
  const before = all.findLast((one) => one.id !== id && one.verdict !== null)?.verdict ?? null;
  if (status !== 'failed' || before === null || verdict === null) return undefined;
  if (toDigest(before) !== toDigest(verdict)) return undefined;
  return { code: 'same_findings', message: `The auditor found the same again: ${verdict.summary}` };
}

function toDigest({ findings, summary }: Verdict): string {
  const all = findings.map(({ severity, file, line, message }) =>
    JSON.stringify([severity, file, line, message]),
  );
  return all.length === 0 ? summary : all.toSorted().join('\n');
}

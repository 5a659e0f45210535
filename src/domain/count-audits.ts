import type { Review, Run } from '#contract/attempt.ts';
import { LIMITS } from '#kernel/limits.ts';
import { isAgentFault } from './decide-suspension.ts';

export interface AuditRows {
  /** Of the task, the oldest first. */
  readonly reviews: readonly Review[];
  readonly runs: readonly Run[];
}

export interface AuditedWork {
  readonly attempt_id: string;
  readonly head_commit: string | null;
  /** Who audits. */
  readonly agent: string;
  /** When a person last said that the agent may go on. */
  readonly resumed_at?: string | null | undefined;
}

/**
 * Why an auditor is not asked about this commit any more: it has failed to give a verdict too often. Undefined while
 * it is asked. What kept it from working at all is not counted.
 */
export function findSpentAudits({ reviews, runs }: AuditRows, work: AuditedWork): string | undefined {
  const own = reviews.filter(
    ({ attempt_id, head_commit, cleared_at }) =>
      attempt_id === work.attempt_id && head_commit === work.head_commit && cleared_at === null,
  );
  const since = own.slice(own.findLastIndex(({ status }) => status === 'passed' || status === 'failed') + 1);
  const ids = new Set(since.flatMap(({ run_id }) => run_id ?? []));
  const bad = runs.filter(
    ({ id, agent, outcome, ended_at }) =>
      ids.has(id) &&
      agent === work.agent &&
      (ended_at ?? '') > (work.resumed_at ?? '') &&
      !isAgentFault(outcome) &&
      !FREE.has(outcome),
  );
  const last = bad.at(-1);
  if (last === undefined || bad.length < LIMITS.audit_tries) return undefined;
  const why = last.message ?? last.outcome ?? 'no reason given';
  return `${work.agent} gave no verdict in ${bad.length} tries; the last: ${why}`;
}

/** What was cut off says nothing about the auditor. */
const FREE: ReadonlySet<Run['outcome']> = new Set([null, 'stopped', 'crashed', 'completed']);

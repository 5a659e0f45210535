import type { Attempt } from '#contract/attempt.ts';
import { findSpentAudits } from '#domain/count-audits.ts';
import type { GateHolder } from '#domain/decide-review.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import type { AgentBook } from './work.ts';

/** Why the auditor is not asked about the attempt as it stands; undefined while it is, and where no auditor holds the gate. */
export async function readSpentAudits(
  {
    store,
    agents,
  }: {
    readonly store: Pick<AttemptStore, 'listReviews' | 'listRuns'>;
    readonly agents: Pick<AgentBook, 'find'>;
  },
  { id, task_id, head_commit }: Pick<Attempt, 'id' | 'task_id' | 'head_commit'>,
  holder: GateHolder,
): Promise<string | undefined> {
  if (holder.kind !== 'managed') return undefined;
  const [reviews, runs] = await Promise.all([store.listReviews({ task_id }), store.listRuns({ task_id })]);
  const agent = holder.name;
  const resumed_at = agents.find(agent)?.resumed_at;
  return findSpentAudits({ reviews, runs }, { attempt_id: id, head_commit, agent, resumed_at });
}

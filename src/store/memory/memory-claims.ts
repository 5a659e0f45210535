import type { Task } from '#contract/task.ts';
import {
  toBlockerFacts,
  toClaimFacts,
  toPauseFacts,
  type AskedClaim,
  type ClaimReads,
} from '#domain/claim-facts.ts';
import {
  decideClaim,
  decidePause,
  type BlockerFacts,
  type ClaimFacts,
  type ClaimRefusal,
} from '#domain/decide-claim.ts';
import { decideRelease } from '#domain/decide-release.ts';
import { explainPause } from '#domain/explain-refusal.ts';
import { planClaim } from '#domain/plan-claim.ts';
import { fieldValue } from '#domain/task-record.ts';
import { toTask } from '#domain/to-task.ts';
import { toIso } from '#kernel/clock.ts';
import type { ClaimRequest, ClaimResult, NextRequest, TaskStore } from '../store.ts';
import { resolveTaskId } from './memory-ids.ts';
import { grantLease, isLeaseOver, releaseExpired } from './memory-leases.ts';
import { listReadyRows } from './memory-lists.ts';
import { listBlockers } from './memory-rows.ts';
import { checkSeen, savePlan, toDeciding, toSeen } from './memory-seen.ts';
import type { MemoryTables, TaskRow } from './memory-tables.ts';
import type { MemoryTransaction, Saved } from './memory-transaction.ts';
import { workflowOf } from './memory-workflow.ts';

/** The port's writes that decide who owns a task. */

/** Everything that a claim is decided by, as this transaction sees it. */
export function readClaimFacts(tx: MemoryTransaction, before: TaskRow, claim: AskedClaim): ClaimFacts {
  return toClaimFacts(before.record, claim, {
    ...readPause(tx),
    blockers: () => listBlockers(tx.tables, before.record).map(({ id }) => readBlocker(tx, id)),
    is_lease_over: () => isLeaseOver(tx, before),
  });
}

function readPause({ tables, by }: MemoryTransaction): Pick<ClaimReads, 'asker' | 'pauses_agents'> {
  return { asker: by.actor, pauses_agents: readPausedAt(tables) !== null };
}

function readBlocker(tx: MemoryTransaction, id: string): BlockerFacts {
  const record = tx.tables.tasks.get(id)?.record;
  const { workflow } = toDeciding(tx);
  if (record === undefined) return toBlockerFacts(undefined, workflow);
  return toBlockerFacts({ ...record.life, submitted_by: fieldValue(record, 'submitted_by') }, workflow);
}

export function claimTask(tx: MemoryTransaction, claim: ClaimRequest): ClaimResult {
  const { tables } = tx;
  const before = tx.read(resolveTaskId(tables, claim.id));
  checkSeen(tables, before, { fence: claim.fence });
  const way = claim.force ? 'force' : 'claim';
  const decision = decideClaim(readClaimFacts(tx, before, { ...claim, way }), toDeciding(tx).workflow);
  if (decision.outcome !== 'mine' && decision.outcome !== 'claim') return toRefusal(tables, before, decision);
  if (decision.outcome === 'claim')
    return { outcome: 'claimed', ...saveClaim(tx, before, { ...claim, state: decision.state }) };
  const { record, version, fence } = before;
  if (claim.lease_ms !== undefined) grantLease(tx, record.id, { fence, ttl_ms: claim.lease_ms });
  return { outcome: 'claimed', task: toTask(record, version, workflowOf(tables)), fence };
}

/** The refusal with all that a person wants to know of it. */
function toRefusal(
  tables: MemoryTables,
  { record, version }: TaskRow,
  refusal: ClaimRefusal,
): Exclude<ClaimResult, { outcome: 'claimed' }> {
  const task = toTask(record, version, workflowOf(tables));
  return refusal.outcome === 'blocked'
    ? { ...refusal, task, blockers: listBlockers(tables, record) }
    : { ...refusal, task };
}

export function claimNext(tx: MemoryTransaction, claim: NextRequest): (Task & { fence: number }) | undefined {
  const paused = decidePause(toPauseFacts(claim, readPause(tx)));
  if (paused !== undefined) throw explainPause(paused);
  releaseExpired(tx);
  for (const before of listReadyRows(tx.tables, { ...claim, to_hand_out: true, limit: undefined })) {
    const facts = readClaimFacts(tx, before, { ...claim, way: 'claim' });
    const decision = decideClaim(facts, toDeciding(tx).workflow);
    if (decision.outcome !== 'claim') continue;
    const { task, fence } = saveClaim(tx, before, { ...claim, state: decision.state, force: false });
    return { ...task, fence };
  }
  return undefined;
}

function saveClaim(
  tx: MemoryTransaction,
  before: TaskRow,
  claim: { assignee: string; force: boolean; state: string; lease_ms?: number | undefined },
): Saved {
  const saved = savePlan(tx, before, planClaim(before.record, claim, tx.by));
  const { lease_ms: ttl_ms } = claim;
  if (ttl_ms !== undefined) grantLease(tx, before.record.id, { fence: saved.fence, ttl_ms });
  return saved;
}

export function releaseTask(tx: MemoryTransaction, release: Parameters<TaskStore['releaseTask']>[0]): Task {
  const before = tx.read(resolveTaskId(tx.tables, release.id));
  return savePlan(tx, before, decideRelease(toSeen(before), release, toDeciding(tx))).task;
}

export function pauseProject(tx: MemoryTransaction, paused: boolean): { paused_at: string | null } {
  const { tables, by } = tx;
  if (paused === (readPausedAt(tables) !== null)) return { paused_at: readPausedAt(tables) };
  tables.facts.set('paused_at', paused ? by.now : 0);
  const paused_at = readPausedAt(tables);
  tx.tell({ type: 'project.changed', task_id: null, data: { changed: ['paused_at'], paused_at } });
  return { paused_at };
}

/** Since when agents claim nothing here; null while they may. */
export function readPausedAt({ facts }: MemoryTables): string | null {
  const since = facts.get('paused_at') ?? 0;
  return since === 0 ? null : toIso(since);
}

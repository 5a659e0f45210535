import type { Task } from '#contract/task.ts';
import { decideClaim, decidePause } from '#domain/decide-claim.ts';
import { decideRelease } from '#domain/decide-release.ts';
import { explainPause } from '#domain/explain-refusal.ts';
import { planClaim } from '#domain/plan-claim.ts';
import { toTask } from '#domain/to-task.ts';
import type { ClaimRequest, ClaimResult, NextRequest, ReadyQuery, TaskStore } from '../store.ts';
import { readClaimFacts, readPauseFacts, toRefusal } from './claim-facts.ts';
import { grantLease, releaseExpired } from './lease-rows.ts';
import { findFirstReady, listReadyIds } from './ready-queries.ts';
import type { StoredRecord } from './record-rows.ts';
import { readPause } from './read-pause.ts';
import { checkSeen, savePlan, toDeciding, toSeen } from './save-plan.ts';
import { readFact } from './store-facts.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** The port's writes that decide who owns a task; each runs inside one WriteTransaction. */

export function claimTask(tx: WriteTransaction, claim: ClaimRequest): ClaimResult {
  const before = tx.find(claim.id);
  const { record } = before;
  checkSeen(tx, before, { fence: claim.fence });
  const way = claim.force ? 'force' : 'claim';
  const decision = decideClaim(readClaimFacts(tx, before, { ...claim, way }), tx.db.workflow);
  if (decision.outcome !== 'mine' && decision.outcome !== 'claim') return toRefusal(tx, before, decision);
  if (decision.outcome === 'claim')
    return { outcome: 'claimed', ...saveClaim(tx, before, { ...claim, state: decision.state }) };
  if (claim.lease_ms !== undefined)
    grantLease(tx, record.id, { fence: before.fence, ttl_ms: claim.lease_ms });
  return { outcome: 'claimed', task: toTask(record, before.version, tx.db.workflow), fence: before.fence };
}

export function claimNext(tx: WriteTransaction, claim: NextRequest): (Task & { fence: number }) | undefined {
  const pause = readPauseFacts(tx, claim);
  const paused = decidePause(pause);
  if (paused !== undefined) throw explainPause(paused);
  releaseExpired(tx);
  for (const id of listCandidates(tx, { ...claim, to_hand_out: true })) {
    const before = tx.read(id);
    const facts = readClaimFacts(tx, before, { ...claim, way: 'claim' }, pause.pauses_agents);
    const decision = decideClaim(facts, tx.db.workflow);
    if (decision.outcome !== 'claim') continue;
    const { task, fence } = saveClaim(tx, before, { ...claim, state: decision.state, force: false });
    return { ...task, fence };
  }
  return undefined;
}

/** Nearly always it is the first; the others are read only where that one is kept for somebody. */
function* listCandidates({ db, bounded }: WriteTransaction, query: ReadyQuery): Generator<string> {
  const first = findFirstReady(db, query, bounded);
  if (first === undefined) return;
  yield first;
  for (const id of listReadyIds(db, query, bounded)) if (id !== first) yield id;
}

export function releaseTask(tx: WriteTransaction, release: Parameters<TaskStore['releaseTask']>[0]): Task {
  const before = tx.find(release.id);
  return savePlan(tx, before, decideRelease(toSeen(before), release, toDeciding(tx))).task;
}

export function pauseProject(tx: WriteTransaction, paused: boolean): { paused_at: string | null } {
  const { db, by } = tx;
  const since = readFact(db, 'paused_at');
  if (paused === since > 0) return { paused_at: readPause(db) };
  tx.keepFact('paused_at', paused ? by.now : 0);
  tx.emitProject({ changed: ['paused_at'], paused_at: readPause(db) });
  return { paused_at: readPause(db) };
}

function saveClaim(
  tx: WriteTransaction,
  before: StoredRecord,
  claim: { assignee: string; force: boolean; state: string; lease_ms?: number | undefined },
): { task: Task; fence: number } {
  const saved = savePlan(tx, before, planClaim(before.record, claim, tx.by));
  if (claim.lease_ms !== undefined)
    grantLease(tx, before.record.id, { fence: saved.fence, ttl_ms: claim.lease_ms });
  return saved;
}

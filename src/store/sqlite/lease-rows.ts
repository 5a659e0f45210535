import { decideRenewal, planExpiry, type LeaseTerm } from '#domain/decide-lease.ts';
import { isExpired, watchLeases, type LeaseWatch, type Look, type SteadyTime } from '#domain/leases.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Database } from './database.ts';
import { resolveTaskId } from './resolve-id.ts';
import { savePlan, toDeciding, toError, toSeen } from './save-plan.ts';
import { readFact, writeFact } from './store-facts.ts';
import { encodeLease } from './lease-lines.ts';
import type { WriteTransaction } from './write-transaction.ts';

interface Lease extends LeaseTerm {
  /** Of the steady clock. */
  readonly expires_at: number;
}

/** A claim that ends by itself; a rebuild gives its holder one lease time to be heard of. */
export function grantLease(tx: WriteTransaction, taskId: string, lease: LeaseTerm): void {
  const { db } = tx;
  const known = readLease(db, taskId);
  if (known?.fence !== lease.fence || known.ttl_ms !== lease.ttl_ms)
    tx.keepLine(encodeLease({ task: taskId, ...lease }));
  const time = adoptClock(db, tx.steady());
  watch(db, time, { ttl: lease.ttl_ms, look: 'hold' });
  db.run(
    `INSERT INTO leases (task_id, fence, ttl_ms, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
      fence = excluded.fence, ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at`,
    taskId,
    lease.fence,
    lease.ttl_ms,
    time.at + lease.ttl_ms,
  );
}

export function renewLease(
  tx: WriteTransaction,
  { id, fence }: { id: string; fence: number },
): { id: string; expires_at: string } {
  const before = tx.read(resolveTaskId(tx.db, id));
  const decision = decideRenewal(toSeen(tx, before), { fence, lease: readLease(tx.db, before.record.id) });
  if (decision.outcome !== 'renew') throw toError(tx, before, decision);
  grantLease(tx, before.record.id, decision.lease);
  return { id: before.record.id, expires_at: toIso(tx.by.now + decision.lease.ttl_ms) };
}

/** Whether the holder of a claim may be passed over. */
export function isLeaseOver(
  tx: Pick<WriteTransaction, 'db' | 'steady'>,
  task: { id: string; fence: number },
): boolean {
  const { db } = tx;
  if (readLease(db, task.id)?.fence !== task.fence) return false;
  const time = adoptClock(db, tx.steady());
  const lease = readLease(db, task.id);
  if (lease === undefined || !isExpired(lease, time.at)) return false;
  return watch(db, time, { ttl: lease.ttl_ms, look: 'judge' });
}

/** Gives tasks back whose holders are gone. */
export function releaseExpired(tx: WriteTransaction): void {
  const { db } = tx;
  // Most projects never see a lease.
  if (db.get('SELECT 1 AS any_lease FROM leases LIMIT 1') === undefined) return;
  const time = adoptClock(db, tx.steady());
  const rows = db.all(
    `SELECT l.task_id, l.ttl_ms, l.expires_at FROM leases l JOIN tasks t ON t.id = l.task_id AND t.fence = l.fence
      WHERE t.status = 'in_progress' AND (l.expires_at <= ?1 OR l.expires_at > ?1 + l.ttl_ms)
      ORDER BY l.expires_at LIMIT ?2`,
    time.at,
    LIMITS.leases_a_sweep,
  );
  for (const row of rows) {
    if (!watch(db, time, { ttl: row.ttl_ms as number, look: 'judge' })) continue;
    const before = tx.read(row.task_id as string);
    savePlan(tx, before, planExpiry(before.record, toDeciding(tx)));
    db.run('DELETE FROM leases WHERE task_id = ?', before.record.id);
  }
}

/** Nobody is judged before every holder has had one lease time from now. */
export function graceLeases(db: Database, time: SteadyTime): void {
  if (db.get('SELECT 1 AS any_lease FROM leases LIMIT 1') === undefined) return;
  const { at } = adoptClock(db, time);
  writeWatch(db, { since: at, seen: at, asked: at });
}

function readLease(db: Database, id: string): Lease | undefined {
  const row = db.get('SELECT fence, ttl_ms, expires_at FROM leases WHERE task_id = ?', id);
  return row as Lease | undefined; // the columns of the schema
}

/**
 * Times of another clock say nothing on this one: the machine was started again, the store was carried to another, or
 * rebuilt. Every holder gets a whole lease time by the new one, and nobody is judged before.
 */
function adoptClock(db: Database, time: SteadyTime): SteadyTime {
  const { clock, at } = time;
  if (readFact(db, 'leases_clock') === clock) return time;
  db.run('UPDATE leases SET expires_at = ? + ttl_ms', at);
  writeFact(db, 'leases_clock', clock);
  writeWatch(db, { since: at, seen: at, asked: at });
  return time;
}

/** Whether holders may be judged now. */
function watch(db: Database, time: SteadyTime, look: { readonly ttl: number; readonly look: Look }): boolean {
  const before = {
    since: readFact(db, 'leases_since'),
    seen: readFact(db, 'leases_seen'),
    asked: readFact(db, 'leases_asked'),
  };
  const { may_judge, ...next } = watchLeases(before, time, look);
  writeWatch(db, next, before);
  return may_judge;
}

/** Writes what is not known already. */
function writeWatch(db: Database, next: LeaseWatch, before?: LeaseWatch): void {
  if (next.since !== before?.since) writeFact(db, 'leases_since', next.since);
  if (next.seen !== before?.seen) writeFact(db, 'leases_seen', next.seen);
  if (next.asked !== before?.asked) writeFact(db, 'leases_asked', next.asked);
}

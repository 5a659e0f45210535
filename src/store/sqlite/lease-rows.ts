import { decideRenewal, planExpiry, type LeaseTerm } from '#domain/decide-lease.ts';
import {
  adoptWatch,
  beginWatch,
  isExpired,
  watchLeases,
  type LeaseWatch,
  type Look,
  type SteadyTime,
} from '#domain/leases.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { Database } from './database.ts';
import { savePlan, toDeciding, toError, toSeen } from './save-plan.ts';
import { readFact, writeFact } from './store-facts.ts';
import { encodeLease, NO_CLOCK } from './lease-lines.ts';
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
  db.run('DELETE FROM lease_clocks WHERE task_id = ?', taskId);
}

export function renewLease(
  tx: WriteTransaction,
  { id, fence }: { id: string; fence: number },
): { id: string; expires_at: string } {
  const before = tx.find(id);
  const decision = decideRenewal(toSeen(before), { fence, lease: readLease(tx.db, before.record.id) });
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
  writeWatch(db, beginWatch(at));
}

function readLease(db: Database, id: string): Lease | undefined {
  const row = db.get('SELECT fence, ttl_ms, expires_at FROM leases WHERE task_id = ?', id);
  return row as Lease | undefined; // the columns of the schema
}

/**
 * Times of another clock say nothing on this one: the machine was started again, or another one uses the store. A clock
 * that sees a lease for the first time gives its holder a whole lease time, and judges none before; one that has seen
 * it goes on counting from there. So each clock counts no more than has passed, and two that take turns both come to the end.
 */
function adoptClock(db: Database, time: SteadyTime): SteadyTime {
  const { clock, at } = time;
  const last = readFact(db, 'leases_clock');
  if (last === clock) return time;
  if (last === NO_CLOCK) db.execute('DELETE FROM lease_clocks; DELETE FROM lease_watches');
  else {
    db.run('INSERT OR REPLACE INTO lease_clocks SELECT task_id, ?, expires_at FROM leases', last);
    const { since, seen, asked } = readWatch(db);
    db.run('INSERT OR REPLACE INTO lease_watches VALUES (?, ?, ?, ?)', last, since, seen, asked);
  }
  db.run(
    `UPDATE leases SET expires_at = coalesce(
      (SELECT c.expires_at FROM lease_clocks c WHERE c.task_id = leases.task_id AND c.clock = ?1), ?2 + ttl_ms)`,
    clock,
    at,
  );
  const known = db.get('SELECT since, seen, asked FROM lease_watches WHERE clock = ?', clock);
  const shortest = Number(db.get('SELECT min(ttl_ms) AS ttl FROM leases')?.ttl ?? 0);
  writeWatch(db, adoptWatch(known as unknown as LeaseWatch | undefined, time, shortest)); // the columns of the schema
  writeFact(db, 'leases_clock', clock);
  forgetClocks(db, [last, clock]);
  return time;
}

/** Each start of a machine is a clock that does not come again. */
function forgetClocks(db: Database, [last, clock]: readonly [number, number]): void {
  const { n } = db.get('SELECT count(*) AS n FROM lease_watches') ?? {};
  if (Number(n) <= LIMITS.lease_clocks) return;
  db.run('DELETE FROM lease_watches WHERE clock NOT IN (?, ?)', last, clock);
  db.run('DELETE FROM lease_clocks WHERE clock NOT IN (?, ?)', last, clock);
}

/** Whether holders may be judged now. */
function watch(db: Database, time: SteadyTime, look: { readonly ttl: number; readonly look: Look }): boolean {
  const before = readWatch(db);
  const { may_judge, ...next } = watchLeases(before, time, look);
  writeWatch(db, next, before);
  // A holder was heard of, whichever machine it told.
  if (look.look === 'hold') db.run('UPDATE lease_watches SET asked = 0 WHERE asked <> 0');
  return may_judge;
}

function readWatch(db: Database): LeaseWatch {
  return {
    since: readFact(db, 'leases_since'),
    seen: readFact(db, 'leases_seen'),
    asked: readFact(db, 'leases_asked'),
  };
}

/** Writes what is not known already. */
function writeWatch(db: Database, next: LeaseWatch, before?: LeaseWatch): void {
  if (next.since !== before?.since) writeFact(db, 'leases_since', next.since);
  if (next.seen !== before?.seen) writeFact(db, 'leases_seen', next.seen);
  if (next.asked !== before?.asked) writeFact(db, 'leases_asked', next.asked);
}

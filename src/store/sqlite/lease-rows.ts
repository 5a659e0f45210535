import { isExpired, watchLeases } from '#domain/leases.ts';
import { moveRecord } from '#domain/task-changes.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { checkVersion } from './check-version.ts';
import type { Database } from './database.ts';
import { resolveTaskId } from './resolve-id.ts';
import { readFact, writeFact } from './store-facts.ts';
import { encodeLease } from './lease-lines.ts';
import type { WriteTransaction } from './write-transaction.ts';

interface LeaseTerm {
  /** Of the claim. */
  readonly fence: number;
  readonly ttl_ms: number;
}

interface Lease extends LeaseTerm {
  readonly expires_at: number;
}

/** A claim that ends by itself; a rebuild gives its holder one lease time to be heard of. */
export function grantLease(tx: WriteTransaction, taskId: string, lease: LeaseTerm): void {
  const { db, by } = tx;
  const known = readLease(db, taskId);
  if (known?.fence !== lease.fence || known.ttl_ms !== lease.ttl_ms)
    tx.keepLine(encodeLease({ task: taskId, ...lease }));
  watch(db, by.now, lease.ttl_ms);
  writeLease(db, taskId, lease, by.now);
}

export function writeLease(db: Database, taskId: string, lease: LeaseTerm, now: number): void {
  db.run(
    `INSERT INTO leases (task_id, fence, ttl_ms, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
      fence = excluded.fence, ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at`,
    taskId,
    lease.fence,
    lease.ttl_ms,
    now + lease.ttl_ms,
  );
}

export function renewLease(
  tx: WriteTransaction,
  { id, fence }: { id: string; fence: number },
): { id: string; expires_at: string } {
  const before = tx.read(resolveTaskId(tx.db, id));
  checkVersion(before, { fence });
  const lease = readLease(tx.db, before.record.id);
  if (lease === undefined || lease.fence !== fence) {
    throw new ForgeError('state_invalid', `The claim ${fence} of ${before.record.id} has no lease to renew`, {
      hint: `forge claim ${before.record.id} --lease 60s`,
      details: { id: before.record.id },
    });
  }
  grantLease(tx, before.record.id, lease);
  return { id: before.record.id, expires_at: toIso(tx.by.now + lease.ttl_ms) };
}

/** Whether the holder of a claim may be passed over. */
export function isLeaseOver(db: Database, task: { id: string; fence: number }, now: number): boolean {
  const lease = readLease(db, task.id);
  if (lease === undefined || lease.fence !== task.fence || !isExpired(lease, now)) return false;
  return watch(db, now, lease.ttl_ms);
}

/** Gives tasks back whose holders are gone. */
export function releaseExpired(tx: WriteTransaction): void {
  const { db, by } = tx;
  const initial = (by.workflow ?? DEFAULT_RESOLVED).initial;
  const rows = db.all(
    `SELECT l.task_id, l.ttl_ms, l.expires_at FROM leases l JOIN tasks t ON t.id = l.task_id AND t.fence = l.fence
      WHERE t.status = 'in_progress' AND (l.expires_at <= ?1 OR l.expires_at > ?1 + l.ttl_ms)
      ORDER BY l.expires_at LIMIT ?2`,
    by.now,
    LIMITS.leases_a_sweep,
  );
  for (const row of rows) {
    if (!watch(db, by.now, row.ttl_ms as number)) continue;
    const before = tx.read(row.task_id as string);
    const after = moveRecord(before.record, { status: 'open', state: initial, assignee: null }, by.now);
    tx.save(before, after, {
      type: 'task.released',
      changed: ['status', 'state', 'assignee'],
      reason: `the lease of ${before.record.life.assignee ?? 'nobody'} ran out`,
      triggered_by: 'system',
    });
    db.run('DELETE FROM leases WHERE task_id = ?', before.record.id);
  }
}

/** Nobody is judged before `now` and one lease time. */
export function graceLeases(db: Database, now: number): void {
  const longest = Number(db.get('SELECT max(ttl_ms) AS ttl FROM leases')?.ttl ?? 0);
  if (longest > 0) writeWatch(db, { seen: now, grace: now + longest });
}

function readLease(db: Database, id: string): Lease | undefined {
  const row = db.get('SELECT fence, ttl_ms, expires_at FROM leases WHERE task_id = ?', id);
  return row as Lease | undefined; // the columns of the schema
}

/** Whether holders may be judged now. */
function watch(db: Database, now: number, ttl: number): boolean {
  const seen = readFact(db, 'leases_seen');
  // Everybody reads the clock before they wait for the lock, so they come a little out of order. To take that for a
  // clock that went back would begin a new grace time again and again, and nobody would ever be judged.
  const at = now < seen && now >= seen - ttl ? seen : now;
  const { may_judge, ...next } = watchLeases({ seen, grace: readFact(db, 'leases_since') }, at, ttl);
  writeWatch(db, next);
  return may_judge;
}

function writeWatch(db: Database, { seen, grace }: { seen: number; grace: number }): void {
  writeFact(db, 'leases_seen', seen);
  writeFact(db, 'leases_since', grace);
}

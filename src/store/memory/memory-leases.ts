import { decideRenewal, planExpiry, type LeaseTerm } from '#domain/decide-lease.ts';
import { isExpired, watchLeases, type LeaseWatch, type Look, type SteadyTime } from '#domain/leases.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { resolveTaskId } from './memory-ids.ts';
import { savePlan, toDeciding, toError, toSeen } from './memory-seen.ts';
import type { LeaseRow, MemoryTables, TaskRow } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';

/** The clock that every store begins with, which the times of writers stand for. */
export const WALL = 0;

/** A claim that ends by itself. */
export function grantLease(tx: MemoryTransaction, task_id: string, { fence, ttl_ms }: LeaseTerm): void {
  const { tables } = tx;
  const time = adoptClock(tables, tx.steady());
  watch(tables, time, { ttl: ttl_ms, look: 'hold' });
  tables.leases.set(task_id, { task_id, fence, ttl_ms, expires_at: time.at + ttl_ms });
}

export function renewLease(
  tx: MemoryTransaction,
  { id, fence }: { id: string; fence: number },
): { id: string; expires_at: string } {
  const { tables, by } = tx;
  const before = tx.read(resolveTaskId(tables, id));
  const lease = tables.leases.get(before.record.id);
  const decision = decideRenewal(toSeen(tables, before), { fence, lease });
  if (decision.outcome !== 'renew') throw toError(tables, before, decision);
  grantLease(tx, before.record.id, decision.lease);
  return { id: before.record.id, expires_at: toIso(by.now + decision.lease.ttl_ms) };
}

/** Whether the holder of a claim may be passed over. */
export function isLeaseOver(tx: MemoryTransaction, { record, fence }: TaskRow): boolean {
  const { tables } = tx;
  if (tables.leases.get(record.id)?.fence !== fence) return false;
  const time = adoptClock(tables, tx.steady());
  const lease = tables.leases.get(record.id);
  if (lease === undefined || !isExpired(lease, time.at)) return false;
  return watch(tables, time, { ttl: lease.ttl_ms, look: 'judge' });
}

/** Gives tasks back whose holders are gone. */
export function releaseExpired(tx: MemoryTransaction): void {
  const { tables } = tx;
  if (tables.leases.size === 0) return;
  const time = adoptClock(tables, tx.steady());
  const over = tables.leases
    .list()
    .filter((lease) => isExpired(lease, time.at) && isHeld(tables, lease))
    .sort((a, b) => a.expires_at - b.expires_at)
    .slice(0, LIMITS.leases_a_sweep);
  for (const { task_id, ttl_ms } of over) {
    if (!watch(tables, time, { ttl: ttl_ms, look: 'judge' })) continue;
    const before = tx.read(task_id);
    savePlan(tx, before, planExpiry(before.record, toDeciding(tx)));
    tables.leases.delete(task_id);
  }
}

/** A lease of an older claim means nothing. */
function isHeld({ tasks }: MemoryTables, { task_id, fence }: LeaseRow): boolean {
  const row = tasks.get(task_id);
  return row?.fence === fence && row.record.life.status === 'in_progress';
}

/** Nobody is judged before every holder has had one lease time from now. */
export function graceLeases(tables: MemoryTables, time: SteadyTime): void {
  if (tables.leases.size === 0) return;
  const { at } = adoptClock(tables, time);
  writeWatch(tables, { since: at, seen: at, asked: at });
}

/** Times of another clock say nothing on this one: every holder gets a whole lease time by the new one. */
function adoptClock(tables: MemoryTables, time: SteadyTime): SteadyTime {
  const { clock, at } = time;
  if ((tables.facts.get('leases_clock') ?? WALL) === clock) return time;
  for (const lease of tables.leases.list())
    tables.leases.set(lease.task_id, { ...lease, expires_at: at + lease.ttl_ms });
  tables.facts.set('leases_clock', clock);
  writeWatch(tables, { since: at, seen: at, asked: at });
  return time;
}

/** Whether holders may be judged now. */
function watch(
  tables: MemoryTables,
  time: SteadyTime,
  look: { readonly ttl: number; readonly look: Look },
): boolean {
  const fact = (name: string): number => tables.facts.get(name) ?? 0;
  const before = { since: fact('leases_since'), seen: fact('leases_seen'), asked: fact('leases_asked') };
  const { may_judge, ...next } = watchLeases(before, time, look);
  writeWatch(tables, next);
  return may_judge;
}

function writeWatch({ facts }: MemoryTables, { since, seen, asked }: LeaseWatch): void {
  facts.set('leases_since', since);
  facts.set('leases_seen', seen);
  facts.set('leases_asked', asked);
}

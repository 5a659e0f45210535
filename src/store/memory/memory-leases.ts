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
  tellOthers(tables, task_id);
}

export function renewLease(
  tx: MemoryTransaction,
  { id, fence }: { id: string; fence: number },
): { id: string; expires_at: string } {
  const { tables, by } = tx;
  const before = tx.read(resolveTaskId(tables, id));
  const lease = tables.leases.get(before.record.id);
  const decision = decideRenewal(toSeen(before), { fence, lease });
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

/** For a server that begins: holders that could not be heard of meanwhile are not judged by it. */
export function graceLeases(tables: MemoryTables, time: SteadyTime): void {
  if (tables.leases.size === 0) return;
  writeWatch(tables, beginWatch(adoptClock(tables, time).at));
}

/**
 * A clock that sees a lease for the first time gives its holder a whole lease time; one that has seen it goes on
 * counting. A lease that is renewed counts anew on all.
 */
function adoptClock(tables: MemoryTables, time: SteadyTime): SteadyTime {
  const { clock, at } = time;
  const last = tables.facts.get('leases_clock') ?? WALL;
  if (last === clock) return time;
  const leases = tables.leases.list();
  const expiries = new Map(leases.map(({ task_id, expires_at }) => [task_id, expires_at]));
  tables.clocks.set(last, { watch: readWatch(tables), expiries });
  const known = tables.clocks.get(clock);
  for (const lease of leases) {
    const expires_at = known?.expiries.get(lease.task_id) ?? at + lease.ttl_ms;
    tables.leases.set(lease.task_id, { ...lease, expires_at });
  }
  writeWatch(tables, adoptWatch(known?.watch, time, Math.min(...leases.map(({ ttl_ms }) => ttl_ms))));
  tables.facts.set('leases_clock', clock);
  return time;
}

/** A holder was heard of, whichever machine it told. */
function tellOthers({ clocks, facts }: MemoryTables, task_id: string): void {
  const last = facts.get('leases_clock') ?? WALL;
  for (const clock of clocks.keys()) {
    const known = clocks.get(clock);
    if (known === undefined || clock === last) continue;
    const expiries = new Map([...known.expiries].filter(([id]) => id !== task_id));
    clocks.set(clock, { watch: { ...known.watch, asked: 0 }, expiries });
  }
}

/** Whether holders may be judged now. */
function watch(
  tables: MemoryTables,
  time: SteadyTime,
  look: { readonly ttl: number; readonly look: Look },
): boolean {
  const { may_judge, ...next } = watchLeases(readWatch(tables), time, look);
  writeWatch(tables, next);
  return may_judge;
}

function readWatch({ facts }: MemoryTables): LeaseWatch {
  const fact = (name: string): number => facts.get(name) ?? 0;
  return { since: fact('leases_since'), seen: fact('leases_seen'), asked: fact('leases_asked') };
}

function writeWatch({ facts }: MemoryTables, { since, seen, asked }: LeaseWatch): void {
  facts.set('leases_since', since);
  facts.set('leases_seen', seen);
  facts.set('leases_asked', asked);
}

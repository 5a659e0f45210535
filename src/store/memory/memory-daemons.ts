import { isBeatOver } from '#domain/judge-daemon.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import type { DaemonBeat, DaemonMark, StoredDaemon } from '../daemon-store.ts';
import type { MemoryTables } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';

export function beatDaemon(tx: MemoryTransaction, { mark, ttl_ms }: DaemonBeat): void {
  const { tables, by } = tx;
  const { clock, at } = tx.steady();
  const started_at = tables.daemons.get(mark.daemon_id)?.started_at ?? by.now;
  const expiries = new Map([[clock, at + ttl_ms]]);
  const said = { mark, started_at, beat_at: by.now, ttl_ms, has_ended: false, expiries };
  tables.daemons.set(mark.daemon_id, said);
  const before = by.now - KEPT_LIMITS.daemon_days * 86_400_000;
  for (const one of tables.daemons.list())
    if ((one.beat_at ?? one.started_at) < before) tables.daemons.delete(one.mark.daemon_id);
}

export function endDaemon({ tables }: MemoryTransaction, { daemon_id }: DaemonMark): void {
  const row = tables.daemons.get(daemon_id);
  if (row !== undefined) tables.daemons.set(daemon_id, { ...row, has_ended: true });
}

export function isDaemonOver(tx: MemoryTransaction, mark: DaemonMark): boolean {
  const { tables, by } = tx;
  const time = tx.steady();
  const unheard = {
    mark,
    started_at: by.now,
    beat_at: null,
    has_ended: false,
    expiries: new Map<number, number>(),
  };
  const row = tables.daemons.get(mark.daemon_id) ?? { ...unheard, ttl_ms: WATCH_LIMITS.daemon_ttl_ms };
  if (row.has_ended) return true;
  const expires_at = row.expiries.get(time.clock);
  if (expires_at !== undefined) return isBeatOver({ expires_at, ttl_ms: row.ttl_ms }, time);
  const expiries = new Map([...row.expiries, [time.clock, time.at + row.ttl_ms] as const]);
  tables.daemons.set(mark.daemon_id, { ...row, expiries });
  return false;
}

export function listDaemons({ daemons }: MemoryTables): StoredDaemon[] {
  return daemons
    .list()
    .filter(({ has_ended }) => !has_ended)
    .sort((a, b) => a.started_at - b.started_at || (a.mark.daemon_id < b.mark.daemon_id ? -1 : 1))
    .map(({ mark, started_at, beat_at }) => ({ mark, started_at, beat_at }));
}

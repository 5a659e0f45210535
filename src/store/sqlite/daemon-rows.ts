import { isBeatOver } from '#domain/judge-daemon.ts';
import type { SteadyTime } from '#domain/leases.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import type { DaemonBeat, DaemonMark, StoredDaemon } from '../daemon-store.ts';
import type { Database } from './database.ts';
import { fromMark } from './work-transaction.ts';
import type { WriteTransaction } from './write-transaction.ts';

export function beatDaemon(tx: WriteTransaction, { mark, ttl_ms }: DaemonBeat): void {
  const { db, by } = tx;
  const { daemon_id } = mark;
  const { clock, at } = tx.steady();
  db.run(
    `INSERT INTO daemons (daemon_id, mark, started_at, beat_at, ttl_ms) VALUES (?1, ?2, ?3, ?3, ?4) ON CONFLICT DO UPDATE SET
      mark = excluded.mark, beat_at = excluded.beat_at, ttl_ms = excluded.ttl_ms, ended_at = NULL`,
    daemon_id,
    fromMark(mark),
    by.now,
    ttl_ms,
  );
  db.run('DELETE FROM daemon_clocks WHERE daemon_id = ?', daemon_id);
  db.run(
    'INSERT INTO daemon_clocks (daemon_id, clock, expires_at) VALUES (?, ?, ?)',
    daemon_id,
    clock,
    at + ttl_ms,
  );
  const before = by.now - KEPT_LIMITS.daemon_days * 86_400_000;
  db.run('DELETE FROM daemons WHERE coalesce(ended_at, beat_at, started_at) < ?', before);
}

export function endDaemon({ db, by }: WriteTransaction, { daemon_id }: DaemonMark): void {
  db.run('UPDATE daemons SET ended_at = ? WHERE daemon_id = ?', by.now, daemon_id);
}

/** `unseen`: by the clock of this machine nothing is known of its last word yet. */
export function judgeBeat(db: Database, { daemon_id }: DaemonMark, time: SteadyTime): boolean | 'unseen' {
  const row = db.get(
    `SELECT d.ended_at, d.ttl_ms, c.expires_at FROM daemons d
      LEFT JOIN daemon_clocks c ON c.daemon_id = d.daemon_id AND c.clock = ? WHERE d.daemon_id = ?`,
    time.clock,
    daemon_id,
  );
  if (row === undefined) return 'unseen';
  if (row.ended_at !== null) return true;
  if (row.expires_at === null) return 'unseen';
  return isBeatOver(row as unknown as Parameters<typeof isBeatOver>[0], time); // the columns of the schema
}

/** It has the whole time from now on, by this machine's clock. */
export function noteSeen(tx: WriteTransaction, mark: DaemonMark): void {
  const { db, by } = tx;
  const { clock, at } = tx.steady();
  db.run(
    'INSERT INTO daemons (daemon_id, mark, started_at, ttl_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    mark.daemon_id,
    fromMark(mark),
    by.now,
    WATCH_LIMITS.daemon_ttl_ms,
  );
  db.run(
    `INSERT INTO daemon_clocks (daemon_id, clock, expires_at)
      SELECT daemon_id, ?, ? + ttl_ms FROM daemons WHERE daemon_id = ? ON CONFLICT DO NOTHING`,
    clock,
    at,
    mark.daemon_id,
  );
}

export function listDaemons(db: Database): StoredDaemon[] {
  const rows = db.all(
    'SELECT mark, started_at, beat_at FROM daemons WHERE ended_at IS NULL ORDER BY started_at, daemon_id',
  );
  return rows.map(({ mark, started_at, beat_at }) => ({
    mark: JSON.parse(mark as string) as DaemonMark, // as fromMark wrote it
    started_at: started_at as number,
    beat_at: beat_at as number | null,
  }));
}

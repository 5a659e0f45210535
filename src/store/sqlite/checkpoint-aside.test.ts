import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, vi } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { checkpointAside } from './checkpoint-aside.ts';

it('moves a log whenever it has grown, and leaves a small one alone', async () => {
  using database = openTemporary();
  const { db } = database;
  db.exec('INSERT INTO t VALUES (randomblob(40000))');
  await using aside = checkpointAside(database.path, () => undefined);
  expect(aside).toBeDefined();
  for (let round = 0; round < 2; round += 1) {
    const before = countWaiting(db);
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIMITS.checkpoint_pages})
      INSERT INTO t SELECT randomblob(4000) FROM n`);
    expect(countWaiting(db)).toBeGreaterThan(before);
    await vi.waitUntil(() => countWaiting(db) === 0, { timeout: 15_000, interval: 100 });
  }
});

it('has the end of a log moved that grows while it is moved, where it has become large', async () => {
  using database = openTemporary();
  const { db, path } = database;
  let ends = 0;
  await using aside = checkpointAside(path, () => {
    ends += 1;
    db.exec('PRAGMA wal_checkpoint(RESTART)');
  });
  expect(aside).toBeDefined();
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIMITS.checkpoint_pages})
    INSERT INTO t SELECT randomblob(4000) FROM n`);
  await vi.waitUntil(() => countWaiting(db) === 0, { timeout: 15_000, interval: 100 });
  expect(ends).toBe(0);
  const most = 4 * LIMITS.wal_bytes;
  while (statSync(`${path}-wal`).size <= most) db.exec('INSERT INTO t VALUES (randomblob(1000000))');
  await vi.waitUntil(() => ends > 0, { timeout: 15_000, interval: 100 });
  db.exec(`PRAGMA journal_size_limit = ${LIMITS.wal_bytes}; INSERT INTO t VALUES (1)`);
  expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(LIMITS.wal_bytes);
});

/** Pages of the log that are not in the database yet. */
function countWaiting(db: DatabaseSync): number {
  const { log, checkpointed } = db.prepare('PRAGMA wal_checkpoint(NOOP)').get() as Record<string, number>;
  return (log ?? 0) - (checkpointed ?? 0);
}

function openTemporary(): Disposable & { readonly db: DatabaseSync; readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), 'forge-log-'));
  const path = join(folder, 'a.db');
  const db = new DatabaseSync(path);
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; CREATE TABLE t (a)',
  );
  return {
    db,
    path,
    [Symbol.dispose]() {
      db.close();
      rmSync(folder, { recursive: true });
    },
  };
}

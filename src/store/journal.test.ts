import { mkdtemp, rm } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { toRequest } from '../../tests/support/fold-lines.ts';
import { tempStore } from '../../tests/support/temp-store.ts';
import { by, create, line } from './behaviour/open-behaviour.ts';
import { openStore } from './open-store.ts';
import { readStatfs } from './sqlite/choose-journal.ts';
import { toStoreFiles } from './store-location.ts';

const NFS = 0x6969;
const EXT4 = 0xef53;

describe('a new database', () => {
  it.each(['block', 'await'] as const)(
    'gets a rollback journal on a file system where the log is not safe, and the person is told (%s)',
    async (lock) => {
      await using opened = await openOn(NFS, lock);
      expect(opened.journal()).toBe('delete');
      expect(opened.told).toEqual([expect.stringContaining('lies on NFS')]);
      expect(await opened.diagnose()).toBeNull();
    },
  );

  it('gets a log on a disk of this machine, without a word', async () => {
    await using opened = await openOn(EXT4);
    expect(opened.journal()).toBe('wal');
    expect(opened.told).toEqual([]);
    expect(await opened.diagnose()).toBeNull();
  });

  it('keeps its log where it is moved to a file system on which that is not safe, and says so when asked', async () => {
    await using opened = await openOn(EXT4);
    await opened.reopen(NFS);
    expect(opened.journal()).toBe('wal');
    expect(await opened.diagnose()).toBe('NFS');
  });
});

it.runIf(process.platform === 'linux')('the system is asked what file system a folder lies on', () => {
  expect(readStatfs('/proc')).toEqual({ type: 0x9fa0, platform: 'linux' });
  expect(readStatfs('/proc/not-there')).toEqual({ type: undefined, platform: 'linux' });
});

it('[M6] the log of a long transaction is cut back by the next write', async () => {
  await using temp = await tempStore();
  const size = (): number => statSync(`${temp.database}-wal`).size;
  const description = 'z'.repeat(250_000);
  const count = Math.ceil((1.5 * LIMITS.wal_bytes) / description.length);
  const lines = Array.from({ length: count }, (_, n) => line(`fg-${1_000 + n}`, { description }));
  await temp.store.foldTasks(toRequest(lines), by(temp));
  expect(size()).toBeGreaterThan(1.5 * LIMITS.wal_bytes);
  await create(temp, 'the next write');
  expect(size()).toBe(LIMITS.wal_bytes);
});

/** A store in a folder of its own that is said to lie on that file system. */
async function openOn(type: number, lock?: 'block' | 'await') {
  const folder = await mkdtemp(join(tmpdir(), 'forge-journal-'));
  const told: string[] = [];
  const now = (): number => Date.UTC(2026, 1, 10);
  const open = (on: number) =>
    openStore(
      { folder },
      {
        clock: { now },
        lock,
        notice: (text) => told.push(text),
        readFileSystem: () => ({ type: on, platform: 'linux' }),
      },
    );
  let store = await open(type);
  return {
    told,
    journal() {
      using db = new DatabaseSync(toStoreFiles({ folder }).database);
      return db.prepare('PRAGMA journal_mode').get()?.['journal_mode'];
    },
    diagnose: async () => (await store.diagnose(now())).unsafe_log,
    async reopen(on: number) {
      await store[Symbol.asyncDispose]();
      store = await open(on);
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

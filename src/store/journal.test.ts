import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
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

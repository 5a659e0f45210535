import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/clock.ts';
import { newTask } from './behaviour/open-behaviour.ts';
import { PRIVATE, type FileModes } from './file-modes.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';

const GROUP: FileModes = { file: 0o660, folder: 0o770 };
const by = { actor: { kind: 'user', name: 'ann', named: true }, now: Date.UTC(2026, 1, 10) } as const;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function modesIn(folder: string): Record<string, string> {
  const names = ['..', '', 'forge.db', 'forge.db-wal', 'forge.db-shm', 'tasks.jsonl'];
  return Object.fromEntries(
    names.map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]),
  );
}

describe.runIf(process.platform !== 'win32')('[H4] a new store', () => {
  // The umask takes from one what it should have, and gives the other what it should not.
  it.each([
    ['the owner’s alone', undefined, PRIVATE],
    ['as wide as it was asked for', () => GROUP, GROUP],
  ])('is %s, with all that SQLite and Forge keep beside it', async (_, modes, wanted) => {
    const place = mkdtempSync(join(tmpdir(), 'forge-modes-'));
    folders.push(place);
    const folder = join(place, 'git', 'forge');
    const database = join(folder, 'forge.db');
    const options = { database, replica: join(folder, 'tasks.jsonl'), clock: systemClock, modes };
    const file = wanted.file.toString(8);
    const around = wanted.folder.toString(8);
    const all = { '..': around, '': around, 'forge.db': file, 'forge.db-wal': file, 'forge.db-shm': file };
    {
      await using store = await openSqliteStore(options);
      await store.createTask(newTask('One'), by);
      expect(modesIn(folder)).toEqual({ ...all, 'tasks.jsonl': file });
      await store.compactReplica(by);
      expect(modesIn(folder)).toEqual({ ...all, 'tasks.jsonl': file });
    }
    // Made anew from the replica.
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true });
    await using _store = await openSqliteStore(options);
    expect(modesIn(folder)).toEqual({ ...all, 'tasks.jsonl': file });
  });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startWorker, type StoreWorker, type WorkerOptions } from '../../tests/support/store-workers.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { expectSound, expectKillsSurvived } from './behaviour/crash-behaviour.ts';
import { create, everything, titles } from './behaviour/open-behaviour.ts';

/** Seconds on an idle machine; a busy one must not fail it. */
const LONG = { timeout: 120_000 };
/** Not on every machine; what needs them is skipped there. */
const STRACE = 'strace';
const UNSHARE = 'unshare';

describe('kill -9 at any moment', () => {
  it('[S130] keeps every acknowledged write and leaves old or new, never between', LONG, () =>
    expectKillsSurvived(10),
  );
});

// A signal at a system call of its own stands before the call: what it would have done has not happened.
describe.skipIf(!hasStrace())('with strace', () => {
  it('the line is synced before the database is written', LONG, async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'n 0');
    const log = join(temp.folder, 'strace.log');
    const under = [STRACE, '-f', '-qq', '-y', '-e', 'trace=pwrite64,fdatasync,fsync', '-o', log];
    await update(temp, id, { under });
    const calls = readFileSync(log, 'utf8').split('\n');
    const at = (pattern: RegExp) => calls.findIndex((call) => pattern.test(call));
    const [written, synced, logged] = [
      at(/pwrite64\(\d+<[^>]*tasks\.jsonl>.*"n 1/),
      at(/fdatasync\(\d+<[^>]*tasks\.jsonl>\) += 0/),
      at(/pwrite64\(\d+<[^>]*forge\.db-wal>/),
    ];
    expect(written).toBeGreaterThan(-1);
    expect(synced).toBeGreaterThan(written);
    expect(logged).toBeGreaterThan(synced);
  });

  it.each([
    ['before its line is written', 'tasks.jsonl', 'pwrite64', 1, 0],
    ['before its line is synced', 'tasks.jsonl', 'fdatasync', 1, 1],
    ['before the log is begun', 'forge.db-wal', 'pwrite64', 1, 1],
    ['in the middle of the log', 'forge.db-wal', 'pwrite64', 4, 1],
    ['at the last page of the log', 'forge.db-wal', 'pwrite64', 11, 1],
    ['before the log is synced', 'forge.db-wal', 'fsync', 2, 1],
    ['while the log is copied back', 'forge.db', 'pwrite64', 2, 1],
  ] as const)('[S130] killed %s', LONG, async (_when, file, call, nth, n) => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'n 0');
    const inject = `inject=${call}:signal=KILL:when=${nth}`;
    const worker = await update(temp, id, { under: strace(temp, file, inject) });
    expect((await worker.ended).signal ?? 'SIGKILL').toBe('SIGKILL');
    await expectSound(temp);
    const task = await temp.store.getTask(id);
    expect(task.title).toBe(`n ${n}`);
    const replayed = (await temp.store.readHistory({ id, limit: undefined })).filter(
      ({ triggered_by }) => triggered_by === 'system:replay',
    );
    expect(replayed.length).toBeLessThanOrEqual(n);
    const before = await everything(temp);
    await temp.reopen();
    expect(await everything(temp)).toEqual(before);
  });

  it.each([
    ['no space for the line', 'tasks.jsonl', 'pwrite64:error=ENOSPC', 'disk_full'],
    ['the quota is used up', 'tasks.jsonl', 'pwrite64:error=EDQUOT', 'disk_full'],
    ['the line cannot be synced', 'tasks.jsonl', 'fdatasync:error=EIO', 'io_failed'],
    ['the replica may not be opened', 'tasks.jsonl', 'openat:error=EACCES', 'permission_denied'],
    ['the replica is on a read-only disk', 'tasks.jsonl', 'openat:error=EROFS', 'read_only'],
    ['no space for the log', 'forge.db-wal', 'pwrite64:error=ENOSPC', 'disk_full'],
    ['no space in the middle of the log', 'forge.db-wal', 'pwrite64:error=ENOSPC:when=5+', 'disk_full'],
    ['the disk fails under the log', 'forge.db-wal', 'pwrite64:error=EIO:when=3+', 'io_failed'],
  ] as const)('%s: nothing is changed', LONG, async (_what, file, fault, code) => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'n 0');
    const [before, text] = [await everything(temp), readFileSync(temp.replica, 'utf8')];
    const worker = await update(temp, id, { under: strace(temp, file, `inject=${fault}`) });
    expect(worker.said).toEqual([{ error: code }]);
    expect(readFileSync(temp.replica, 'utf8')).toBe(text);
    await expectSound(temp);
    expect(await everything(temp)).toEqual(before);
    await create(temp, 'Works again');
    await temp.rebuild();
    expect(titles(await temp.store.listTasks({}))).toEqual(['n 0', 'Works again']);
  });
});

describe.skipIf(!hasMounts())('on a disk of 1.5 MB', () => {
  it('the first write that does not fit is refused, and no acknowledged one is lost', LONG, async () => {
    await using temp = await tempStore();
    const disk = join(temp.folder, 'disk');
    mkdirSync(disk);
    const mount = 'mount -t tmpfs -o size=1536k tmpfs "$0" && exec "$@"';
    const worker = await startWorker(disk, ['fill'], { under: [UNSHARE, '-m', 'sh', '-c', mount, disk] });
    worker.go();
    await worker.ended;
    const [refused, seen] = worker.said;
    expect(refused).toEqual({ error: 'disk_full' });
    expect(seen).toMatchObject({ lost: 0 });
    expect(seen?.['created']).toBeGreaterThan(10);
    expect([seen?.['found'], seen?.['lines']]).toEqual([seen?.['created'], seen?.['created']]);
  });
});

/** One update of `n 0` to `n 1` by a process of its own, while nobody else has the store open. */
async function update(temp: TempStore, id: string, options: WorkerOptions): Promise<StoreWorker> {
  let worker: StoreWorker | undefined;
  await temp.reopen(async () => {
    worker = await startWorker(temp.folder, ['update once', id, '1'], options);
    worker.go();
    await worker.ended;
  });
  if (worker === undefined) throw new Error('the worker did not start');
  return worker;
}

function strace(temp: TempStore, file: string, inject: string): string[] {
  return [STRACE, '-f', '-qq', '-o', '/dev/null', '-P', join(temp.folder, file), '-e', inject];
}

function hasStrace(): boolean {
  return (
    spawnSync(STRACE, ['-f', '-o', '/dev/null', '-e', 'inject=fdatasync:error=EIO', 'true']).status === 0
  );
}

function hasMounts(): boolean {
  const mount = 'mount -t tmpfs -o size=64k tmpfs /mnt';
  return spawnSync(UNSHARE, ['-m', 'sh', '-c', mount]).status === 0;
}

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attempt } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { openControl } from './attempt-workspace.ts';
import { FolderLocks } from './folder-locks.ts';
import { changeFolderNote, readFolderNote } from './folder-note.ts';
import { findFullDisk, makeRoom, requireRoom } from './keep-room.ts';
import { keepRoom } from './recover-project.ts';
import { Scheduler } from './scheduler.ts';

let shop: TempWorkshop;
beforeAll(async () => {
  shop = await tempWorkshop();
  shop.addAgent('w1', 'head -c 2000000 /dev/urandom > large');
});
afterAll(() => shop[Symbol.asyncDispose]());

const attemptOf = async ({ id = '' }: Partial<Task> = {}): Promise<Attempt | undefined> =>
  (await shop.place.store.listAttempts({ task_id: id })).at(-1);

describe('the disk that worktrees may take', () => {
  it('is kept by removing what nobody needs, the oldest first, and then by starting nothing more', async () => {
    const [first, second, third, fourth] = [
      await shop.create('First'),
      await shop.create('Second'),
      await shop.create('Third'),
      await shop.create('Fourth'),
    ];
    await shop.work(first, 'w1');
    await shop.work(second, 'w1');
    await shop.move(first, 'cancelled');
    const [old, kept] = [await attemptOf(first), await attemptOf(second)];
    expect([existsSync(old?.path ?? ''), existsSync(kept?.path ?? '')]).toEqual([true, true]);
    shop.set({ workspace: { disk_limit_gb: 0.003 } });
    expect((await shop.work(third, 'w1')).state).toBe('review');
    expect([existsSync(old?.path ?? ''), existsSync(kept?.path ?? '')]).toEqual([false, true]);
    expect(shop.news).toContainEqual({
      kind: 'note',
      task_id: first.id,
      text: `${old?.path} was removed to make room`,
    });

    const refused = await shop.work(fourth, 'w1');
    expect(refused.state).toBe('todo');
    expect(refused.error_annotation).toMatchObject({
      code: 'disk_full',
      message: expect.stringMatching(
        /take 0\.004\d? GB, and workspace\.disk_limit_gb allows 0\.0030\. Next: forge workspace list/,
      ),
    });
    expect(await attemptOf(fourth)).toBeUndefined();
    const control = await openControl(shop.place);
    await expect(requireRoom(shop.place, control)).rejects.toMatchObject({
      code: 'disk_full',
      hint: expect.stringContaining('forge workspace clean'),
    });

    const told: string[] = [];
    const scheduler = new Scheduler(shop.workshop, { merge: false, tell: (line) => void told.push(line) });
    for (let ticks = 0; ticks < 3; ticks += 1) expect((await scheduler.tick()).started).toBe(0);
    expect(told).toEqual([expect.stringContaining('nothing more is started; see forge workspace list')]);

    // Sizes are not looked at again while nobody works there.
    const at = readFolderNote(shop.place, kept?.id ?? '').size?.at;
    shop.set({ workspace: { disk_limit_gb: 50 } });
    expect(await findFullDisk(shop.place, control)).toBeUndefined();
    expect(readFolderNote(shop.place, kept?.id ?? '').size?.at).toBe(at);
    const past = shop.place.clock.now() - LIMITS.folder_size_ms;
    changeFolderNote(shop.place, kept?.id ?? '', { size: { bytes: 1, at: past } });
    expect(await findFullDisk(shop.place, control)).toBeUndefined();
    expect(readFolderNote(shop.place, kept?.id ?? '').size?.bytes).toBeGreaterThan(2_000_000);
    expect((await scheduler.tick()).started).toBe(1);
    await scheduler.finish();
  });

  it('is not kept by a folder that another process works in, and the note says which', async () => {
    const task = await shop.create('Worked in');
    shop.set({ workspace: { disk_limit_gb: 50 } });
    await shop.work(task, 'w1');
    await shop.move(task, 'cancelled');
    const attempt = await attemptOf(task);
    if (attempt === undefined) throw new Error('no attempt');
    const control = await openControl(shop.place);
    const watcher = { ...readOwnIdentity(), pid: process.ppid, host: 'elsewhere' };
    const place = { ...shop.place, folders: new FolderLocks(shop.place, 40) };
    shop.set({ workspace: { disk_limit_gb: 0 } });
    await new FolderLocks({ ...shop.place, watcher }).hold(attempt, 'a look', () =>
      expect(requireRoom(place, control)).rejects.toMatchObject({ code: 'disk_full' }),
    );
    expect(existsSync(attempt.path)).toBe(true);
    expect(shop.news).toContainEqual({
      kind: 'note',
      task_id: task.id,
      text: `Process ${process.ppid} on elsewhere is at work in ${attempt.name} (a look)`,
    });
  });

  it('is kept for no more folders of attempts that are over than may stay, and what they held is rescued', async () => {
    shop.set({ workspace: { disk_limit_gb: 50, finished_limit: 100 } });
    shop.addAgent('w1', 'head -c 2000000 /dev/urandom > large');
    const tasks = [await shop.create('One'), await shop.create('Two'), await shop.create('Unfinished')];
    for (const task of tasks) await shop.work(task, 'w1');
    const [one, two, open] = [
      await attemptOf(tasks[0]),
      await attemptOf(tasks[1]),
      await attemptOf(tasks[2]),
    ];
    const areThere = () => [one, two, open].map((attempt) => existsSync(attempt?.path ?? ''));
    writeFileSync(join(one?.path ?? '', 'uncommitted'), 'not lost');
    for (const task of tasks.slice(0, 2)) await shop.move(task, 'cancelled');
    const control = await openControl(shop.place);
    const others = (await makeRoom(shop.place, control)).removed;
    expect([others, areThere()]).toEqual([[], [true, true, true]]);

    const finished = (await shop.place.store.listAttempts({ there: true })).filter(
      ({ state }) => state !== 'active',
    );
    shop.set({ workspace: { finished_limit: finished.length - 1 } });
    // The oldest of all is not the one that somebody is at work on.
    const oldest = finished.toSorted((a, b) => ((a.finished_at ?? '') < (b.finished_at ?? '') ? -1 : 1))[0];
    const spared = await makeRoom(shop.place, control, (task) => task === oldest?.task_id);
    expect(spared.removed.map(({ id }) => id)).not.toContain(oldest?.id);
    expect(spared.removed.length).toBe(1);

    shop.set({ workspace: { finished_limit: 0 } });
    await keepRoom(shop.workshop);
    expect(areThere()).toEqual([false, false, true]);
    const rescued = `refs/forge/rescue/${one?.id}/1`;
    expect(shop.repo.git('show', `${rescued}:uncommitted`)).toBe('not lost');
  });

  it('does not keep what a set-up that failed has left', async () => {
    shop.set({ workspace: { setup: ['echo x > left; false'], disk_limit_gb: 50 } });
    const task = await shop.create('Cannot be set up');
    expect((await shop.work(task, 'w1')).state).toBe('blocked');
    const attempt = await attemptOf(task);
    expect(attempt).toMatchObject({ state: 'archived', port: null });
    expect(existsSync(attempt?.path ?? '/')).toBe(false);
    expect(shop.repo.git('branch', '--list', attempt?.branch ?? '')).toBe('');
  });
});

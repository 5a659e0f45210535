import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { holdFileLock } from './hold-file-lock.ts';

describe('a lock file', () => {
  it('lets one after the other work, and is gone afterwards', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    const log: string[] = [];
    const work = (name: string) =>
      holdFileLock(path, 'test', async () => {
        log.push(`${name} begins`);
        expect(readFileSync(path, 'utf8')).toBe(`${process.pid} ${hostname()}`);
        await sleep(30);
        log.push(`${name} ends`);
        return name;
      });
    expect(await Promise.all(['a', 'b', 'c'].map(work))).toEqual(['a', 'b', 'c']);
    for (let at = 0; at < log.length; at += 2) expect(log[at + 1]).toBe(log[at]?.replace('begins', 'ends'));
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('is released by work that fails', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    await expect(holdFileLock(path, 'test', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(path)).toBe(false);
    expect(await holdFileLock(path, 'test', () => 1)).toBe(1);
  });

  it('is taken from a process that is gone, by one of many', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    for (const text of [String(pid), `${pid} ${hostname()}`]) {
      writeFileSync(path, text);
      let inside = 0;
      const work = async (): Promise<void> => {
        inside += 1;
        expect(inside).toBe(1);
        await sleep(5);
        inside -= 1;
      };
      await Promise.all(Array.from({ length: 5 }, () => holdFileLock(path, 'test', work)));
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  it('of another machine, of a living process or not written yet is waited for', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    const { pid } = spawnSync(process.execPath, ['-e', '0']);
    for (const text of [`${pid} another-machine`, String(process.pid), '']) {
      writeFileSync(path, text);
      let entered = false;
      const waiting = holdFileLock(path, 'test', () => {
        entered = true;
      });
      await sleep(100);
      expect({ text, entered }).toEqual({ text, entered: false });
      writeFileSync(path, String(pid)); // its owner is gone now
      await waiting;
      expect(entered).toBe(true);
    }
  });
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../tests/support/temp-repo.ts';
import { holdFileLock, readHolder, takeFileLock } from './hold-file-lock.ts';
import { findIdentity, readOwnIdentity, type ProcessIdentity } from './process-identity.ts';

const WISH = { what: 'test' };

async function killed(): Promise<ProcessIdentity> {
  const child = spawn('sleep', ['900'], { stdio: 'ignore' });
  const identity = findIdentity(child.pid ?? 0);
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  if (identity === undefined) throw new Error('it was never there');
  return identity;
}

describe('a lock file', () => {
  it('lets one after the other work, and is gone afterwards', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    const log: string[] = [];
    const work = (name: string) =>
      holdFileLock(path, WISH, async () => {
        log.push(`${name} begins`);
        expect(readHolder(path)).toEqual({ ...readOwnIdentity(), what: 'test' });
        await sleep(30);
        log.push(`${name} ends`);
        return name;
      });
    expect(await Promise.all(['a', 'b', 'c'].map(work))).toEqual(['a', 'b', 'c']);
    for (let at = 0; at < log.length; at += 2) expect(log[at + 1]).toBe(log[at]?.replace('begins', 'ends'));
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('is released by work that fails, and only by whose it is', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    await expect(holdFileLock(path, WISH, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(existsSync(path)).toBe(false);
    const release = await takeFileLock(path, WISH);
    writeFileSync(path, "somebody else's");
    release();
    expect(readFileSync(path, 'utf8')).toBe("somebody else's");
  });

  it('[S234] is taken by one of many from a process that was killed, or whose number is used again', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    const dead = await killed();
    const own = readOwnIdentity();
    const left = [
      { ...dead, what: 'x' },
      // A living process has the number, and is not the one.
      { ...own, start_time: own.start_time - 1, what: 'x' },
      { ...own, boot_id: 'before the last start of the machine', what: 'x' },
    ].map((holder) => JSON.stringify(holder));
    for (const text of [...left, String(dead.pid), `${dead.pid} ${hostname()}`]) {
      writeFileSync(path, text);
      writeFileSync(`${path}.takeover`, text);
      writeFileSync(`${path}.1-left.tmp`, text);
      let inside = 0;
      const work = async (): Promise<void> => {
        inside += 1;
        expect(inside).toBe(1);
        await sleep(5);
        inside -= 1;
      };
      await Promise.all(Array.from({ length: 5 }, () => holdFileLock(path, WISH, work)));
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  it('of another machine, of a living process or not written yet is waited for', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    const dead = await killed();
    const elsewhere = JSON.stringify({ ...dead, host: 'another-machine' });
    const alive = JSON.stringify({ ...readOwnIdentity(), what: 'x' });
    for (const text of [elsewhere, alive, `${dead.pid} another-machine`, String(process.pid), '']) {
      writeFileSync(path, text);
      let entered = false;
      const waiting = holdFileLock(path, WISH, () => {
        entered = true;
      });
      await sleep(50);
      expect({ text, entered }).toEqual({ text, entered: false });
      writeFileSync(path, JSON.stringify(dead)); // its holder is gone now
      await waiting;
      expect(entered).toBe(true);
    }
  });

  it('of whoever stays is refused by name, when the patience is over', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    const release = await takeFileLock(path, WISH);
    const refused = holdFileLock(path, { ...WISH, patience_ms: 40 }, () => undefined);
    await expect(refused).rejects.toMatchObject({
      code: 'store_busy',
      message: expect.stringContaining(`process ${process.pid} on ${hostname()}`),
    });
    release();
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux')('holds across processes', async () => {
    await using folder = await tempFolder();
    const path = join(folder.path, 'x.lock');
    const script = `
      import { holdFileLock } from ${JSON.stringify(join(import.meta.dirname, 'hold-file-lock.ts'))};
      await holdFileLock(process.argv[1], { what: 'other', patience_ms: 0 }, () => console.log('inside'));`;
    const other = () =>
      spawnSync(process.execPath, ['--input-type=module-typescript', '-e', script, path], {
        encoding: 'utf8',
      });
    const release = await takeFileLock(path, WISH);
    expect(other().stderr).toContain(`Another other is at work here (process ${process.pid}`);
    release();
    expect(other().stdout).toBe('inside\n');
  });
});

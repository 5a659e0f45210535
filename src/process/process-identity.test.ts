import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { findIdentity, isAlive, judgeIdentity, readOwnIdentity, toIdentity } from './process-identity.ts';
import { hostOf, runScript } from './run-behaviour.ts';
import { openProcessTable } from './supervisor/process-table.ts';
import { openPsTable, parsePsLine } from './supervisor/ps-table.ts';
import { parseStat } from './supervisor/proc-table.ts';

describe('a process', () => {
  it('knows who it is, and that it is alive', () => {
    const own = readOwnIdentity();
    expect(own.pid).toBe(process.pid);
    expect(readOwnIdentity()).toEqual(own);
    expect(JSON.parse(JSON.stringify(own))).toEqual(own);
    expect(judgeIdentity(own)).toBe('alive');
  });

  it('is gone when its pid is used by another one', () => {
    const own = readOwnIdentity();
    const forged = { ...own, start_time: own.start_time - 1 };
    expect(judgeIdentity(forged)).toBe('gone');
    expect(isAlive(forged)).toBe(false);
  });

  it('is gone after the machine was started anew, and unknown on another one', () => {
    const own = readOwnIdentity();
    expect(judgeIdentity({ ...own, boot_id: 'another' })).toBe('gone');
    const elsewhere = { ...own, host: 'elsewhere', boot_id: 'another' };
    expect(judgeIdentity(elsewhere)).toBe('unknown');
    expect(isAlive(elsewhere)).toBe(true);
  });

  it('is gone when it has ended, also before its parent has noticed', async () => {
    const child = spawn('/bin/sh', ['-c', 'sleep 0.05 & exec sleep 900'], { stdio: 'ignore' });
    const identity = findIdentity(child.pid ?? 0);
    expect(identity).toMatchObject({ pid: child.pid });
    // The shell's child ends first; sleep, which the shell has become, never waits for it.
    const zombie = await vi.waitUntil(
      () => [...openProcessTable().list(0).values()].find(({ ppid, dead }) => ppid === child.pid && dead),
      { timeout: 10_000 },
    );
    expect(findIdentity(zombie.pid)).toBeUndefined();
    expect(judgeIdentity(toIdentity(zombie))).toBe('gone');
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect(identity && judgeIdentity(identity)).toBe('gone');
  });

  it.skipIf(process.platform !== 'linux')(
    'inside of a namespace is found from outside, and is not the one outside that has its number',
    async (context) => {
      const host = await hostOf('pid_namespace', context);
      const { run, lines, spoke } = await runScript(
        'echo "$(readlink /proc/self/ns/pid) $$ $(cat /proc/$$/stat)"; sleep 900',
        { host },
      );
      await spoke;
      const [pid_namespace = '', pid, ...stat] = lines[0]?.line.text.split(' ') ?? [];
      const inside = {
        ...readOwnIdentity(),
        pid_namespace,
        pid: Number(pid),
        start_time: parseStat(stat.join(' '), 10)?.start_time ?? 0,
      };
      expect(pid_namespace).not.toBe(readOwnIdentity().pid_namespace);
      expect(judgeIdentity(inside)).toBe('alive');
      await run.stop();
      // Where this test itself runs in a namespace, one that is not seen may be beside it.
      expect(judgeIdentity(inside)).not.toBe('alive');
    },
  );
});

describe('a process of another user', () => {
  it.skipIf(process.platform !== 'linux')('[A11] is not taken for gone where such are hidden', (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root can hide processes');
    const room = new URL('./', import.meta.url).href;
    const program = `import { judgeIdentity } from '${room}process-identity.ts';
      const own = ${JSON.stringify(readOwnIdentity())};
      console.log(judgeIdentity(own), judgeIdentity({ ...own, pid: 4194300 }));`;
    const hide =
      'mount -o remount,hidepid=2 /proc && exec setpriv --reuid=12345 --regid=12345 --clear-groups "$@"';
    const node = [process.execPath, '--input-type=module', '-e', program];
    const { stdout, stderr } = spawnSync('unshare', ['-m', 'sh', '-c', hide, 'hide', ...node], {
      encoding: 'utf8',
      cwd: '/',
    });
    if (stdout === '') return context.skip(`processes cannot be hidden here: ${stderr}`);
    expect(stdout.trim()).toBe('unknown gone');
  });
});

describe('the table of processes', () => {
  it.skipIf(process.platform !== 'linux')('reads names that try to look like fields', () => {
    const row = parseStat('7 (a) S 1 1 (b) R 3 4 5 0 0 0 0 0 0 0 1 2 3 4 20 0 1 0 99 0 0', 10);
    expect(row).toEqual({ pid: 7, ppid: 3, group: 4, session: 5, start_time: 99, dead: false, cpu_ms: 100 });
    expect(parseStat('', 10)).toBeUndefined();
  });

  it('takes one whose first thread has ended for alive, and a zombie for dead', () => {
    const stat = (state: string, threads: number) =>
      parseStat(`7 (a) ${state} 3 4 5 0 0 0 0 0 0 0 1 2 3 4 20 0 ${threads} 0 99 0 0`, 10)?.dead;
    expect([stat('Z', 3), stat('Z', 1), stat('X', 0), stat('D', 1)]).toEqual([false, true, true, false]);
  });

  it('is read once for all who ask at the same time', () => {
    const table = openProcessTable();
    const first = table.list(10_000);
    expect(table.list(10_000)).toBe(first);
    expect(table.list(0)).not.toBe(first);
  });

  it('comes from ps where there is no /proc', () => {
    const marker = { name: 'FORGE_TEST_PS', value: `m${process.pid}` };
    const child = spawn('sleep', ['900'], {
      stdio: 'ignore',
      env: { ...process.env, [marker.name]: marker.value },
    });
    try {
      const table = openPsTable(process.platform);
      const rows = [...table.readAll().values()];
      const row = table.find(child.pid ?? 0);
      expect(row).toMatchObject({ pid: child.pid, ppid: process.pid, dead: false });
      expect(rows.find(({ pid }) => pid === child.pid)?.start_time).toBe(row?.start_time);
      expect(table.findMarked(marker, rows).map(({ pid }) => pid)).toEqual([child.pid]);
      expect(table.measureMemory(child.pid ?? 0)).toBeGreaterThan(0);
    } finally {
      child.kill('SIGKILL');
    }
    expect(parsePsLine('  12   1    12 Ss   1-02:03:04 2048 Mon Nov 17 10:00:00 2025')).toEqual({
      row: {
        pid: 12,
        ppid: 1,
        group: 12,
        session: 12,
        start_time: Date.UTC(2025, 10, 17, 10) / 1_000,
        dead: false,
        cpu_ms: (26 * 3_600 + 3 * 60 + 4) * 1_000,
      },
      memory: 2_097_152,
    });
    expect(parsePsLine('PID')).toBeUndefined();
  });

  it.skipIf(process.platform !== 'linux')('measures memory as the kernel does', () => {
    const table = openProcessTable();
    const anonymous = /^RssAnon:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    const measured = table.measureMemory(process.pid);
    expect(Math.abs(measured / 1_024 / Number(anonymous) - 1)).toBeLessThan(0.2);
  });
});

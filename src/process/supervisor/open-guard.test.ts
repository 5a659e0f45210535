import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { openProcessHost } from '../process-host.ts';
import { startWatcher } from '../lost-watcher-behaviour.ts';
import { listRunning, newSleep, runScript } from '../run-behaviour.ts';

describe.skipIf(process.platform !== 'linux')('the guard', () => {
  it('is one process for all runs, and ends with the last watcher', async () => {
    const sleep = newSleep();
    const commands = Array.from({ length: 5 }, () => ['/bin/sleep', sleep]);
    const { child, ended } = await startWatcher({ kind: 'marker', commands, task: 'await start();' });
    child.stdin.write('go\n');
    // A program that waits for its guard before it begins is listed by then.
    await vi.waitUntil(() => listGuards(child.pid ?? 0).length > 0, { timeout: 15_000 });
    await vi.waitUntil(() => listRunning(sleep).length === 5, { timeout: 15_000 });
    const guards = listGuards(child.pid ?? 0);
    expect(guards).toHaveLength(1);
    child.kill('SIGKILL');
    await ended;
    await vi.waitUntil(() => listRunning(sleep).length === 0, { timeout: 2_000 });
    await vi.waitUntil(() => !guards.some(isThere), { timeout: 5_000 });
  });

  it('[A11] is replaced when it was killed, and knows of those at work', async () => {
    const sleep = newSleep();
    const { child, ended } = await startWatcher({
      kind: 'marker',
      commands: [['/bin/sleep', sleep]],
      task: 'await start();',
    });
    child.stdin.write('go\n');
    await vi.waitUntil(() => listGuards(child.pid ?? 0).length > 0, { timeout: 15_000 });
    await vi.waitUntil(() => listRunning(sleep).length === 1, { timeout: 15_000 });
    const [first = ''] = listGuards(child.pid ?? 0);
    process.kill(Number(first), 'SIGKILL');
    await vi.waitUntil(() => listGuards(child.pid ?? 0).some((pid) => pid !== first), { timeout: 5_000 });
    // What it is told lies in its pipe.
    await new Promise((go) => setTimeout(go, 200));
    child.kill('SIGKILL');
    await ended;
    await vi.waitUntil(() => listRunning(sleep).length === 0, { timeout: 2_000 }).catch(() => undefined);
    expect(listRunning(sleep)).toEqual([]);
  });

  it('[A11] finds processes whose name has the end of a line, or a parenthesis', async () => {
    const sleep = newSleep();
    const name = `printf 'a)\\nS 1 (b' > /proc/self/comm`;
    const commands = [
      ['/bin/bash', '-c', `${name}; (trap "" TERM; sleep ${sleep}; :) & ${name}; sleep ${sleep}; :`],
    ];
    const { child, ended } = await startWatcher({ kind: 'marker', commands, task: 'await start();' });
    child.stdin.write('go\n');
    await vi.waitUntil(() => listRunning(sleep).length === 2, { timeout: 15_000 });
    child.kill('SIGKILL');
    await ended;
    await vi.waitUntil(() => listRunning(sleep).length === 0, { timeout: 2_000 }).catch(() => undefined);
    expect(listRunning(sleep)).toEqual([]);
  });

  it('starts a run also right after it was killed', async () => {
    const host = await openProcessHost({ accept: ['marker'] });
    const before = new Set(listGuards(process.pid));
    const first = await runScript('echo up; sleep 900', { host });
    await first.spoke;
    for (const pid of listGuards(process.pid)) if (!before.has(pid)) process.kill(Number(pid), 'SIGKILL');
    const second = await runScript('exit 5', { host });
    expect(await second.run.done).toMatchObject({ exit: 5, survivors: 0 });
  });

  it('does not touch a run that has ended, nor somebody who has its number', async () => {
    const sleep = newSleep();
    const stranger = spawn('sleep', [sleep], { stdio: 'ignore', detached: true });
    const { GUARD_SCRIPT } = await import('./guard-script.ts');
    const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT, 'forge-guard'], {
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    const ended = once(guard, 'exit');
    // One that is over, and one with the number of the stranger and the start of another.
    guard.stdin.write(`+ 1 ${stranger.pid} 0 FORGE_TEST_RUN=none -\n- 1\n`);
    guard.stdin.write(`+ 2 ${stranger.pid} 12345 FORGE_TEST_RUN=none -\n`);
    guard.stdin.end();
    expect(await ended).toEqual([0, null]);
    expect(listRunning(sleep)).toHaveLength(1);
    stranger.kill('SIGKILL');
  });
});

function listGuards(parent: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    const words = readOrEmpty(`/proc/${pid}/cmdline`).split('\0');
    const isOwn = new RegExp(`^PPid:\\s+${parent}$`, 'm').test(readOrEmpty(`/proc/${pid}/status`));
    return words.includes('forge-guard') && isOwn && isThere(pid);
  });
}

function isThere(pid: string): boolean {
  const status = readOrEmpty(`/proc/${pid}/status`);
  return status !== '' && !/^State:\s+[ZX]/m.test(status);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

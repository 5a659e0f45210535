import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import type { ProcessHost } from './process-host.ts';
import { hostOf, KINDS, listRunning, newMarker, newSleep } from './run-behaviour.ts';
import type { Marker } from './supervise.ts';
import { endMarked, findMarked } from './sweep-marked.ts';

describe.skipIf(process.platform !== 'linux').each(KINDS)(
  'after kill -9 of a supervisor with a %s and without what ends it',
  (kind) => {
    it('all that its run left is found and ended', async (context) => {
      const host = await hostOf(kind, context);
      const marker = newMarker();
      const time = newSleep();
      await superviseAndDie({ kind, marker, time });
      // Planted: nothing of the run has noticed that its supervisor is gone, and there is no guard.
      expect(listRunning(time).length).toBeGreaterThanOrEqual(3);
      expect(findMarked(marker, host).map(({ pid }) => String(pid))).toEqual(
        expect.arrayContaining([...listRunning(time)]),
      );
      expect(findMarked(newMarker(), host)).toEqual([]);
      const { ended, survivors } = await endMarked(marker, { host, grace_ms: 100 });
      expect(survivors).toBe(0);
      expect(ended).toBeGreaterThanOrEqual(3);
      expect(listRunning(time)).toEqual([]);
      expect(await endMarked(marker, { host })).toEqual({ ended: 0, survivors: 0 });
    });
  },
);

describe.skipIf(process.platform !== 'linux')('ending by marker', () => {
  it('spares the one who asks, and everybody in the session of a marked process that did not make it', async (context) => {
    const host = await hostOf('marker', context);
    const marker = newMarker();
    const [marked, bystander] = [newSleep(), newSleep()];
    // In one session: the shell and the second sleep carry no marker.
    const script = `env ${marker.name}=${marker.value} sleep ${marked} & sleep ${bystander}`;
    const shell = spawn('/bin/sh', ['-c', script], { stdio: 'ignore', detached: true });
    try {
      await seen(marked);
      await seen(bystander);
      expect(await endMarked(marker, { host })).toEqual({ ended: 1, survivors: 0 });
      expect(listRunning(marked)).toEqual([]);
      expect(listRunning(bystander)).toHaveLength(1);
    } finally {
      process.kill(-(shell.pid ?? 0), 'SIGKILL');
    }
    const own = await runSelfSweep(marker, host);
    expect(own).toEqual({ exit: 0, said: '{"ended":1,"survivors":0}' });
  });
});

async function seen(time: string): Promise<void> {
  await vi.waitUntil(() => listRunning(time).length > 0, { timeout: 15_000 });
}

const PROCESS_ROOM = new URL('./', import.meta.url).href;

/** A process that supervises an agent with daemons, and is killed once these are there. */
async function superviseAndDie(what: { kind: string; marker: Marker; time: string }): Promise<void> {
  const agent = `trap '' TERM; setsid sleep ${what.time} & (nohup sleep ${what.time} >/dev/null 2>&1 &); sleep ${what.time}`;
  const program = `
    import { openProcessHost } from '${PROCESS_ROOM}process-host.ts';
    import { startSupervised } from '${PROCESS_ROOM}supervise.ts';
    const { containment, ...open } = await openProcessHost({ accept: ['${what.kind}'] });
    const { namespace } = containment;
    const argv = namespace?.argv.filter((word) => word !== '--die-with-parent');
    if (argv?.[1] === '--pdeathsig') argv.splice(0, 4);
    const host = { ...open, guard: undefined, containment: { ...containment, namespace: namespace && { ...namespace, argv } } };
    const limits = { total_ms: 1e9, idle_ms: 1e9, output_bytes: 1e9 };
    await startSupervised({
      argv: ['/bin/sh', '-c', ${JSON.stringify(agent)}], cwd: '/', env: { PATH: process.env.PATH },
      marker: ${JSON.stringify(what.marker)}, stdin: 'none', host, limits,
    }, { line() {} });`;
  const supervisor = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(supervisor, 'exit');
  await vi.waitUntil(() => listRunning(what.time).length >= 3, { timeout: 15_000 });
  supervisor.kill('SIGKILL');
  await ended;
}

/** A process that carries the marker itself, started one that does too, and sweeps. */
async function runSelfSweep(
  { name, value }: Marker,
  host: ProcessHost,
): Promise<{ exit: unknown; said: string }> {
  const program = `
    import { spawn } from 'node:child_process';
    import { endMarked } from '${PROCESS_ROOM}sweep-marked.ts';
    import { openProcessHost } from '${PROCESS_ROOM}process-host.ts';
    const host = await openProcessHost({ accept: ['${host.containment.kind}'] });
    spawn('sleep', ['${newSleep()}'], { stdio: 'ignore' }).unref();
    process.stdout.write(JSON.stringify(await endMarked(${JSON.stringify({ name, value })}, { host })));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, [name]: value },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [exit]: unknown[] = await once(child, 'close');
  return { exit, said };
}

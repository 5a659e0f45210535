import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openProcessHost, type ProcessHost } from './process-host.ts';
import { judgeIdentity } from './process-identity.ts';
import { hostOf, KINDS, listRunning, newMarker, newSleep, runScript } from './run-behaviour.ts';
import { startSupervised, type RunLimits } from './supervise.ts';

const NO_LIMITS: RunLimits = { total_ms: 60_000, idle_ms: 60_000, output_bytes: 1_000_000_000 };

describe.skipIf(process.platform !== 'linux').each(KINDS)('a run held by a %s', (kind) => {
  it('gets its arguments and exactly the given environment, and inside of a namespace what is around it', async (context) => {
    const host = await hostOf(kind, context);
    const marker = newMarker();
    const lines: string[] = [];
    const run = await startSupervised(
      {
        argv: ['/usr/bin/env'],
        cwd: tmpdir(),
        env: { PATH: '/usr/bin:/bin', GREETING: 'a "b" $HOME\n*' },
        marker,
        stdin: 'none',
        host,
        limits: NO_LIMITS,
      },
      { line: (_, { text }) => void lines.push(text) },
    );
    expect(await run.done).toMatchObject({ exit: 0, signal: null, reason: 'exited', containment: kind });
    // A shell that is not the usual one may add the name of the program.
    const own = lines.filter((line) => !/^(?:_|FORGE_PID_NAMESPACES)=/.test(line));
    expect(own.toSorted()).toEqual(
      ['*', 'GREETING=a "b" $HOME', 'PATH=/usr/bin:/bin', `${marker.name}=${marker.value}`].toSorted(),
    );
    const around = lines.filter((line) => line.startsWith('FORGE_PID_NAMESPACES='));
    const here = `FORGE_PID_NAMESPACES=${readlinkSync('/proc/self/ns/pid')}`;
    expect(around).toEqual(host.containment.namespace === undefined ? [] : [here]);
  });

  it('says how it ended, with the end of its stderr', async (context) => {
    const host = await hostOf(kind, context);
    const { run } = await runScript('echo one; printf "two\\nthree" >&2; exit 42', { host });
    expect(await run.done).toMatchObject({
      exit: 42,
      signal: null,
      stderr_tail: 'two\nthree',
      output_bytes: 13,
    });
    const killed = await runScript('kill -KILL $$', { host });
    expect(await killed.run.done).toMatchObject({ exit: null, signal: 'SIGKILL', reason: 'exited' });
  });

  it('is fed by text, and by writing', async (context) => {
    const host = await hostOf(kind, context);
    const fed = await runScript('cat', { host, stdin: { text: 'whole\ntext' } });
    await fed.run.done;
    expect(fed.lines.map(({ line }) => line.text)).toEqual(['whole', 'text']);
    const written = await runScript('while read word; do echo "got $word"; done', { host, stdin: 'pipe' });
    expect(await written.run.write('a\n')).toBe('written');
    await written.spoke;
    expect(await written.run.write('b\n')).toBe('written');
    written.run.endInput();
    await written.run.done;
    expect(written.lines.map(({ line }) => line.text)).toEqual(['got a', 'got b']);
    expect(await written.run.write('c\n')).toBe('closed');
  });

  it('hears SIGTERM and may end in its own way', async (context) => {
    const host = await hostOf(kind, context);
    const { run, lines, spoke } = await runScript(
      'trap "echo bye; exit 9" TERM; echo up; while :; do sleep 0.05; done',
      { host, limits: { grace_ms: 30_000 } },
    );
    await spoke;
    expect(await run.stop()).toMatchObject({ exit: 9, reason: 'stopped', survivors: 0 });
    expect(lines.map(({ line }) => line.text)).toContain('bye');
  });

  it('is stopped once, however often it is asked, and not after its end', async (context) => {
    const host = await hostOf(kind, context);
    const { run, spoke } = await runScript('echo up; sleep 900', { host });
    await spoke;
    const [first, second] = await Promise.all([run.stop(), run.stop({ grace_ms: 0 })]);
    expect(second).toBe(first);
    expect(first).toMatchObject({ signal: 'SIGTERM', reason: 'stopped', survivors: 0 });
    expect(await run.stop()).toBe(first);
    const over = await runScript('exit 3', { host });
    await over.run.done;
    expect(await over.run.stop()).toMatchObject({ exit: 3, reason: 'exited' });
  });

  it('hears SIGTERM also when it was halted', async (context) => {
    const host = await hostOf(kind, context);
    const time = newSleep();
    const { run, spoke } = await runScript(`sleep ${time} & echo up; kill -STOP $!; wait`, {
      host,
      limits: { grace_ms: 30_000 },
    });
    await spoke;
    expect(await run.stop()).toMatchObject({ signal: 'SIGTERM', survivors: 0 });
    expect(listRunning(time)).toEqual([]);
  });

  it('names a program or a folder that is not there', async (context) => {
    const host = await hostOf(kind, context);
    const spec = {
      cwd: tmpdir(),
      env: {},
      marker: newMarker(),
      stdin: 'none',
      host,
      limits: NO_LIMITS,
    } as const;
    const handlers = { line: () => {} };
    const missing = await startSupervised({ ...spec, argv: ['no-such-program'] }, handlers);
    expect(await missing.done).toMatchObject({
      reason: 'start_failed',
      error: 'no-such-program is not a program that can be run',
      survivors: 0,
    });
    expect(missing.pid).toBeUndefined();
    expect(await missing.write('x')).toBe('closed');
    const nowhere = await startSupervised({ ...spec, argv: ['/bin/sh'], cwd: '/no/such/folder' }, handlers);
    expect(await nowhere.stop()).toMatchObject({
      reason: 'start_failed',
      error: '/no/such/folder is not a folder',
    });
    const impossible = await startSupervised({ ...spec, argv: ['/bin/sh', 'a\0b'] }, handlers);
    expect(await impossible.done).toMatchObject({ reason: 'start_failed' });
  });

  it('is stopped at every limit', async (context) => {
    const host = await hostOf(kind, context);
    const endOf = async (script: string, limits: Partial<RunLimits>) => {
      const { run, lines } = await runScript(script, { host, limits });
      const { reason, survivors, usage } = await run.done;
      const shown = lines.reduce((sum, { line }) => sum + line.bytes + 1, 0);
      return { reason, survivors, usage, shown };
    };
    const [total, idle, output, memory] = await Promise.all([
      endOf('while :; do echo x; sleep 0.05; done', { total_ms: 300 }),
      endOf('echo up; sleep 900', { idle_ms: 200 }),
      endOf('yes', { output_bytes: 10_000 }),
      // Doubled until the shell holds more than it may.
      endOf('x=xxxxxxxx; while :; do x=$x$x; [ ${#x} -gt 40000000 ] && sleep 900; done', {
        memory_bytes: 20_000_000,
      }),
    ]);
    expect(total).toMatchObject({ reason: 'total_timeout', survivors: 0 });
    expect(idle).toMatchObject({ reason: 'idle_timeout', survivors: 0 });
    expect(output).toMatchObject({ reason: 'output_limit', survivors: 0, shown: 10_000 });
    expect(memory).toMatchObject({ reason: 'memory_limit', survivors: 0 });
    expect(memory.usage.max_rss).toBeGreaterThan(20_000_000);
  });
});

describe.skipIf(process.platform !== 'linux').for(['sockets', 'fifos'] as const)(
  'output through %s',
  (output) => {
    it('of one line of 50 MB is cut and marked', async () => {
      const host = await openProcessHost({ accept: ['marker'] });
      const { run, lines } = await runScript('head -c 50000000 /dev/zero | tr "\\0" x; echo; echo next', {
        host,
        output,
      });
      expect(await run.done).toMatchObject({ exit: 0, output_bytes: 50_000_006 });
      expect(lines.map(({ line }) => [line.text.length, line.cut, line.bytes])).toEqual([
        [8_388_608, true, 50_000_000],
        [4, false, 4],
      ]);
    });

    it('that is not UTF-8 is replaced', async () => {
      const host = await openProcessHost({ accept: ['marker'] });
      const { run, lines } = await runScript(`printf 'a\\377b\\r\\nc\\303'`, { host, output });
      await run.done;
      expect(lines.map(({ line }) => line.text)).toEqual(['a\uFFFDb', 'c\uFFFD']);
    });

    it('waits for the one who handles it, and time so spent is not idle', async () => {
      const host = await openProcessHost({ accept: ['marker'] });
      const [gate, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let handled = 0;
      let ahead_ms = 0;
      const clock = performance;
      vi.stubGlobal('performance', { now: () => clock.now() + ahead_ms });
      onTestFinished(() => void vi.unstubAllGlobals());
      let looks = 0;
      const list: ProcessHost['table']['list'] = (max_age_ms) => {
        looks += 1;
        return host.table.list(max_age_ms);
      };
      const run = await startSupervised(
        {
          argv: ['/bin/sh', '-c', 'head -c 1000000 /dev/zero | tr "\\0" "\\n"; echo end >&2'],
          cwd: tmpdir(),
          env: { PATH: process.env['PATH'] ?? '' },
          marker: newMarker(),
          stdin: 'none',
          host: { ...host, table: { ...host.table, list } },
          output,
          // Only the clock that is set can bring it about.
          limits: { ...NO_LIMITS, total_ms: 1e9, idle_ms: 600_000 },
        },
        {
          line(stream) {
            if (stream === 'stderr') return undefined;
            handled += 1;
            reached.resolve();
            return handled === 1 ? gate.promise : undefined;
          },
        },
      );
      await reached.promise;
      // Longer than the limit: the program cannot write, because nobody reads.
      ahead_ms = 700_000;
      looks = 0;
      await vi.waitUntil(() => looks >= 2, { timeout: 15_000 });
      expect(handled).toBe(1);
      gate.resolve();
      expect(await run.done).toMatchObject({ reason: 'exited', exit: 0, stderr_tail: 'end\n' });
      expect(handled).toBe(1_000_000);
    });

    it('whose handler throws ends the run, and done says what was thrown', async () => {
      const host = await openProcessHost({ accept: ['marker'] });
      const time = newSleep();
      const run = await startSupervised(
        {
          argv: ['/bin/sh', '-c', `echo up; yes >&2 & sleep ${time}`],
          cwd: tmpdir(),
          env: { PATH: process.env['PATH'] ?? '' },
          marker: newMarker(),
          stdin: 'none',
          host,
          output,
          limits: NO_LIMITS,
        },
        {
          line(stream) {
            if (stream === 'stdout') throw new Error('the disk is full');
          },
        },
      );
      await expect(run.done).rejects.toThrow('the disk is full');
      expect(listRunning(time)).toEqual([]);
    });

    it('of a handler that never answers does not keep a stopped run', async () => {
      const host = await openProcessHost({ accept: ['marker'] });
      const asked = Promise.withResolvers<void>();
      const run = await startSupervised(
        {
          argv: ['/bin/sh', '-c', 'yes'],
          cwd: tmpdir(),
          env: { PATH: process.env['PATH'] ?? '' },
          marker: newMarker(),
          stdin: 'none',
          host,
          output,
          limits: { ...NO_LIMITS, drain_ms: 50 },
        },
        {
          line() {
            asked.resolve();
            return new Promise(() => {});
          },
        },
      );
      await asked.promise;
      expect(await run.stop()).toMatchObject({ reason: 'stopped', survivors: 0 });
    });
  },
);

describe.skipIf(process.platform !== 'linux')('output', () => {
  it('can be written to /dev/stdout and /dev/stderr, when asked for', async () => {
    const host = await openProcessHost({ accept: ['marker'] });
    const script = 'echo one >/dev/stdout; echo two | tee /dev/stderr; head -c 300000 /dev/zero';
    const { run, lines } = await runScript(script, { host, output: 'fifos' });
    expect(await run.done).toMatchObject({ exit: 0, stderr_tail: 'two\n', output_bytes: 300_012 });
    const seen = lines.map(({ stream, line }) => `${stream} ${line.text.slice(0, 3)}`);
    expect(seen.filter((line) => line.startsWith('stdout'))).toEqual([
      'stdout one',
      'stdout two',
      'stdout \0\0\0',
    ]);
    // Why one has to ask: with what Node gives a child they cannot be opened.
    const plain = await runScript('echo one >/dev/stdout', { host });
    expect((await plain.run.done).stderr_tail).toContain('/dev/stdout');
  });
});

describe.skipIf(process.platform !== 'linux')('processes of a run', () => {
  it('are remembered by descent when they give up their session and environment later', async () => {
    const host = await openProcessHost({ accept: ['marker'] });
    const { table } = host;
    const time = newSleep();
    let looks = 0;
    const counting = {
      ...table,
      list(max_age_ms: number) {
        const rows = table.list(max_age_ms);
        if (listRunning(time).some((pid) => rows.has(Number(pid)))) looks += 1;
        return rows;
      },
    };
    const { run } = await runScript(`env -i setsid sleep ${time} & read go`, {
      host: { ...host, table: counting },
      stdin: 'pipe',
    });
    await vi.waitUntil(() => looks >= 2, { timeout: 15_000 });
    run.endInput();
    expect(await run.done).toMatchObject({ reason: 'exited', survivors: 0, containment: 'marker' });
    expect(listRunning(time)).toEqual([]);
  });

  it('are not confused with strangers that happen to run', async () => {
    const host = await openProcessHost({ accept: ['marker'] });
    const time = newSleep();
    const stranger = spawn('sleep', [time], { stdio: 'ignore', detached: true });
    try {
      const { run, spoke } = await runScript('echo up; sleep 900', { host });
      await spoke;
      await run.stop();
      expect(listRunning(time)).toEqual([String(stranger.pid)]);
    } finally {
      stranger.kill('SIGKILL');
    }
  });

  it('are named when the kill is not waited for', async () => {
    const host = await openProcessHost({ accept: ['marker'] });
    const { run, spoke } = await runScript('trap "" TERM; echo up; while :; do sleep 0.05; done', {
      host,
      limits: { grace_ms: 0, kill_ms: -1, drain_ms: 50 },
    });
    await spoke;
    expect((await run.stop()).survivors).toBeGreaterThan(0);
    process.kill(run.pid ?? 0, 'SIGKILL');
    await vi.waitUntil(() => run.identity !== undefined && judgeIdentity(run.identity) === 'gone');
  });

  it('use time and memory, which is told', async () => {
    const host = await openProcessHost({ accept: ['marker'] });
    const { run } = await runScript('while :; do :; done', { host, limits: { total_ms: 800 } });
    const { usage } = await run.done;
    expect(usage.cpu_ms).toBeGreaterThan(0);
    expect(usage.max_rss).toBeGreaterThan(0);
  });
});

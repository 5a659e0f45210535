import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isLockAbandoned, takeFileLock } from './hold-file-lock.ts';
import type { ProcessHost } from './process-host.ts';
import { hostOf, newMarker } from './run-behaviour.ts';
import { startSupervised } from './supervise.ts';
import { isLeftBehind } from './temporary-path.ts';

const ROOM = new URL('./', import.meta.url).href;

/** A program of a run, held by a namespace; it may be a Forge of its own. */
async function startInside(program: string, host: ProcessHost) {
  const lines: string[] = [];
  const first = Promise.withResolvers<void>();
  const run = await startSupervised(
    {
      argv: [process.execPath, '--input-type=module', '-e', program],
      cwd: '/',
      env: { PATH: process.env['PATH'] ?? '' },
      marker: newMarker(),
      stdin: 'none',
      host,
      limits: { total_ms: 60_000, idle_ms: 60_000, output_bytes: 1_000_000 },
    },
    {
      line(_, { text }) {
        lines.push(text);
        first.resolve();
      },
    },
  );
  onTestFinished(async () => {
    await run.stop({ grace_ms: 0 });
  });
  return { run, lines, spoke: Promise.race([first.promise, run.done.then(() => undefined)]) };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'forge-inside-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const TAKE = (lock: string): string => `
  import { takeFileLock } from '${ROOM}hold-file-lock.ts';
  await takeFileLock('${lock}', { what: 'inside' });
  console.log('taken');
  setInterval(() => {}, 1e6);`;

describe.skipIf(process.platform !== 'linux').each(['pid_namespace', 'bubblewrap'] as const)(
  '[A11] a Forge inside of a run that is held by a %s',
  (kind) => {
    it('does not break a lock that somebody outside has', async (context) => {
      const host = await hostOf(kind, context);
      const lock = join(newFolder(), 'lock');
      const release = await takeFileLock(lock, { what: 'outside' });
      const before = readFileSync(lock, 'utf8');
      const { run, lines } = await startInside(
        `import { takeFileLock } from '${ROOM}hold-file-lock.ts';
         await takeFileLock('${lock}', { what: 'inside', patience_ms: 300 }).then(() => console.log('taken'), (error) => console.log(error.code));`,
        host,
      );
      await run.done;
      expect(lines).toEqual(['store_busy']);
      expect(readFileSync(lock, 'utf8')).toBe(before);
      release();
    });

    it('keeps its own lock as long as it lives, and no longer', async (context) => {
      const host = await hostOf(kind, context);
      const lock = join(newFolder(), 'lock');
      const { run, spoke } = await startInside(TAKE(lock), host);
      await spoke;
      expect(isLockAbandoned(lock)).toBe(false);
      await run.stop({ grace_ms: 0 });
      expect(isLockAbandoned(lock)).toBe(true);
      await using _held = {
        [Symbol.asyncDispose]: async () => (await takeFileLock(lock, { what: 'next' }))(),
      };
    });

    it('leaves temporary files that are known as left behind when it is gone', async (context) => {
      const host = await hostOf(kind, context);
      const { run, lines, spoke } = await startInside(
        `import { toTemporaryPath } from '${ROOM}temporary-path.ts';
         console.log(toTemporaryPath('/x/y'));
         setInterval(() => {}, 1e6);`,
        host,
      );
      await spoke;
      expect(isLeftBehind(lines[0] ?? '')).toBe(false);
      await run.stop({ grace_ms: 0 });
      // Where this test itself is in a namespace, others that are not seen may have it.
      const isFirst = host.containment.namespace !== undefined && isOfMachine();
      expect(isLeftBehind(lines[0] ?? '')).toBe(isFirst);
    });

    it('is known to be gone also where Forge itself is in a container', async (context) => {
      await hostOf(kind, context);
      if (process.getuid?.() !== 0) return context.skip('only root can make the container');
      const lock = join(newFolder(), 'lock');
      const program = `
        import { openProcessHost } from '${ROOM}process-host.ts';
        import { startSupervised } from '${ROOM}supervise.ts';
        import { isLockAbandoned } from '${ROOM}hold-file-lock.ts';
        const host = await openProcessHost({ accept: ['${kind}'] });
        const limits = { total_ms: 1e9, idle_ms: 1e9, output_bytes: 1e9 };
        const first = Promise.withResolvers();
        const run = await startSupervised({
          argv: [process.execPath, '--input-type=module', '-e', ${JSON.stringify(TAKE(lock))}], cwd: '/',
          env: { PATH: process.env.PATH }, marker: { name: 'FORGE_TEST_RUN', value: 'nested-${process.pid}' },
          stdin: 'none', host, limits }, { line() { first.resolve(); } });
        await first.promise;
        const during = isLockAbandoned('${lock}');
        await run.stop({ grace_ms: 0 });
        console.log(host.containment.kind, during, isLockAbandoned('${lock}'));`;
      const container = ['--pid', '--fork', '--kill-child', '--mount-proc'];
      const { stdout, stderr } = spawnSync(
        'unshare',
        [...container, process.execPath, '--input-type=module', '-e', program],
        { encoding: 'utf8' },
      );
      expect(stderr).toBe('');
      expect(stdout.trim()).toBe(`${kind} false true`);
    });
  },
);

function isOfMachine(): boolean {
  return /^NSpid:\s+\d+\s*$/m.test(readFileSync('/proc/self/status', 'utf8'));
}

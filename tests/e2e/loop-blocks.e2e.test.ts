import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgeProjectHere } from '../support/forge-here.ts';
import { startForgeServer } from '../support/forge-server.ts';
import { LONGEST_BLOCK_MS, readLongestTurn, toFlags } from '../support/loop-blocks.ts';
import { type LongestTurn, watchLoop } from '../support/loop-monitor.mjs';

/** For NODE_OPTIONS: what holds up the loop of a server once it has started. */
const BLOCK = `setTimeout(() => {
  const used = () => { const { user, system } = process.threadCpuUsage(); return user + system; };
  const until = used() + 300_000;
  while (used() < until);
}, 500)`;

describe('a block of the event loop', () => {
  let folder = '';
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'forge-loops-'))));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('of a server that computes is found, and written before the server is killed', async () => {
    await using project = await forgeProjectHere();
    const preload = `--import data:text/javascript,${encodeURIComponent(BLOCK)}`;
    const NODE_OPTIONS = `${preload} ${toFlags(folder).join(' ')}`;
    await using server = await startForgeServer(project, ['--port', '0'], { env: { NODE_OPTIONS } });
    await expect.poll(() => readLongestTurn(folder)?.cpu_ms).toBeGreaterThan(LONGEST_BLOCK_MS);
    server.kill('SIGKILL');
    await server.ended;
    expect(readLongestTurn(folder)?.cpu_ms).toBeGreaterThanOrEqual(300);
  });

  it('that only waits is told apart: it is no time on the processor', async () => {
    const wait = (): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    const longest = await measureHere(() => wait());
    expect(longest.wall_ms).toBeGreaterThanOrEqual(290);
    expect(longest.cpu_ms).toBeLessThan(LONGEST_BLOCK_MS);
    // What the test does itself is left out.
    const skipped = await measureHere((watch) => watch.skip(wait));
    expect(skipped.wall_ms).toBeLessThan(longest.wall_ms);
  });

  it('is an error where no monitor has written anything', () => {
    expect(readLongestTurn(mkdtempSync(join(folder, 'empty-')))).toBeUndefined();
  });
});

async function measureHere(work: (watch: ReturnType<typeof watchLoop>) => unknown): Promise<LongestTurn> {
  let longest: LongestTurn = { cpu_ms: 0, wall_ms: 0 };
  using watch = watchLoop((turn) => (longest = turn));
  const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 40));
  await pause();
  work(watch);
  await pause();
  return longest;
}

import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { openProcessHost } from './process-host.ts';
import { newMarker } from './run-behaviour.ts';
import { startSupervised } from './supervise.ts';

const FLOODS: readonly [string, string][] = [
  ['lines', `yes 'a line of some length that an agent could have written, over and over' | head -c`],
  ['one line', `tr '\\0' x </dev/zero | head -c`],
  ['bytes at random', 'head -c'],
];

// Each flood after a small one of its kind: what the first of everything costs is not growth.
it.each(FLOODS)('[F33] memory stays flat under 100 MB of %s', { timeout: 600_000 }, async (kind, command) => {
  const flood = (bytes: number) => `${command} ${bytes} ${kind === 'bytes at random' ? '/dev/urandom' : ''}`;
  const warm = await floodAndMeasure(flood(20_000_000));
  const { peak, bytes } = await floodAndMeasure(flood(100_000_000));
  expect(bytes).toBe(100_000_000);
  expect(peak - warm.peak).toBeLessThan(50_000_000);
});

async function floodAndMeasure(script: string): Promise<{ peak: number; bytes: number }> {
  let peak = 0;
  let seen = 0;
  const run = await startSupervised(
    {
      argv: ['/bin/sh', '-c', script],
      cwd: tmpdir(),
      env: { PATH: process.env['PATH'] ?? '' },
      marker: newMarker(),
      stdin: 'none',
      host: await openProcessHost({ accept: ['marker'] }),
      limits: { total_ms: 600_000, idle_ms: 600_000, output_bytes: 1_000_000_000 },
    },
    {
      line() {
        seen += 1;
        if (seen % 1_000 === 1) peak = Math.max(peak, process.memoryUsage.rss());
      },
    },
  );
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 50);
  const { output_bytes, reason } = await run.done;
  clearInterval(timer);
  expect(reason).toBe('exited');
  return { peak, bytes: output_bytes };
}

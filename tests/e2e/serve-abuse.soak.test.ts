import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { forgeProject } from '../support/forge-cli.ts';
import { type ForgeServer, startForgeServer } from '../support/forge-server.ts';
import { expectNoLongBlock } from '../support/loop-blocks.ts';

const CLIENTS = fileURLToPath(new URL('../support/abusive-clients.ts', import.meta.url));
const SLOW = 1_000;
/** Node takes as many files as it is allowed to; where that is less, there are fewer. */
const IDLE = Math.min(10_000, readFileLimit() - SLOW - 500);
const HONEST = 2_000;

// Its numbers of open files and of megabytes are those of Linux.
describe.runIf(process.platform === 'linux')('forge serve among thousands that only hold connections', () => {
  test(`[A16] ${IDLE} that say nothing and ${SLOW} that write a byte a second are cut off, and others are served`, async () => {
    await using project = await forgeProject();
    await using server = await startForgeServer(project);
    await project.create('to be listed');
    await measure(server, HONEST);
    const before = await measure(server, HONEST);
    const alone = readMemory(server.pid);
    await using abuse = startAbuse(server);
    expect(await abuse.next()).toEqual({ connected: IDLE + SLOW });
    const during = await measure(server, HONEST);
    const crowded = readMemory(server.pid);
    const last = abuse.next();
    // Somebody asks all the time until the last of them is gone.
    let isOver = false;
    const over = last.finally(() => (isOver = true));
    while (!isOver) await measure(server, 20);
    // Time was up for each, and each was told so.
    expect(await over).toEqual({ statuses: { 408: IDLE + SLOW } });
    const after = await measure(server, HONEST);
    const { peak } = readMemory(server.pid);
    const times = Object.entries({ before, during, after }).map(([when, of]) => `${when} ${toText(of)}`);
    process.stdout.write(
      `${IDLE} idle, ${SLOW} slow. Others: ${times.join(', ')}. Memory: ${alone.rss} MB, ${crowded.rss} MB with them, ${peak} MB at most\n`,
    );
    // About 20 KB for each of them; what they send must not be kept.
    expect(peak - alone.rss).toBeLessThan(400);
    expect(server.told()).toBe('');
  });
});

interface Times {
  readonly median: number;
  readonly p99: number;
}

/** Requests of somebody honest, one after the other; none may fail. */
async function measure(server: ForgeServer, count: number): Promise<Times> {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const began = performance.now();
    expect((await server.ask('/api/v1/tasks?limit=10')).status).toBe(200);
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  const part = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
  return { median: part(0.5), p99: part(0.99) };
}

/** For whoever reads the run: on a machine with other work the figures say more about that. */
function toText({ median, p99 }: Times): string {
  return `${median.toFixed(1)} ms (p99 ${p99.toFixed(1)} ms)`;
}

function startAbuse({ url, token }: ForgeServer): AsyncDisposable & { next(): Promise<unknown> } {
  const args = [CLIENTS, new URL(url).port, String(IDLE), String(SLOW)];
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'], FORGE_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async next() {
      const { value, done } = await lines.next();
      return done === true ? 'it ended' : (JSON.parse(value) as unknown);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
    },
  };
}

function readMemory(pid: number): { rss: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024);
  return { rss: read('VmRSS'), peak: read('VmHWM') };
}

function readFileLimit(): number {
  if (process.platform !== 'linux') return 0;
  const [, , hard = ''] =
    /^Max open files\s+(\d+|unlimited)\s+(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ??
    [];
  return hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard);
}

expectNoLongBlock(import.meta.filename);

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LongestTurn, type LoopWatch, watchLoop } from './loop-monitor.mjs';

/** The checklist allows no longer block of the event loop in any suite. */
export const LONGEST_BLOCK_MS = 200;

const MONITOR = pathToFileURL(join(import.meta.dirname, 'loop-monitor.mjs')).href;

/** By the file of tests: the folder in which the monitors of its servers write. */
const folders = new Map<string, string>();

/**
 * The last line of a file of tests: every server that `startForgeServer` starts for it carries a loop monitor, and a
 * test of its own notes the longest block, in time on the processor. It fails on no figure: `npm run score` judges it.
 */
export function noteLongestBlock(testFile: string): void {
  measureServers(testFile, () => undefined);
}

/** The same for a long run, which may fail on its figure. */
export function expectNoLongBlock(testFile: string): void {
  measureServers(testFile, ({ cpu_ms }) => expect(cpu_ms).toBeLessThanOrEqual(LONGEST_BLOCK_MS));
}

export interface OwnLoop {
  readonly skip: LoopWatch['skip'];
  /** The last line of the file of tests. */
  expectNoLongBlock(): void;
}

/** The same where server and clients share the process of the test: the figure is an upper bound for the server. */
export function watchOwnLoop(): OwnLoop {
  let longest: LongestTurn | undefined;
  let watch: LoopWatch | undefined;
  beforeAll(() => {
    watch = watchLoop((turn) => (longest = turn));
  });
  afterAll(() => watch?.[Symbol.dispose]());
  return {
    skip: (work) => (watch === undefined ? work() : watch.skip(work)),
    expectNoLongBlock: () =>
      addTest(
        () => longest,
        ({ cpu_ms }) => expect(cpu_ms).toBeLessThanOrEqual(LONGEST_BLOCK_MS),
      ),
  };
}

function measureServers(testFile: string, judge: (longest: LongestTurn) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'forge-loops-'));
  folders.set(testFile, folder);
  afterAll(() => {
    folders.delete(testFile);
    rmSync(folder, { recursive: true, force: true });
  });
  addTest(() => readLongestTurn(folder), judge);
}

function addTest(read: () => LongestTurn | undefined, judge: (longest: LongestTurn) => void): void {
  it('notes the longest block of the event loop', async ({ annotate }) => {
    const longest = read();
    expect(longest, 'what the loop monitors have written').toBeDefined();
    if (longest === undefined) return;
    const [cpu, wall] = [longest.cpu_ms, longest.wall_ms].map((ms) => Math.max(1, Math.ceil(ms)));
    await annotate(`${cpu} ms on the processor, ${wall} ms in all: the longest block of the event loop`);
    judge(longest);
  });
}

/** Of all servers whose monitors write there; undefined where none does. */
export function readLongestTurn(folder: string): LongestTurn | undefined {
  const turns = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  // A server that ended before its first look has served no request.
  const told = turns.filter((text) => text !== '').map((text) => JSON.parse(text) as LongestTurn);
  if (told.length === 0) return undefined;
  return {
    cpu_ms: Math.max(...told.map(({ cpu_ms }) => cpu_ms)),
    wall_ms: Math.max(...told.map(({ wall_ms }) => wall_ms)),
  };
}

/** For Node: what makes a server carry a monitor, where the file of tests that runs now measures. */
export function toMonitorFlags(): readonly string[] {
  const folder = folders.get(expect.getState().testPath ?? '');
  return folder === undefined ? [] : toFlags(folder);
}

export function toFlags(folder: string): readonly string[] {
  return ['--import', `${MONITOR}?into=${encodeURIComponent(join(folder, crypto.randomUUID()))}`];
}

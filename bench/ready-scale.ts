import { join } from 'node:path';
import { systemClock } from '#kernel/clock.ts';
import { openSqliteStore } from '#store/open-sqlite-store.ts';
import { fillStore } from './fill-store.ts';
import { median, temporaryFolder, type Result } from './measure.ts';

const BATCHES = 60;
const CALLS = 50;

/** `ready --limit 20` must not notice how large the project is, nor how much of its top is blocked. */
export async function benchReadyScale(large: number): Promise<Result[]> {
  const small = await readyTime(10_000, 0);
  const big = await readyTime(large, 0);
  const blocked = await readyTime(large, 0.6);
  const name = large.toLocaleString('en');
  const result = (what: string, ms: number): Result => ({
    what,
    baseline: 'the same at 10,000 tasks',
    ratio: ms / small,
    budget: 1.2,
    sense: 'at most',
    figures: `${(ms * 1000).toFixed(0)} µs / ${(small * 1000).toFixed(0)} µs`,
  });
  return [
    result(`\`ready --limit 20\` in process, ${name} tasks (30 % open, one dependency each)`, big),
    result(`\`ready --limit 20\` in process, ${name} tasks, the top 60 % by priority blocked`, blocked),
  ];
}

async function readyTime(count: number, top_blocked: number): Promise<number> {
  using folder = temporaryFolder();
  const database = join(folder.path, 'forge.db');
  const open = () =>
    openSqliteStore({ database, replica: join(folder.path, 'tasks.jsonl'), clock: systemClock });
  await (await open())[Symbol.asyncDispose]();
  fillStore(database, count, { top_blocked });
  await using store = await open();
  const first = await store.listReady({ limit: 20 });
  if (first.length !== 20) throw new Error(`expected 20 ready tasks, found ${first.length}`);
  const batches: number[] = [];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const started = performance.now();
    for (let call = 0; call < CALLS; call += 1) await store.listReady({ limit: 20 });
    batches.push((performance.now() - started) / CALLS);
  }
  return median(batches.slice(BATCHES / 4));
}

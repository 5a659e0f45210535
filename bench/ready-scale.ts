import { join } from 'node:path';
import { systemClock } from '#kernel/clock.ts';
import { openStore } from '#store/open-store.ts';
import { fillStore } from './fill-store.ts';
import { median, temporaryFolder, type Result } from './measure.ts';

/** The first ones compile the code and fill the caches. */
const WARM = 20;
const BATCHES = 60;
const CALLS = 50;

/** `ready --limit 20` must not notice how large the project is, nor how much of its top is blocked. */
export async function benchReadyScale(large: number): Promise<Result[]> {
  await using small = await fillProject(10_000, 0);
  await using big = await fillProject(large, 0);
  await using blocked = await fillProject(large, 0.6);
  const name = large.toLocaleString('en');
  // In turn: measured one after the other, minutes apart, they are as far apart as the machine's moods (0.93 to 1.42).
  const times = { small: [], big: [], blocked: [] } as Record<'small' | 'big' | 'blocked', number[]>;
  for (let batch = -WARM; batch < BATCHES; batch += 1) {
    for (const [kind, project] of [
      ['small', small],
      ['big', big],
      ['blocked', blocked],
    ] as const) {
      const ms = await project.readyTime();
      if (batch >= 0) times[kind].push(ms);
    }
  }
  const result = (what: string, kind: 'big' | 'blocked'): Result => {
    const [ms, baseline] = [median(times[kind]), median(times.small)];
    return {
      what,
      baseline: 'the same at 10,000 tasks',
      ratio: ms / baseline,
      budget: 1.2,
      sense: 'at most',
      figures: `${(ms * 1000).toFixed(0)} µs / ${(baseline * 1000).toFixed(0)} µs`,
    };
  };
  return [
    result(`\`ready --limit 20\` in process, ${name} tasks (30 % open, one dependency each)`, 'big'),
    result(`\`ready --limit 20\` in process, ${name} tasks, the top 60 % by priority blocked`, 'blocked'),
  ];
}

interface FilledProject extends AsyncDisposable {
  /** Milliseconds a call, of one batch. */
  readyTime(): Promise<number>;
}

async function fillProject(count: number, top_blocked: number): Promise<FilledProject> {
  const folder = temporaryFolder();
  const database = join(folder.path, 'forge.db');
  const open = () => openStore({ folder: folder.path }, { clock: systemClock });
  await (await open())[Symbol.asyncDispose]();
  fillStore(database, count, { top_blocked });
  const store = await open();
  const first = await store.listReady({ limit: 20 });
  if (first.length !== 20) throw new Error(`expected 20 ready tasks, found ${first.length}`);
  return {
    async readyTime() {
      const started = performance.now();
      for (let call = 0; call < CALLS; call += 1) await store.listReady({ limit: 20 });
      return (performance.now() - started) / CALLS;
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

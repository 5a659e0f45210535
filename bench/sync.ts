import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { editRecord } from '#domain/task-changes.ts';
import { systemClock } from '#kernel/clock.ts';
import { openStore } from '#store/open-store.ts';
import { toStoreFiles } from '#store/store-location.ts';
import { median, temporaryFolder, type Result } from './measure.ts';
import { writeTaskFile } from './task-lines.ts';
import type { Cost } from './workers/report-cost.ts';

const COUNT = 100_000;
const ROUNDS = 3;
const NAME = COUNT.toLocaleString('en');

/** Task files of a large project: into an empty store, out of it again, and in with a few changes. */
export async function benchSync(): Promise<Result[]> {
  using folder = temporaryFolder();
  const at = (name: string): string => join(folder.path, name);
  writeTaskFile(at('tasks.jsonl'), COUNT);
  writeTaskFile(at('changed.jsonl'), COUNT, (record, i) =>
    i % (COUNT / 100) === 7 ? editRecord(record, { fields: new Map([['title', 'Changed']]) }, LATER) : record,
  );
  const costs = { bare_in: [], in: [], few: [], bare_out: [], out: [], nothing: [] } as Record<
    Measured,
    Cost[]
  >;
  for (let round = 0; round < ROUNDS; round += 1) {
    const bare = await emptyStore(at('bare'));
    const ours = await emptyStore(at('ours'));
    costs.nothing.push(run('sync-work.ts', 'nothing', ours, at('tasks.jsonl')));
    costs.bare_in.push(run('bare-sync.ts', 'import', bare, at('tasks.jsonl')));
    costs.in.push(run('sync-work.ts', 'import', ours, at('tasks.jsonl')));
    costs.bare_out.push(run('bare-sync.ts', 'export', ours, at('bare.jsonl')));
    rmSync(at('out.jsonl'), { force: true });
    costs.out.push(run('sync-work.ts', 'export', ours, at('out.jsonl')));
    if (!readFileSync(at('out.jsonl')).equals(readFileSync(at('tasks.jsonl'))))
      throw new Error('an export of what was imported gave other bytes');
    copyFileSync(at('changed.jsonl'), at('again.jsonl'));
    costs.few.push(run('sync-work.ts', 'import', ours, at('again.jsonl')));
  }
  return [...toResults(costs), ...(await benchRebuild())];
}

const REBUILT = 50_000;
const REBUILT_NAME = REBUILT.toLocaleString('en');

/** The way back from the local replica must not be dearer than the way in. */
async function benchRebuild(): Promise<Result[]> {
  using folder = temporaryFolder();
  const file = join(folder.path, 'tasks.jsonl');
  writeTaskFile(file, REBUILT);
  const imports: Cost[] = [];
  const rebuilds: Cost[] = [];
  for (let round = 0; round < REBUILD_ROUNDS; round += 1) {
    const database = await emptyStore(join(folder.path, 'store'));
    imports.push(run('sync-work.ts', 'import', database, file));
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${database}${suffix}`, { force: true });
    rebuilds.push(run('sync-work.ts', 'rebuild', database, file));
  }
  const least = (costs: readonly Cost[], of: keyof Cost): number =>
    Math.min(...costs.map((cost) => cost[of]));
  const row = (what: string, of: keyof Cost, show: (value: number) => string): Result => ({
    what: `rebuild of ${REBUILT_NAME} tasks from the local replica, ${what}`,
    baseline: 'the import of the file',
    ratio: least(rebuilds, of) / least(imports, of),
    budget: 1,
    sense: 'at most',
    figures: `${show(least(rebuilds, of))} / ${show(least(imports, of))}`,
  });
  return [
    row('time', 'ms', (ms) => `${ms.toFixed(0)} ms`),
    row('peak memory', 'peak_kb', (kb) => `${(kb / 1024).toFixed(0)} MB`),
  ];
}

const REBUILD_ROUNDS = 5;

type Measured = 'bare_in' | 'in' | 'few' | 'bare_out' | 'out' | 'nothing';
const LATER = 1_900_000_000_000;

function toResults(costs: Readonly<Record<Measured, readonly Cost[]>>): Result[] {
  const ms = (name: Measured): number => median(costs[name].map((cost) => cost.ms));
  const peak = (name: Measured): number => median(costs[name].map((cost) => cost.peak_kb)) / 1024;
  const time = (
    what: string,
    name: Measured,
    baseline: { of: Measured; what: string; budget: number },
  ): Result => ({
    what,
    baseline: baseline.what,
    ratio: ms(name) / ms(baseline.of),
    budget: baseline.budget,
    sense: 'at most',
    figures: `${ms(name).toFixed(0)} ms / ${ms(baseline.of).toFixed(0)} ms`,
  });
  const memory = (what: string, name: Measured): Result => ({
    what: `${what}, memory beyond that of a process that does nothing`,
    baseline: '100 MB',
    ratio: (peak(name) - peak('nothing')) / 100,
    budget: 1,
    sense: 'at most',
    figures: `${peak(name).toFixed(0)} MB, ${peak('nothing').toFixed(0)} MB without`,
  });
  return [
    time(`export of ${NAME} tasks, 65 MB`, 'out', {
      of: 'bare_out',
      what: 'SELECT, `JSON.stringify`, write, fsync',
      budget: 2,
    }),
    time(`import of ${NAME} tasks into an empty store`, 'in', {
      of: 'bare_in',
      what: '`JSON.parse`, INSERT, count of blockers, a copy of the lines, fsync',
      budget: 2,
    }),
    time(`fold of a file of ${NAME} tasks, 100 of them changed`, 'few', {
      of: 'in',
      what: 'the whole import',
      budget: 0.3,
    }),
    memory(`export of ${NAME} tasks`, 'out'),
    memory(`import of ${NAME} tasks`, 'in'),
  ];
}

/** The path of its database. */
async function emptyStore(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  await using _store = await openStore({ folder }, { clock: systemClock });
  return toStoreFiles({ folder }).database;
}

function run(worker: string, ...args: readonly string[]): Cost {
  const script = join(import.meta.dirname, 'workers', worker);
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${worker} ${args.join(' ')} exited with ${status}: ${stderr}`);
  return JSON.parse(stdout) as Cost;
}

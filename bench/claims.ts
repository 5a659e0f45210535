import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { systemClock } from '#kernel/clock.ts';
import { openStore } from '#store/open-store.ts';
import { fillStore } from './fill-store.ts';
import { FORGE, makeProject, median, raceProcesses, temporaryFolder, type Result } from './measure.ts';

const PROCESSES = 8;
const TASKS = 10_000;
const REPEATS = 3;

/** Claims by eight processes against eight that do nothing but the conditional UPDATE, durable each time. */
export async function benchClaims(): Promise<Result[]> {
  const bare: number[] = [];
  const ours: number[] = [];
  for (let i = 0; i < REPEATS; i += 1) {
    bare.push(await bareClaims());
    ours.push(await forgeClaims());
  }
  return [
    {
      what: `claims by ${PROCESSES} processes over ${TASKS.toLocaleString('en')} tasks, each exactly once`,
      baseline: 'bare conditional UPDATE, `synchronous=FULL`',
      ratio: median(ours) / median(bare),
      budget: 0.6,
      sense: 'at least',
      figures: `${median(ours).toFixed(0)} / s against ${median(bare).toFixed(0)} / s`,
    },
    await crowd(),
  ];
}

async function bareClaims(): Promise<number> {
  using folder = temporaryFolder();
  const path = join(folder.path, 'bare.db');
  const db = new DatabaseSync(path);
  db.exec(
    'PRAGMA journal_mode = WAL; CREATE TABLE tasks (id TEXT PRIMARY KEY, status TEXT NOT NULL, assignee TEXT, updated_at TEXT); BEGIN',
  );
  const insert = db.prepare("INSERT INTO tasks VALUES (?, 'open', NULL, '')");
  for (let i = 0; i < TASKS; i += 1) insert.run(`fg-${i.toString(36).padStart(4, '0')}`);
  db.exec('COMMIT');
  db.close();
  return await race('bare-claims.ts', folder.path, path);
}

async function forgeClaims(): Promise<number> {
  using folder = temporaryFolder();
  const database = join(folder.path, 'forge.db');
  const store = await openStore({ folder: folder.path }, { clock: systemClock });
  await store[Symbol.asyncDispose]();
  const db = new DatabaseSync(database);
  db.exec('BEGIN');
  const insert = db.prepare(
    "INSERT INTO tasks (id, title, created_at, created_by, updated_at) VALUES (?, 'A task to claim', ?, 'bench', ?)",
  );
  for (let i = 0; i < TASKS; i += 1) {
    const at = new Date(1_700_000_000_000 + i).toISOString();
    insert.run(`fg-${i.toString(36).padStart(4, '0')}`, at, at);
  }
  db.exec('COMMIT');
  db.close();
  return await race('forge-claims.ts', folder.path, database);
}

/** Claims a second; throws unless every task was claimed exactly once. */
async function race(worker: string, cwd: string, database: string): Promise<number> {
  const script = join(import.meta.dirname, 'workers', worker);
  const commands = Array.from({ length: PROCESSES }, (_, i) => [
    script,
    database,
    `worker-${i}`,
    String(i),
    String(PROCESSES),
  ]);
  const { ms, outputs } = await raceProcesses(commands, cwd);
  const claimed = outputs.flatMap((text) => text.split('\n').filter((line) => line !== ''));
  if (claimed.length !== TASKS || new Set(claimed).size !== TASKS) {
    throw new Error(
      `${claimed.length} claims of ${new Set(claimed).size} tasks; expected ${TASKS} of ${TASKS}`,
    );
  }
  return TASKS / (ms / 1000);
}

/** A hundred command lines at once: nobody sees a busy database. */
async function crowd(): Promise<Result> {
  using folder = temporaryFolder();
  fillStore(makeProject(folder.path), 1_000);
  const script = join(import.meta.dirname, 'workers/claim-by-cli.ts');
  const commands = Array.from({ length: 100 }, (_, i) => [script, FORGE, `worker-${i}`]);
  const { ms, outputs } = await raceProcesses(commands, folder.path);
  const claimed = new Set(
    outputs.map((text) => (JSON.parse(text) as { id?: string }).id).filter((id) => id !== undefined),
  );
  return {
    what: '100 × `forge claim --next` at once: tasks claimed, no error',
    baseline: 'the 100 started',
    ratio: claimed.size / 100,
    budget: 1,
    sense: 'at least',
    figures: `${claimed.size} of 100 in ${(ms / 1000).toFixed(1)} s`,
  };
}

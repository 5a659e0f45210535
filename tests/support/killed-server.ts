import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { inTurns } from '#engine/in-turns.ts';
import { RUN_MARKER } from '#executors/executor.ts';
import { listDoubles, setUp, toWitness } from './crash-runs.ts';
import type { ForgeProject } from './forge-cli.ts';
import { startForgeServer, type ForgeServer } from './forge-server.ts';

export interface RunRow {
  readonly id: string;
  readonly task_id: string;
  readonly state: string;
  readonly outcome: string | null;
  readonly message: string | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

export interface KillRounds {
  /** So many agents are at work at each kill. */
  readonly agents: number;
  readonly kills: number;
  /** No kill begins after it; `performance.now()`. */
  readonly until: number;
}

export interface Settled {
  /** From the kill until every run had ended in the store, every task was back, and no process was left. */
  readonly wall_ms: number;
  /** What the new server and its children that had ended used of the processors meanwhile; undefined beyond Linux. */
  readonly cpu_ms: number | undefined;
}

/** After a kill nothing that was at work may stay unsettled for longer than this. */
const GIVE_UP_MS = 120_000;

/**
 * `forge serve --dispatch` with so many agents at work is killed and started again, again and again. Throws where a run is settled wrongly, never, or twice, or where two agents were at one task at a time.
 */
export async function killServerAgain(
  project: ForgeProject,
  { agents, kills, until }: KillRounds,
): Promise<Settled[]> {
  const tasks = await addWork(project, agents);
  const start = (): Promise<ForgeServer> => startForgeServer(project, ['--port', '0', '--dispatch']);
  const times: Settled[] = [];
  let server = await start();
  try {
    while (times.length < kills && performance.now() < until) {
      const atWork = await untilAtWork(project, tasks, server);
      server.kill('SIGKILL');
      const killed = performance.now();
      await server.ended;
      server = await start();
      await untilSettled(project, atWork, killed + GIVE_UP_MS);
      times.push({ wall_ms: performance.now() - killed, cpu_ms: readCpuMs(server.pid) });
    }
  } finally {
    await server[Symbol.asyncDispose]();
  }
  expect(listRestartFaults(readRuns(project), times.length)).toEqual([]);
  expect(listDoubles(project)).toEqual([]);
  return times;
}

async function addWork(project: ForgeProject, agents: number): Promise<string[]> {
  const most = { max: agents, per_machine: agents, per_agent: agents };
  await setUp(project, { scheduler: most, workspace: { ports: 0 } });
  // Each has changes of its own that a restart has to keep.
  const script = `${toWitness(project)}; echo "$FORGE_RUN_ID" > work.txt; sleep 3600`;
  const words = ['bash', '-c', script].map((word) => `--command=${word}`);
  await project.text('agent', 'add', 'long', '--executor', 'shell', ...words);
  await project.text('agent', 'pause', 'w1');
  const numbers = Array.from({ length: agents }, (_, at) => at);
  return inTurns(numbers, 1, async (at) => (await project.create(`Task ${at}`)).id);
}

/**
 * The server starts what was lost once by itself, while this asks for the same: no task may get two. After a second crash
 * it waits for half a minute and longer, but not for a client that asks.
 */
async function claimIdle(
  server: ForgeServer,
  tasks: readonly string[],
  runs: readonly RunRow[],
): Promise<void> {
  const busy = new Set(runs.filter(({ ended_at }) => ended_at === null).map(({ task_id }) => task_id));
  const idle = tasks.filter((id) => !busy.has(id));
  await inTurns(idle, 8, async (id) => {
    const answer = await server.ask(`/api/v1/tasks/${id}/claim`, { body: { assignee: 'long' } });
    expect([200, 409]).toContain(answer.status);
  });
}

async function untilAtWork(
  project: ForgeProject,
  tasks: readonly string[],
  server: ForgeServer,
): Promise<readonly RunRow[]> {
  const end = performance.now() + GIVE_UP_MS;
  for (;;) {
    const runs = readRuns(project);
    const running = runs.filter(({ state }) => state === 'running');
    if (running.length === tasks.length) return running;
    if (performance.now() > end)
      throw new Error(
        `${running.length} of ${tasks.length} agents came to work: ${toCounts(runs)}; ${server.told()}`,
      );
    await claimIdle(server, tasks, runs);
    await sleep(50);
  }
}

function toCounts(runs: readonly RunRow[]): string {
  const kinds = Map.groupBy(runs, ({ state, outcome, message }) => `${state} ${outcome}: ${message}`);
  return [...kinds].map(([kind, { length }]) => `${length} × ${kind}`).join('\n');
}

async function untilSettled(project: ForgeProject, runs: readonly RunRow[], end: number): Promise<void> {
  const ids = new Set(runs.map(({ id }) => id));
  for (;;) {
    const open = readRuns(project).filter(({ id, ended_at }) => ids.has(id) && ended_at === null);
    const left = open.length > 0 ? [] : [...listAbandoned(project), ...listProcessesOf(ids)];
    if (open.length === 0 && left.length === 0) return;
    if (performance.now() > end)
      throw new Error(`not settled: ${open.length} runs are open, left are ${left.join(', ')}`);
    await sleep(50);
  }
}

/** Tasks with an owner and no run at work. */
function listAbandoned(project: ForgeProject): string[] {
  using db = project.openDatabase();
  const sql = `SELECT id FROM tasks WHERE status = 'in_progress'
    AND NOT EXISTS (SELECT 1 FROM runs WHERE task_id = tasks.id AND ended_at IS NULL)`;
  return db
    .prepare(sql)
    .all()
    .map(({ id }) => String(id));
}

function readRuns(project: ForgeProject): RunRow[] {
  using db = project.openDatabase();
  const sql =
    'SELECT id, task_id, state, outcome, message, started_at, ended_at FROM runs ORDER BY created_at, id';
  return db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }) as unknown as RunRow); // the columns of the schema
}

/** What is wrong with the rows after so many kills, by task; none of these may be. */
export function listRestartFaults(runs: readonly RunRow[], kills: number): string[] {
  const faults: string[] = [];
  for (const [task, own] of Map.groupBy(runs, ({ task_id }) => task_id)) {
    const begun = own.filter(({ started_at }) => started_at !== null);
    const crashed = begun.filter(({ outcome }) => outcome === 'crashed').length;
    if (crashed !== kills) faults.push(`${task}: ${crashed} of its runs crashed at ${kills} kills`);
    for (const [at, run] of begun.slice(1).entries()) {
      const before = begun[at]?.ended_at ?? null;
      if (before === null || (run.started_at ?? '') < before) faults.push(`${task}: was started twice`);
    }
  }
  return faults;
}

/** Processes that carry the mark of one of these runs. */
function listProcessesOf(ids: ReadonlySet<string>): string[] {
  const mark = new RegExp(`(?:^|\\0)${RUN_MARKER}=([^\\0]+)`);
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/environ`)) return false;
    try {
      return ids.has(mark.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1] ?? '');
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}

/** Of a process and of its children that have ended; the kernel counts in hundredths of a second. */
function readCpuMs(pid: number): number | undefined {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return undefined;
  const fields = readFileSync(path, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

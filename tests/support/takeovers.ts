import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inTurns } from '#engine/in-turns.ts';
import type { ForgeProject } from './forge-cli.ts';
import { startForgeServer, type ForgeServer } from './forge-server.ts';
import type { HolderOrders } from './lease-holder.ts';
import type { Random } from './random.ts';

const HOLDER = fileURLToPath(new URL('./lease-holder.ts', import.meta.url));

export interface Holder extends Disposable {
  readonly tasks: readonly string[];
  /** Renewals that were refused, as it told them. */
  readonly refused: readonly string[];
  kill(signal: NodeJS.Signals): void;
}

/** Resolves when it holds its tasks. */
export async function startHolder(orders: HolderOrders): Promise<Holder> {
  const child = spawn(process.execPath, [HOLDER, JSON.stringify(orders)], {
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const refused: string[] = [];
  const lines = createInterface({ input: child.stdout });
  const first = once(lines, 'line');
  const word = await Promise.race([first, ended.then(() => undefined)]);
  if (word === undefined) throw new Error(`${orders.name} ended before it held its tasks`);
  lines.on('line', (line) => refused.push(line));
  return {
    tasks: orders.tasks,
    refused,
    kill: (signal) => void child.kill(signal),
    [Symbol.dispose]() {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
    },
  };
}

export async function createTasks(project: ForgeProject, count: number): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, at) => at);
  return inTurns(numbers, 1, async (at) => (await project.create(`Held ${at}`)).id);
}

/** Whether a rival got the task. */
async function tryToTake(server: ForgeServer, id: string): Promise<boolean> {
  const answer = await server.ask(`/api/v1/tasks/${id}/claim`, { body: { assignee: 'rival', lease: 3_600 } });
  if (answer.status !== 200 && answer.status !== 409)
    throw new Error(`The claim of ${id} was answered with ${answer.status}`);
  return answer.status === 200;
}

/** A rival that wants all of them all the time; gives those that it got, with the moment. */
export function startRival(
  server: ForgeServer,
  tasks: readonly string[],
  rest_ms: number,
): { readonly taken: ReadonlyMap<string, number>; stop(): Promise<void> } {
  const taken = new Map<string, number>();
  let isOver = false;
  const work = async (): Promise<void> => {
    while (!isOver) {
      await inTurns(
        tasks.filter((id) => !taken.has(id)),
        4,
        async (id) => {
          if (await tryToTake(server, id)) taken.set(id, performance.now());
        },
      );
      await sleep(rest_ms);
    }
  };
  const working = work();
  // Who stops it is told.
  working.catch(() => undefined);
  return {
    taken,
    async stop() {
      isOver = true;
      await working;
    },
  };
}

/** So many holders are killed at once; how long it took until a rival had each of their tasks, in ms. */
export async function measureTakeovers(
  project: ForgeProject,
  options: {
    readonly holders: number;
    readonly tasks: number;
    readonly lease_s: number;
    readonly wait_ms: number;
  },
): Promise<{ readonly times: number[]; readonly left: number; readonly early: number }> {
  const { holders, tasks, lease_s, wait_ms } = options;
  await using server = await startForgeServer(project);
  using stack = new DisposableStack();
  const all: Holder[] = [];
  for (let at = 0; at < holders; at += 1) {
    const ids = await createTasks(project, tasks);
    const orders = { url: server.url, token: server.token, name: `holder-${at}`, tasks: ids };
    all.push(stack.use(await startHolder({ ...orders, lease_s, beat_ms: (lease_s * 1_000) / 3 })));
  }
  const ids = all.flatMap((holder) => holder.tasks);
  const rival = startRival(server, ids, 500);
  await sleep(3_000);
  const early = rival.taken.size;
  for (const holder of all) holder.kill('SIGKILL');
  const killed = performance.now();
  while (rival.taken.size < ids.length && performance.now() < killed + wait_ms) await sleep(100);
  await rival.stop();
  const times = [...rival.taken.values()].map((at) => at - killed);
  return { times, left: ids.length - times.length, early };
}

/** Who is stopped in one cycle of sleep and resume. */
export const SLEEPERS = ['the machine', 'the server'] as const;

interface Sleepers {
  /** It has the leases, and watches a run. */
  readonly server: ForgeServer;
  /** Another server of the same project, which would take the run over if it were lost. */
  readonly beside: ForgeServer;
  readonly holders: readonly Holder[];
}

/** One of them sleeps for so long and wakes; who wakes first is a matter of chance. */
export async function sleepAndWake(
  who: (typeof SLEEPERS)[number],
  sleepers: Sleepers,
  { sleep_ms, random }: { readonly sleep_ms: number; readonly random: Random },
): Promise<void> {
  const { server, beside, holders } = sleepers;
  const asleep = who === 'the machine' ? [server, beside, ...holders] : [server];
  for (const one of asleep) one.kill('SIGSTOP');
  await sleep(sleep_ms);
  const order = asleep.map((one) => ({ one, rank: random.below(1_000) }));
  for (const { one } of order.toSorted((a, b) => a.rank - b.rank)) one.kill('SIGCONT');
}

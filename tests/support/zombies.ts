import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Task } from '#contract/task.ts';
import { FORGE, forgeProject } from './forge-cli.ts';
import { startForgeServer, type ForgeServer } from './forge-server.ts';
import { SURFACES, type ZombieOrders, type ZombieReport } from './zombie-writer.ts';

const WRITER = fileURLToPath(new URL('./zombie-writer.ts', import.meta.url));

/**
 * A holder is stopped, its lease ends, somebody else takes the task over, and the holder wakes and writes on with the
 * number of its claim. Gives how many writes there were; throws where one was accepted or left a trace.
 */
export async function expectZombieRefused({ writes }: { readonly writes: number }): Promise<number> {
  await using project = await forgeProject();
  // A person's, which may write on every task: nothing but the number keeps it out.
  const { token } = await project.json<{ token: string }>('token', 'create', '--scope', 'task');
  await using server = await startForgeServer(project);
  const task = (await project.create('Wanted')).id;
  const other = (await project.create('Other')).id;
  const orders: ZombieOrders = {
    forge: FORGE,
    cwd: project.path,
    url: server.url,
    token,
    actor: 'zombie',
    task,
    other,
    lease: 1,
    writes,
  };
  const child = spawn(process.execPath, [WRITER, JSON.stringify(orders)], {
    env: project.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const claimed = JSON.parse(String((await lines.next()).value)) as Task & { fence: number };
    expect(claimed).toMatchObject({ assignee: 'zombie' });
    const taken = await takeOver(server, task);
    expect(taken.fence).toBeGreaterThan(claimed.fence);
    const before = await look(server, task);
    child.kill('SIGCONT');
    const report = JSON.parse(String((await lines.next()).value)) as ZombieReport;
    for (const surface of SURFACES)
      expect([surface, report[surface]]).toEqual([surface, Array<string>(writes).fill('fence_conflict')]);
    expect(await look(server, task)).toEqual(before);
    return SURFACES.length * writes;
  } finally {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
  }
}

/** As soon as the lease of whoever has it is over. */
async function takeOver(server: ForgeServer, id: string): Promise<Task & { fence: number }> {
  for (let tries = 0; ; tries += 1) {
    const body = { assignee: 'rival' };
    const answer = await server.ask(`/api/v1/tasks/${id}/claim`, { body });
    if (answer.status === 200) return answer.body as Task & { fence: number };
    expect(answer).toMatchObject({ status: 409, body: { code: 'claim_conflict' } });
    if (tries > 100) throw new Error('the lease never ends');
    await sleep(100);
  }
}

async function look(server: ForgeServer, id: string): Promise<unknown> {
  const of = async (path: string): Promise<unknown> => (await server.ask(`/api/v1/tasks/${id}${path}`)).body;
  return { task: await of(''), history: await of('/history'), dependencies: await of('/dependencies') };
}

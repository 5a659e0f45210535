import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeProject } from '../support/forge-cli.ts';
import { startForgeServer } from '../support/forge-server.ts';
import { expectZombieRefused } from '../support/zombies.ts';

it('[M7] a server that was stopped gives holders one lease time, also where the rival is the first to ask', async () => {
  await using project = await forgeProject();
  await using server = await startForgeServer(project);
  const { id } = await project.create('Held');
  const claim = (assignee: string) =>
    server.ask(`/api/v1/tasks/${id}/claim`, { body: { assignee, lease: LEASE_S } });
  const { fence } = (await claim('holder')).body as Task & { fence: number };
  const beat = () => server.ask(`/api/v1/tasks/${id}/heartbeat`, { body: { fence } });
  expect(await beat()).toMatchObject({ status: 200 });
  for (const stopped of [1.5, 3]) {
    server.kill('SIGSTOP');
    await sleep(stopped * LEASE_S * 1_000);
    // It waits in the socket until the server goes on.
    const rival = claim('rival');
    await sleep(200);
    server.kill('SIGCONT');
    expect(await rival).toMatchObject({ status: 409, body: { code: 'claim_conflict' } });
    expect(await beat()).toMatchObject({ status: 200 });
  }
  // A holder that is silent after that is gone, and not a moment before.
  await sleep(LEASE_S * 500);
  expect(await claim('rival')).toMatchObject({ status: 409 });
  await expect
    .poll(async () => (await claim('rival')).status, { timeout: 10 * LEASE_S * 1_000, interval: 100 })
    .toBe(200);
  expect(await beat()).toMatchObject({ status: 409, body: { code: 'fence_conflict' } });
});

const LEASE_S = 2;

it('[G18] a holder that was stopped and lost its task writes nothing any more, on six surfaces', async () => {
  expect(await expectZombieRefused({ writes: 4 })).toBe(24);
});

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import { forgeProject } from '../support/forge-cli.ts';
import { startForgeServer } from '../support/forge-server.ts';

describe('[A16] a server whose agent is not installed', () => {
  it('spends nothing of the queue, and works it off when the agent is there and resumed', async () => {
    await using project = await forgeProject();
    project.git('add', '-A');
    project.git('commit', '-qm', 'first');
    const program = join(project.home, 'agent.sh');
    await project.json('agent', 'add', 'ada', '--executor', 'shell', `--command=${program}`);
    const ids = [(await project.create('One')).id, (await project.create('Two')).id];
    await using server = await startForgeServer(project, ['--port', '0', '--dispatch']);
    const suspended = async (): Promise<unknown> =>
      (await project.json<{ suspended: unknown }>('agent', 'show', 'ada')).suspended;
    await expect.poll(suspended, { timeout: 30_000 }).toMatchObject({ fault: 'not_installed' });
    const states = async (): Promise<string[]> =>
      Promise.all(ids.map(async (id) => (await project.show(id)).state));
    await expect.poll(states, { timeout: 30_000 }).toEqual(['todo', 'todo']);
    writeFileSync(program, '#!/bin/sh\necho x > "$FORGE_TASK_ID"\n');
    chmodSync(program, 0o755);
    expect((await server.ask('/api/v1/agents/ada/resume', { method: 'POST', body: {} })).status).toBe(200);
    await expect.poll(states, { timeout: 30_000 }).toEqual(['review', 'review']);
    const runs = await project.json<Run[]>('runs', 'list');
    expect(new Set(runs.map(({ outcome }) => outcome))).toEqual(new Set(['not_installed', 'completed']));
    expect(await suspended()).toBeNull();
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { Report } from '#contract/report-operations.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

describe('forge inbox', () => {
  it('has what waits for a person, with the command that answers it, and forgets what was answered', async () => {
    await using project = await forgeProjectHere();
    const git = (...args: string[]): string => project.git(...args);
    const items = async (...args: string[]): Promise<readonly string[]> =>
      (await project.json<InboxItem[]>('inbox', ...args)).map(({ kind, command }) => `${kind}: ${command}`);
    expect(await items()).toEqual([]);
    expect((await project.run('inbox')).stdout).toBe('Nothing waits for you.\n');

    git('add', '-A');
    git('commit', '-qm', 'first');
    await project.json(
      'agent',
      'add',
      'w1',
      '--executor',
      'shell',
      '--command=sh',
      '--command=-c',
      '--command=echo x > $FORGE_TASK_ID',
    );
    const [reviewed, passed, dirty] = [
      await project.create('Reviewed'),
      await project.create('Passed'),
      await project.create('Dirty'),
    ];
    await project.json('task', 'assign', reviewed.id, 'reviewer', '--user', 'ann');
    for (const { id } of [reviewed, passed]) await project.run('run', id, '--agent', 'w1');
    await project.write(dirty.id, 'mine\n');
    await project.run('run', dirty.id, '--agent', 'w1', '--merge');
    expect(await items()).toEqual([
      `review: forge review ${reviewed.id} pass`,
      `merge: forge run ${passed.id} --merge`,
      `postponed: forge run ${dirty.id} --merge`,
    ]);
    expect(await items('--kind', 'merge')).toEqual([`merge: forge run ${passed.id} --merge`]);

    // A push that is rejected waits beside the tasks.
    const remote = join(project.home, 'remote.git');
    git('clone', '-q', '--bare', '.', remote);
    git('remote', 'add', 'origin', remote);
    git('push', '-q', '--set-upstream', 'origin', 'main');
    const config = join(project.path, '.forge', 'config.json');
    const settings: object = JSON.parse(readFileSync(config, 'utf8'));
    writeFileSync(config, JSON.stringify({ ...settings, merge: { push: 'after' } }));
    writeFileSync(join(remote, 'hooks', 'pre-receive'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect((await project.run('task', 'transition', passed.id, 'merging')).exit).toBe(0);
    expect(await items()).toEqual([
      `review: forge review ${reviewed.id} pass`,
      `postponed: forge run ${dirty.id} --merge`,
      'push: git push origin main',
    ]);
  });

  it('[A16] has agents that cannot work, and so have status, agent list and agent show, until one is resumed', async () => {
    await using project = await forgeProjectHere();
    project.git('add', '-A');
    project.git('commit', '-qm', 'first');
    await project.run('project', 'add', project.path);
    const { id } = await project.create('One');
    await project.json('agent', 'add', 'ada', '--executor', 'codex', '--command=/no/such/codex');
    expect((await project.run('run', id, '--agent', 'ada')).exit).toBe(1);
    const suspended = {
      agent: 'ada',
      fault: 'not_installed',
      mends: 'by_person',
      command: 'forge agent resume ada',
    };
    const read = async (): Promise<unknown[]> => [
      await project.json('inbox', '--kind', 'agent'),
      (await project.json<{ suspended: unknown }>('status')).suspended,
      (await project.json<{ suspended: unknown }>('agent', 'show', 'ada')).suspended,
      (await project.with({ cwd: '/' }).json<{ suspended: unknown }[]>('agent', 'list')).map(
        (agent) => agent.suspended,
      ),
    ];
    expect(await read()).toMatchObject([
      [{ kind: 'agent', task_id: null, command: 'forge agent resume ada' }],
      [suspended],
      suspended,
      [suspended],
    ]);
    for (const command of [['inbox'], ['status'], ['agent', 'list'], ['agent', 'show', 'ada']])
      expect((await project.run(...command)).stdout).toContain('npm install -g @openai/codex');
    // A dispatch says so too, and does not wait for ever.
    const { exit, stderr } = await project.run('dispatch', '--until-empty');
    expect({ exit, stderr }).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('ada is suspended until'),
    });
    const report = await project.json<Report>('report', '--since', 'today');
    expect(report).toMatchObject({
      landed: [],
      not_landed: [{ task_id: id, kind: 'open', agent: 'ada', command: `forge task show ${id}` }],
      suspended: [suspended],
      cost: { usd: null, unknown: report.cost.runs, input_tokens: null },
      by_agent: [{ agent: 'ada', runs: report.cost.runs }],
    });
    expect((await project.run('report')).stdout).toContain('0 landed, 1 did not, 1 agent suspended\n');
    expect((await project.fails('report', '--since', 'tomorrow')).error).toMatchObject({
      code: 'invalid_input',
      hint: 'yesterday, today, 12h, 7d, 2026-03-01 or 2026-03-01T08:30',
    });
    expect((await project.fails('report', '--until', 'yesterday')).error.code).toBe('invalid_input');
    await project.json('agent', 'resume', 'ada');
    expect(await read()).toEqual([[], [], null, [null]]);
    expect(await project.show(id)).toMatchObject({ state: 'todo', assignee: null });
  });
});

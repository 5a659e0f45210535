import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { InboxItem } from '#contract/inbox-operations.ts';
import { forgeProject } from '../support/forge-cli.ts';

describe('forge inbox', () => {
  it('has what waits for a person, with the command that answers it, and forgets what was answered', async () => {
    await using project = await forgeProject();
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
      `merge: forge task transition ${passed.id} merging`,
      `postponed: forge run ${dirty.id} --merge`,
    ]);
    expect(await items('--kind', 'merge')).toEqual([`merge: forge task transition ${passed.id} merging`]);

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
});

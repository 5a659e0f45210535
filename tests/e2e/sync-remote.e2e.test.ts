import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeClones, titlesAt, titlesIn, titlesOf } from '../support/git-clones.ts';
import { shareOf } from '../support/share-of.ts';

describe('[D10] forge sync in standard mode', () => {
  it('leaves a working tree that git pull accepts, and its advice works to the letter', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    await a.create('from a');
    await a.commitTasks();
    a.git('push', '--quiet', 'origin', 'main');
    await b.create('from b');
    const synced = await b.run('sync');
    expect(synced.stdout).toContain('Joined in: 1 new');
    const [, advice = ''] = /Next: (.*)$/m.exec(synced.stdout) ?? [];
    expect(advice).toBe('forge commit, git pull, git push');
    expect(b.git('status', '--porcelain')).toBe('');
    expect(await titlesOf(b)).toEqual(['from a', 'from b']);
    await b.commitTasks();
    b.git('pull', '--quiet');
    b.git('push', '--quiet', 'origin', 'main');
    expect(titlesAt(b)).toEqual(['from a', 'from b']);
    // Without a change of one's own there is nothing but the pull.
    const second = await a.run('sync');
    expect(second.stdout).toContain('Your branch has them after the next git pull');
    a.git('pull', '--quiet');
    expect(titlesIn(a.read('.forge/tasks.jsonl'))).toEqual(['from a', 'from b']);
    expect((await a.run('sync')).stdout).toBe('Nothing new came in\n');
  });

  it('joins the tasks of every branch that the clone fetches, each content once', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('claimed elsewhere');
    await a.commitTasks();
    a.git('push', '--quiet', 'origin', 'main');
    b.git('pull', '--quiet');
    a.git('switch', '--quiet', '-c', 'feature/one');
    await a.json('claim', id);
    await a.commitTasks();
    a.git('branch', 'feature/two');
    a.git('push', '--quiet', 'origin', 'feature/one', 'feature/two');
    expect(await b.json('sync')).toMatchObject({ updated: 1, created: 0 });
    expect(await b.json('task', 'show', id)).toMatchObject({ status: 'in_progress' });
    expect(await b.json('sync')).toMatchObject({ updated: 0, created: 0 });
    expect(b.git('status', '--porcelain')).toBe('');
  });
});

describe('[T14-19] tasks that no pull brings', () => {
  it.each(
    shareOf(
      [
        ['a branch of a colleague', 'feature/one'],
        ['the data branch from before the move to standard mode', 'forge-data'],
      ],
      2,
    ),
  )('%s: forge sync names the commit, which takes them in', async (_name, branch) => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    a.git('switch', '--quiet', '-c', branch);
    await a.create('elsewhere');
    await a.commitTasks();
    a.git('push', '--quiet', 'origin', branch);
    const { stdout } = await b.run('sync');
    expect(stdout).toContain('Joined in: 1 new');
    expect(stdout).toContain('Next: forge commit, git pull, git push');
    await b.commitTasks();
    expect(titlesAt(b)).toEqual(['elsewhere']);
    // The same tasks in the branch that a pull brings: there is nothing to commit.
    const c = await world.addClone('c');
    b.git('push', '--quiet', 'origin', 'main');
    a.git('switch', '--quiet', 'main');
    a.git('pull', '--quiet');
    await a.create('in both');
    await a.commitTasks();
    a.git('push', '--quiet', '--force', 'origin', 'main', `main:${branch}`);
    expect((await c.run('sync')).stdout).toContain('Your branch has them after the next git pull');
  });
});

describe('[D11] a remote that cannot be reached', () => {
  it.each([['standard', ['init']] as const, ['branch', ['init', '--branch', 'forge-data']] as const])(
    'is an error in %s mode, and nothing looks exchanged',
    async (_mode, init) => {
      await using world = await forgeClones(['a'], { init });
      const { a } = world.clone;
      await a.create('mine');
      renameSync(world.remote, `${world.remote}-away`);
      const { exit, stdout, stderr } = await a.run('sync');
      expect({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
      expect(stderr).toContain('Nothing was exchanged. Could not fetch from origin');
      expect(stderr).toContain('forge sync --offline');
      expect((await a.run('sync', '--offline')).exit).toBe(0);
      expect(await a.run('sync', '--remote', 'elsewhere')).toMatchObject({ exit: 3 });
      expect(await titlesOf(a)).toEqual(['mine']);
    },
  );
});

import { expect, it } from 'vitest';
import { forgeClones, type Clone } from './support/git-clones.ts';
import { shareOf } from './support/share-of.ts';

it.for(
  shareOf(
    [
      ['a close', ['task', 'close', '--reason', 'R1']],
      ['a claim', ['claim', '--actor', 'a1']],
    ] as const,
    2,
  ),
)(
  'F13 %s that a third clone has, and that falls against a branch whose writer never saw it, is told in all clones',
  async ([, [first, ...words]]) => {
    await using world = await forgeClones(['a', 'b', 'c']);
    const { a, b, c } = world.clone;
    const { id } = await a.create('T0');
    await a.commitTasks();
    a.git('push', '--quiet', 'origin', 'HEAD:main');
    for (const clone of [b, c]) clone.git('pull', '--quiet', 'origin', 'main');
    const [verb = '', ...flags] = first === 'task' ? words : ['', ...words];
    await a.run(...[first, verb, id, ...flags].filter((word) => word !== ''));
    await b.run('claim', id, '--actor', 'b1');
    await b.run('release', id, '--actor', 'b1');
    await b.run('claim', id, '--actor', 'b2');
    await a.commitTasks();
    a.git('push', '--quiet', 'origin', 'HEAD:main');
    c.git('pull', '--quiet', 'origin', 'main');
    await b.commitTasks();
    b.git('push', '--quiet', 'origin', 'HEAD:b');
    await c.run('sync');
    await c.commitTasks();
    c.git('push', '--quiet', 'origin', 'HEAD:main');
    for (const clone of [a, b]) clone.git('pull', '--quiet', '--no-edit', 'origin', 'main');
    expect(await Promise.all([a, b, c].map(lostLives))).toEqual([1, 1, 1]);
  },
);

async function lostLives(clone: Clone): Promise<number> {
  const { stdout } = await clone.run('conflicts', '--json');
  return (JSON.parse(stdout) as { name: string }[]).filter(({ name }) => name === 'life').length;
}

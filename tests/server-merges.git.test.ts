import { describe, expect, it } from 'vitest';
import type { Clone } from './support/git-clones.ts';
import { combine, shareOf } from './support/share-of.ts';
import { endRebase, mergeThere, MERGES, settle, SIDES } from './support/server-merge.ts';
import { threeClones } from './support/three-clones.ts';

type Words = readonly string[];
/** What is written before the branches, on the first and on the second. */
interface Moves {
  readonly before?: Words;
  readonly first: Words;
  readonly second: Words;
}
const MOVES: readonly (readonly [string, Moves])[] = [
  [
    'park and block',
    {
      first: ['task', 'update', 'ID', '--state', 'backlog'],
      second: ['task', 'transition', 'ID', 'blocked', '--reason', 'key'],
    },
  ],
  [
    'block and release',
    {
      before: ['claim', 'ID'],
      first: ['task', 'transition', 'ID', 'blocked', '--reason', 'key'],
      second: ['release', 'ID', '--force'],
    },
  ],
  [
    'release and block',
    {
      before: ['claim', 'ID'],
      first: ['release', 'ID', '--force'],
      second: ['task', 'transition', 'ID', 'blocked', '--reason', 'key'],
    },
  ],
];

async function run(clone: Clone, id: string, words: Words): Promise<void> {
  await clone.run(...words.map((word) => (word === 'ID' ? id : word)));
  await clone.commitTasks();
}

function push(clone: Clone, branch: string): void {
  clone.git('push', '--quiet', 'origin', `HEAD:${branch}`);
}

async function lostLives(clone: Clone): Promise<number> {
  const { stdout } = await clone.run('conflicts', '--json');
  return (JSON.parse(stdout) as { name: string }[]).filter(({ name }) => name === 'life').length;
}

async function exchange(clones: readonly Clone[]): Promise<void> {
  for (const clone of [...clones, ...clones]) {
    clone.git('switch', '--quiet', 'main');
    clone.git('pull', '--quiet', '--no-edit');
    await clone.commitTasks();
    clone.git('push', '--quiet');
  }
}

const SETTLED = combine(MERGES, combine(SIDES, MOVES)).map(
  ([by, [side, [what, moves]]]) => [by, what, side, moves] as const,
);

describe('a server that settles a conflict', () => {
  it.for(shareOf(SETTLED, 14))(
    'by a %s of %s and leaves %s makes no state vanish untold',
    async ([by, , side, { before, first, second }]) => {
      const { world, a, b, g, id } = await threeClones();
      await using _ = world;
      if (before !== undefined) await run(a, id, before);
      push(a, 'main');
      for (const clone of [b, g]) clone.git('pull', '--quiet');
      for (const [clone, branch, words] of [
        [a, 'pa', first],
        [b, 'pb', second],
      ] as const) {
        clone.git('switch', '--quiet', '--create', branch);
        await run(clone, id, words);
        push(clone, branch);
      }
      expect(mergeThere(g, 'pa', by)).toBe(true);
      if (by === 'rebase') endRebase(g, 'pa');
      expect(mergeThere(g, 'pb', by)).toBe(false);
      settle(g, side, by);
      if (by === 'rebase') endRebase(g, 'pb');
      g.git('push', '--quiet', 'origin', 'main');
      await exchange([a, b]);
      expect(await Promise.all([a, b].map(lostLives))).toEqual([1, 1]);
    },
  );
});

describe('a state whose writer had seen the one before', () => {
  it.for(shareOf(MERGES, 3))('is no loss of that one after a %s on a server', async (by) => {
    const { world, a, b, g, id } = await threeClones();
    await using _ = world;
    await run(a, id, ['claim', 'ID']);
    push(a, 'main');
    b.git('pull', '--quiet');
    b.git('switch', '--quiet', '--create', 'pb');
    await run(b, id, ['task', 'transition', 'ID', 'blocked', '--reason', 'key']);
    push(b, 'pb');
    // Main goes on, so that no merge is a fast-forward.
    g.git('pull', '--quiet');
    g.commitFile('code.txt', 'code\n');
    expect(mergeThere(g, 'pb', by)).toBe(true);
    if (by === 'rebase') endRebase(g, 'pb');
    g.git('push', '--quiet', 'origin', 'main');
    await exchange([a, b]);
    expect(await Promise.all([a, b].map(lostLives))).toEqual([0, 0]);
  });

  it('is none where one clone knew it from another branch', async () => {
    const { world, a, b, g, id } = await threeClones();
    await using _ = world;
    a.git('switch', '--quiet', '--create', 'pa');
    await run(a, id, ['task', 'update', 'ID', '--state', 'backlog']);
    push(a, 'pa');
    b.git('fetch', '--quiet');
    b.git('switch', '--quiet', 'pa');
    await b.run('ready');
    b.git('switch', '--quiet', '--create', 'pb', 'main');
    await run(b, id, ['task', 'update', 'ID', '--state', 'todo']);
    push(b, 'pb');
    expect(mergeThere(g, 'pa', 'merge')).toBe(true);
    if (!mergeThere(g, 'pb', 'merge')) settle(g, 'the later line', 'merge');
    g.git('push', '--quiet', 'origin', 'main');
    await exchange([a, b]);
    expect(await Promise.all([a, b].map(lostLives))).toEqual([0, 0]);
  });
});

import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { readJson } from '#kernel/read-json.ts';
import { forgeClones, type Clone } from './support/git-clones.ts';
import { shareOf } from './support/share-of.ts';

const FILE = '.forge/tasks.jsonl';

/** Of the line of one task, with its stamps. */
function edit(clone: Clone, id: string, change: JsonObject): void {
  const lines = clone.read(FILE).split('\n');
  const written = lines.map((text) =>
    text.includes(`"id":"${id}"`) ? JSON.stringify({ ...(readJson(text) as JsonObject), ...change }) : text,
  );
  clone.write(FILE, written.join('\n'));
}

/** Without hooks: the commit has the line as a person wrote it. */
function commit(clone: Clone): void {
  clone.git('commit', '--quiet', '--no-verify', '--all', '--message', 'by hand');
}

async function withTask() {
  const world = await forgeClones(['a', 'b']);
  const { a, b } = world.clone;
  const { id } = await a.create('first');
  await a.json('task', 'update', id, '--label-add', 'x');
  await a.commitTasks();
  a.git('push', '--quiet');
  b.git('pull', '--quiet');
  return { world, a, b, id };
}

const FIRST = { title: 'R1', description: 'by hand', metadata: { k: 'v' } };

/** A branch with an edit that Forge has seen, and another one of the same line that is not committed. */
async function withFeature() {
  const { world, a, id } = await withTask();
  a.git('switch', '--quiet', '-c', 'feature');
  edit(a, id, FIRST);
  commit(a);
  expect(await a.show(id)).toMatchObject(FIRST);
  edit(a, id, { labels: [] });
  return { world, a, id };
}

/** Git compares with a commit that our side never had: what stands on our side was not made of that. */
describe('an edit by hand that is not on this branch is not taken back by what was written upon it', () => {
  it.each(
    shareOf(
      [
        { name: 'git cherry-pick', bring: (a: Clone) => void a.git('cherry-pick', 'feature') },
        {
          name: 'git rebase --onto',
          bring: (a: Clone) => void a.git('rebase', '--quiet', '--onto', 'main', 'feature~1', 'feature'),
        },
      ],
      2,
    ),
  )('$name', async ({ bring }) => {
    const { world, a, id } = await withFeature();
    await using _ = world;
    commit(a);
    expect(await a.show(id)).toMatchObject({ ...FIRST, labels: [] });
    a.git('switch', '--quiet', 'main');
    bring(a);
    expect(await a.show(id)).toMatchObject({ ...FIRST, labels: [] });
    expect(await a.json('conflicts')).toEqual([]);
  });

  it.each(
    shareOf(
      [
        {
          name: 'git stash pop',
          ways: [
            ['stash', '--quiet'],
            ['switch', '--quiet', 'main'],
            ['stash', 'pop'],
          ],
        },
        { name: 'git switch -m', ways: [['switch', '--quiet', '--merge', 'main']] },
      ],
      2,
    ),
  )('$name', async ({ ways }) => {
    const { world, a, id } = await withFeature();
    await using _ = world;
    for (const way of ways) a.git(...way);
    expect(await a.show(id)).toMatchObject({ ...FIRST, labels: [] });
    expect(await a.json('conflicts')).toEqual([]);
  });

  it('but a revert of the edit takes it back', async () => {
    const { world, a, id } = await withTask();
    await using _ = world;
    edit(a, id, { title: 'R1' });
    commit(a);
    expect(await a.show(id)).toMatchObject({ title: 'R1' });
    a.git('revert', '--no-edit', 'HEAD');
    expect(await a.show(id)).toMatchObject({ title: 'first' });
  });
});

it.each(shareOf(['squash', 'fixup'], 2))(
  'a change back that `rebase -i` makes a %s of counts',
  async (how) => {
    const { world, a, id } = await withTask();
    await using _ = world;
    for (const title of ['R1', 'R2']) {
      edit(a, id, { title });
      commit(a);
      expect(await a.show(id)).toMatchObject({ title });
    }
    edit(a, id, { title: 'R1' });
    commit(a);
    const editor = `sequence.editor=sed -i -e "2,3s/^pick/${how}/"`;
    a.git('-c', editor, '-c', 'core.editor=true', 'rebase', '--quiet', '--interactive', 'HEAD~3');
    expect(await a.show(id)).toMatchObject({ title: 'R1' });
  },
);

it.each(
  shareOf(
    [
      { name: 'git merge -X ours', settle: (b: Clone) => void b.git('merge', '-X', 'ours', 'origin/main') },
      {
        name: 'the whole file of one side',
        settle: (b: Clone): void => {
          b.tryGit(['merge', '--no-edit', 'origin/main']);
          b.git('checkout', '--ours', '--', FILE);
          commit(b);
        },
      },
    ],
    2,
  ),
)(
  'an edit by hand beside a conflict that a clone without Forge settled stands: $name',
  async ({ settle }) => {
    const { world, a, b, id } = await withTask();
    await using _ = world;
    const other = await a.create('other');
    await a.commitTasks();
    a.git('push', '--quiet');
    rmSync(b.path, { recursive: true });
    const plain = await world.addClone('b', { init: false });
    edit(a, id, { title: 'edited' });
    commit(a);
    a.git('push', '--quiet');
    edit(plain, other.id, { title: 'their edit' });
    commit(plain);
    plain.git('fetch', '--quiet');
    settle(plain);
    plain.git('push', '--quiet');
    a.git('pull', '--quiet');
    expect(await a.show(id)).toMatchObject({ title: 'edited' });
    expect(await a.show(other.id)).toMatchObject({ title: 'their edit' });
  },
);

import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import type { Clone } from './support/git-clones.ts';
import { shareOf } from './support/share-of.ts';
import { threeClones } from './support/three-clones.ts';

const FILE = '.forge/tasks.jsonl';
type Line = Record<string, unknown>;
/** As an editor leaves a line, and as a tool does that knows nothing of stamps. */
const FORMS = [['with its stamps'], ['without stamps']] as const;
type Form = (typeof FORMS)[number][0];

function edit(clone: Clone, title: string, form: Form): void {
  const { _v, ...plain } = JSON.parse(clone.read(FILE)) as Line;
  const line = { ...plain, title, ...(form === 'with its stamps' && _v !== undefined && { _v }) };
  clone.write(FILE, `${JSON.stringify(line)}\n`);
  commit(clone);
}

function commit(clone: Clone): void {
  clone.git('commit', '--quiet', '--no-verify', '--all', '--message', 'by hand');
}

function pull(clone: Clone): void {
  clone.git('pull', '--quiet', '--no-edit');
}

async function titleOf(clone: Clone, id: string): Promise<string> {
  return (JSON.parse((await clone.run('task', 'show', id, '--json')).stdout) as Task).title;
}

async function lostIn(clone: Clone): Promise<unknown> {
  return JSON.parse((await clone.run('conflicts', '--json')).stdout);
}

async function expectAll(clones: readonly Clone[], id: string, title: string): Promise<void> {
  for (const clone of clones) expect([await titleOf(clone, id), await lostIn(clone)]).toEqual([title, []]);
}

/** Both clones with Forge know the task. */
async function lookedAt() {
  const clones = await threeClones();
  for (const clone of [clones.a, clones.b]) expect(await titleOf(clone, clones.id)).toBe('T0');
  return clones;
}

describe.for(FORMS)('[D1] a merge that is made elsewhere, of lines %s', ([form]) => {
  it.for(shareOf([['T0'], ['T1']] as const, 2))(
    'does not bring back what its branch began with, after %s',
    async ([title]) => {
      const { world, a, b, g, id } = await lookedAt();
      await using _ = world;
      edit(g, 'X', form);
      g.git('push', '--quiet');
      pull(a);
      expect(await titleOf(a, id)).toBe('X');
      g.git('switch', '--quiet', '--create', 'feature');
      g.write('code.txt', 'code\n');
      g.git('add', 'code.txt');
      commit(g);
      g.git('switch', '--quiet', 'main');
      edit(g, title, form);
      g.git('merge', '--quiet', '--no-ff', '--no-edit', 'feature');
      g.git('push', '--quiet');
      for (const clone of [a, b]) pull(clone);
      await expectAll([a, b], id, title);
    },
  );

  it.for(shareOf([['T0'], ['T1'], ['T2'], ['T3']] as const, 4))(
    'counts as it was settled by a person: %s',
    async ([title]) => {
      const { world, a, b, g, id } = await lookedAt();
      await using _ = world;
      g.git('switch', '--quiet', '--create', 'feature');
      edit(g, 'T1', form);
      g.git('switch', '--quiet', 'main');
      edit(g, 'T2', form);
      g.git('push', '--quiet');
      pull(a);
      expect(await titleOf(a, id)).toBe('T2');
      expect(g.tryGit(['merge', '--quiet', 'feature']).exit).toBe(1);
      g.git('checkout', '--quiet', '--ours', '--', FILE);
      edit(g, title, form);
      g.git('push', '--quiet');
      for (const clone of [a, b]) pull(clone);
      await expectAll([a, b], id, title);
    },
  );
});

describe('[D1] a line without stamps', () => {
  it('replaces what stood there also in a clone that learns of the task by it', async () => {
    const { world, a, g, id } = await lookedAt();
    await using _ = world;
    await a.json('task', 'update', id, '--title', 'T1');
    await a.run('commit');
    a.git('push', '--quiet');
    pull(g);
    edit(g, 'T0', 'without stamps');
    g.git('push', '--quiet');
    const fresh = await world.addClone('fresh');
    expect(await titleOf(fresh, id)).toBe('T0');
    await fresh.run('commit');
    fresh.git('push', '--quiet');
    pull(a);
    await expectAll([a, fresh], id, 'T0');
  });

  it.for(shareOf([[['T1']], [['T1', 'T0', 'T1']], [['T1', 'T0', 'T1', 'T0']]] as const, 3))(
    'is what a later command was written upon, also where it comes again: %o',
    async ([titles]) => {
      const { world, a, b, g, id } = await lookedAt();
      await using _ = world;
      for (const title of titles) edit(g, title, 'without stamps');
      g.git('push', '--quiet');
      pull(b);
      expect(await titleOf(b, id)).toBe(titles.at(-1));
      await b.json('task', 'update', id, '--title', 'T2');
      await b.run('commit');
      pull(a);
      await a.run('commit');
      a.git('push', '--quiet');
      pull(b);
      await expectAll([b], id, 'T2');
    },
  );
});

describe('[D1] a merge made elsewhere that keeps a side whose lines have no stamps', () => {
  it.for(
    shareOf(
      [
        ['nothing of the task', {}],
        ['another value of the task', { description: 'by a script' }],
      ] as const,
      2,
    ),
  )('takes back nothing that the other side wrote, where that side changed %s', async ([, more]) => {
    const { world, a, g, id } = await lookedAt();
    await using _ = world;
    const other = await a.create('Other');
    await a.run('commit');
    a.git('push', '--quiet');
    pull(g);
    g.git('switch', '--quiet', '--create', 'script');
    const lines = g.read(FILE).trimEnd().split('\n');
    const plain = lines.map((line) => {
      const { _v, ...rest } = JSON.parse(line) as Line;
      return JSON.stringify(rest['id'] === id ? { ...rest, ...more } : { ...rest, title: 'by a script' });
    });
    g.write(FILE, `${plain.join('\n')}\n`);
    commit(g);
    await a.json('task', 'update', id, '--title', 'TA', '--label-add', 'la');
    await a.json('dep', 'add', id, other.id);
    await a.json('task', 'close', id, '--reason', 'done');
    await a.run('commit');
    a.git('push', '--quiet');
    g.git('fetch', '--quiet');
    expect(g.tryGit(['merge', '--quiet', '--no-edit', 'origin/main']).exit).toBe(1);
    g.git('checkout', '--quiet', '--ours', '--', FILE);
    commit(g);
    g.git('push', '--quiet', 'origin', 'script:main');
    pull(a);
    expect(await a.json('task', 'show', id)).toMatchObject({
      title: 'TA',
      labels: ['la'],
      status: 'closed',
      dependencies: [{ id: other.id }],
      ...more,
    });
    expect(await titleOf(a, other.id)).toBe('by a script');
    expect(await lostIn(a)).toEqual([]);
  });
});

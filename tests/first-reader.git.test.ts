import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeClones, type Clone } from './support/git-clones.ts';

const FILE = '.forge/tasks.jsonl';

type Line = Record<string, unknown>;

/** A person without Forge commits an edit of the one line at the remote; `bare` without its stamps, as some tools write. */
function edit(clone: Clone, values: Line, how: 'whole' | 'bare' = 'whole'): void {
  const { _v, ...plain } = JSON.parse(clone.read(FILE)) as Line;
  const line = { ...plain, ...values, ...(how === 'whole' && _v !== undefined && { _v }) };
  clone.write(FILE, `${JSON.stringify(line)}\n`);
  clone.git('commit', '--quiet', '--no-verify', '--all', '--message', 'by hand');
  clone.git('push', '--quiet');
}

function take(clone: Clone): void {
  clone.git('pull', '--quiet', '--no-edit');
}

async function exchange(clone: Clone): Promise<void> {
  await clone.run('commit');
  take(clone);
  clone.git('push', '--quiet');
}

async function show(clone: Clone, id: string): Promise<Task> {
  return JSON.parse((await clone.run('task', 'show', id, '--json')).stdout) as Task;
}

async function expectBoth(clones: readonly Clone[], id: string, values: Partial<Task>): Promise<void> {
  for (const clone of clones) {
    expect(await show(clone, id)).toMatchObject(values);
    expect(JSON.parse((await clone.run('conflicts', '--json')).stdout)).toEqual([]);
  }
}

/** Two clones with Forge, and one of a person without. */
async function threeClones() {
  const world = await forgeClones(['a']);
  const { a } = world.clone;
  const { id } = await a.create('T0');
  await a.commitTasks();
  a.git('push', '--quiet', 'origin', 'HEAD:main');
  const b = await world.addClone('b');
  const g = await world.addClone('g', { init: false });
  return { world, a, b, g, id };
}

const BACK: readonly (readonly [string, Line, Line])[] = [
  ['a title', { title: 'X' }, { title: 'T0' }],
  ['a priority', { priority: 0 }, { priority: 2 }],
  ['a status', { status: 'closed' }, { status: 'open' }],
  ['a key of metadata', { metadata: { k: 1 } }, { metadata: {} }],
  ['a label', { labels: ['l'] }, { labels: [] }],
];

describe('an edit that is taken back before the first clone that writes the line anew has heard of it', () => {
  it.for(BACK)('%s: the last value stands everywhere, and none is told as lost', async ([, forth, back]) => {
    const { world, a, b, g, id } = await threeClones();
    await using _ = world;
    edit(g, forth);
    take(b);
    expect(await show(b, id)).toMatchObject(forth);
    edit(g, back);
    await a.json('task', 'update', id, '--description', 'of a');
    await exchange(a);
    await exchange(b);
    take(a);
    await expectBoth([a, b], id, { ...back, description: 'of a' });
  });

  it.for(BACK)('%s: also where the driver merges', async ([, forth, back]) => {
    const { world, a, b, g, id } = await threeClones();
    await using _ = world;
    edit(g, forth);
    take(b);
    await b.run('task', 'update', id, '--type', 'bug');
    await b.run('commit');
    edit(g, back);
    await a.json('task', 'update', id, '--description', 'of a');
    await exchange(a);
    await exchange(b);
    take(a);
    await expectBoth([a, b], id, { ...back, type: 'bug', description: 'of a' });
  });
});

describe('a line without stamps, after edits that the first reader never had', () => {
  it.for([['a first'], ['b first']])('each commit counts for what it changed, %s', async ([order]) => {
    const { world, a, b, g, id } = await threeClones();
    await using _ = world;
    await b.json('task', 'update', id, '--title', 'T2');
    await exchange(b);
    take(g);
    edit(g, { priority: 0 });
    edit(g, { title: 'T0', github_issue: 2 }, 'bare');
    for (const clone of order === 'a first' ? [a, b] : [b, a]) await exchange(clone);
    for (const clone of [b, a]) await exchange(clone);
    await expectBoth([a, b], id, { title: 'T0', priority: 0, github_issue: 2 });
  });

  it('takes back nothing that a command wrote since, by merge', async () => {
    const { world, a, g, id } = await threeClones();
    await using _ = world;
    await a.json('task', 'update', id, '--priority', '0', '--label-add', 'l');
    const { _v, ...plain } = JSON.parse(a.read(FILE)) as Line;
    a.write(
      FILE,
      `${JSON.stringify({ ...plain, description: 'D', updated_at: new Date().toISOString() })}\n`,
    );
    expect(await show(a, id)).toMatchObject({ priority: 0, labels: ['l'], description: 'D' });
    a.git('commit', '--quiet', '--no-verify', '--message', 'by a script', FILE);
    a.git('push', '--quiet');
    take(g);
    edit(g, { type: 'bug' });
    await a.run('commit');
    take(a);
    expect(await show(a, id)).toMatchObject({ priority: 0, labels: ['l'], description: 'D', type: 'bug' });
  });

  it('notes what it replaced', async () => {
    const { world, a, id } = await threeClones();
    await using _ = world;
    await a.json('task', 'update', id, '--github-issue', '1');
    await a.json('task', 'update', id, '--title', 'newer than the issue');
    await a.run('commit');
    a.git('switch', '--quiet', '-c', 'side');
    const { _v, ...plain } = JSON.parse(a.read(FILE)) as Line;
    a.write(FILE, `${JSON.stringify({ ...plain, github_issue: 2 })}\n`);
    await a.run('commit');
    a.git('switch', '--quiet', 'main');
    await expectBoth([a], id, { github_issue: 2 });
  });

  it('is one also where it lost only its seal', async () => {
    const { world, a, id } = await threeClones();
    await using _ = world;
    const write = (values: Line, unseal: boolean): void => {
      const { _v, ...plain } = JSON.parse(a.read(FILE)) as Line;
      const { _v: seal, ...stamps } = _v as Line;
      a.write(
        FILE,
        `${JSON.stringify({ ...plain, ...values, _v: unseal ? stamps : { ...stamps, _v: seal } })}\n`,
      );
    };
    write({ status: 'closed' }, false);
    expect(await show(a, id)).toMatchObject({ status: 'closed' });
    write({ status: 'open' }, true);
    expect(await show(a, id)).toMatchObject({ status: 'open' });
  });
});

describe('in branch mode', () => {
  it.for([['a first'], ['b first']])(
    'each commit of the data branch counts for what it changed, %s',
    async ([order]) => {
      await using world = await forgeClones(['a'], { init: ['init', '--branch', 'forge-data'] });
      const { a } = world.clone;
      const { id } = await a.create('T0');
      await a.run('sync');
      const b = await world.addClone('b');
      await b.run('sync');
      await b.json('task', 'update', id, '--title', 'T2');
      await b.run('sync');
      const g = await world.addClone('g', { init: false });
      g.git('switch', '--quiet', 'forge-data');
      edit(g, { priority: 0 });
      edit(g, { title: 'T0', github_issue: 2 }, 'bare');
      for (const clone of order === 'a first' ? [a, b, a] : [b, a, b]) await clone.run('sync');
      await expectBoth([a, b], id, { title: 'T0', priority: 0, github_issue: 2 });
    },
  );
});

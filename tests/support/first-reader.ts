import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeClones, type Clone } from './git-clones.ts';
import { threeClones } from './three-clones.ts';
import { inSoak, shareOf } from './share-of.ts';

const FILE = '.forge/tasks.jsonl';

type Line = Record<string, unknown>;

interface How {
  readonly pause: number;
  /** Without its stamps, as some tools write. */
  readonly bare?: boolean;
}

/** A person without Forge commits an edit of the one line at the remote. */
async function edit(clone: Clone, values: Line, { pause, bare = false }: How): Promise<void> {
  const { _v, ...plain } = JSON.parse(clone.read(FILE)) as Line;
  const line = { ...plain, ...values, ...(!bare && _v !== undefined && { _v }) };
  clone.write(FILE, `${JSON.stringify(line)}\n`);
  clone.git('commit', '--quiet', '--no-verify', '--all', '--message', 'by hand');
  clone.git('push', '--quiet');
  await sleep(pause);
}

async function take(clone: Clone, pause: number, how: 'merge' | 'rebase' = 'merge'): Promise<void> {
  clone.git('pull', '--quiet', ...(how === 'rebase' ? ['--rebase'] : ['--no-rebase', '--no-edit']));
  await sleep(pause);
}

async function exchange(clone: Clone, pause: number): Promise<void> {
  await clone.run('commit');
  await take(clone, pause);
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

const BACK: readonly (readonly [string, Line, Line])[] = [
  ['a title', { title: 'X' }, { title: 'T0' }],
  ['a priority', { priority: 0 }, { priority: 2 }],
  ['a status', { status: 'closed' }, { status: 'open' }],
  ['a key of metadata', { metadata: { k: 1 } }, { metadata: {} }],
  ['a label', { labels: ['l'] }, { labels: [] }],
];

const DRIVEN = BACK.filter(([name]) => name === 'a title' || name === 'a label');

/**
 * Stories of edits that reach one clone late. Between what people do lies time, and git notes in seconds when HEAD moved:
 * what is looked at and committed within one second is judged by other rules than the same a while later.
 */
export function tellFirstReaders(pause: number): void {
  describe.concurrent('an edit that is taken back before the first clone that writes the line anew has heard of it', () => {
    it.for(shareOf(BACK, 5))(
      '%s: the last value stands everywhere, and none is told as lost',
      async ([, forth, back]) => {
        const { world, a, b, g, id } = await threeClones();
        await using _ = world;
        await edit(g, forth, { pause });
        await take(b, pause);
        expect(await show(b, id)).toMatchObject(forth);
        await edit(g, back, { pause });
        await a.json('task', 'update', id, '--description', 'of a');
        await exchange(a, pause);
        await exchange(b, pause);
        await take(a, pause);
        await expectBoth([a, b], id, { ...back, description: 'of a' });
      },
    );

    it.for(shareOf(DRIVEN, 2))('%s: also where the driver merges', async ([, forth, back]) => {
      const { world, a, b, g, id } = await threeClones();
      await using _ = world;
      await edit(g, forth, { pause });
      await take(b, pause);
      await b.run('task', 'update', id, '--type', 'bug');
      await b.run('commit');
      await edit(g, back, { pause });
      await a.json('task', 'update', id, '--description', 'of a');
      await exchange(a, pause);
      await exchange(b, pause);
      await take(a, pause);
      await expectBoth([a, b], id, { ...back, type: 'bug', description: 'of a' });
    });
  });

  describe.concurrent('a line without stamps, after edits that the first reader never had', () => {
    it.for(shareOf([['a first'], ['b first']], 2))(
      'each commit counts for what it changed, %s',
      async ([order]) => {
        const { world, a, b, g, id } = await threeClones();
        await using _ = world;
        await b.json('task', 'update', id, '--title', 'T2');
        await exchange(b, pause);
        await take(g, pause);
        await edit(g, { priority: 0 }, { pause });
        await edit(g, { title: 'T0', github_issue: 2 }, { pause, bare: true });
        for (const clone of order === 'a first' ? [a, b] : [b, a]) await exchange(clone, pause);
        for (const clone of [b, a]) await exchange(clone, pause);
        await expectBoth([a, b], id, { title: 'T0', priority: 0, github_issue: 2 });
      },
    );

    it.for(shareOf([['merge'], ['rebase']] as const, 2))(
      'takes back nothing that a command wrote since, by %s',
      async ([how]) => {
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
        await take(g, pause);
        await edit(g, { type: 'bug' }, { pause });
        await a.run('commit');
        await sleep(pause);
        await take(a, pause, how);
        expect(await show(a, id)).toMatchObject({
          priority: 0,
          labels: ['l'],
          description: 'D',
          type: 'bug',
        });
      },
    );

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

  describe.concurrent('an edit that was written over on a branch of its branch', () => {
    it.for(shareOf([['the driver'], ['git alone']], 2))(
      'does not come back when both are merged by %s',
      async ([who]) => {
        const { world, a, id } = await threeClones();
        await using _ = world;
        const editHere = async (values: Line): Promise<void> => {
          a.write(FILE, `${JSON.stringify({ ...(JSON.parse(a.read(FILE)) as Line), ...values })}\n`);
          expect(await show(a, id)).toMatchObject(values);
          a.git('commit', '--quiet', '--no-verify', '--all', '--message', 'by hand');
          await sleep(pause);
        };
        if (who === 'the driver') await editHere({ title: 'T1' });
        a.git('switch', '--quiet', '--create', 'topic');
        await editHere({ title: 'first' });
        a.git('switch', '--quiet', '--create', 'spike');
        await editHere({ title: 'second' });
        a.git('switch', '--quiet', 'main');
        await sleep(pause);
        await a.run('commit');
        await sleep(pause);
        // Another commit on it, so that git tells of the branch first.
        const other = a.git('commit-tree', '-p', 'topic', '-m', 'other', 'topic^{tree}');
        a.git('update-ref', 'refs/heads/topic', other);
        for (const branch of ['topic', 'spike']) {
          const settings = who === 'git alone' ? ['-c', 'merge.forge.driver=git merge-file %A %O %B'] : [];
          const merged = a.tryGit([...settings, 'merge', '--quiet', '--no-edit', branch]);
          expect(await show(a, id)).toMatchObject({ title: 'second' });
          if (merged.exit !== 0) await a.run('commit');
          await sleep(pause);
        }
        await expectBoth([a], id, { title: 'second' });
      },
    );
  });

  inSoak(() => {
    describe.concurrent('in branch mode', () => {
      it.for(shareOf([['a first'], ['b first']], 2))(
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
          await edit(g, { priority: 0 }, { pause });
          await edit(g, { title: 'T0', github_issue: 2 }, { pause, bare: true });
          for (const clone of order === 'a first' ? [a, b, a] : [b, a, b]) await clone.run('sync');
          await expectBoth([a, b], id, { title: 'T0', priority: 0, github_issue: 2 });
        },
      );
    });
  });
}

import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeProjectHere } from '../support/forge-here.ts';
import { expectSettled, forgeClones, linesOf, settle, titlesIn, titlesOf } from '../support/git-clones.ts';

describe('forge gc', () => {
  it('--prune forgets what was deleted long ago, and nothing else', async () => {
    await using project = await forgeProjectHere();
    const old = {
      id: 'fg-dead',
      title: '',
      description: '',
      status: 'open',
      priority: 2,
      type: 'task',
      assignee: null,
      parent_id: null,
      dependencies: [],
      labels: [],
      github_issue: null,
      created_at: '2020-01-01T00:00:00.000Z',
      created_by: 'somebody',
      updated_at: '2020-02-01T00:00:00.000Z',
      closed_at: null,
      metadata: {},
      deleted_at: '2020-02-01T00:00:00.000Z',
    };
    await project.write('.forge/tasks.jsonl', `${JSON.stringify(old)}\n`);
    const kept = await project.create('kept', '--label', 'a');
    await project.json('task', 'update', kept.id, '--label-remove', 'a');
    const fresh = await project.create('deleted just now');
    await project.json('task', 'delete', fresh.id);
    await project.json('gc');
    expect(linesOf(await project.read('.forge/tasks.jsonl'))).toHaveLength(3);
    await project.json('task', 'update', kept.id, '--priority', '0');
    expect(await project.json('gc', '--prune', '30')).toMatchObject({
      tasks: { changed: true },
      pruned: { deleted_tasks: 1, removals: 0 },
    });
    const text = await project.read('.forge/tasks.jsonl');
    expect(linesOf(text)).toHaveLength(2);
    expect(text).not.toContain('fg-dead');
    expect(titlesIn(text)).toEqual(['kept']);
    // The removal of a label and the fresh deletion are still known, also to a store that is made anew.
    rmSync(join(project.path, '.git/forge'), { recursive: true });
    await project.run('ready');
    expect((await project.show(kept.id)).labels).toEqual([]);
    expect(await titlesOf(project)).toEqual(['kept']);
    expect(await project.json('export')).toMatchObject({ tasks: { changed: false } });
    for (const days of ['0', '-1', '1.5', 'x'])
      expect((await project.fails('gc', `--prune=${days}`)).error.code).toBe('invalid_input');
  });
});

describe('.forge/history.jsonl', () => {
  interface Entry {
    readonly from_state: string | null;
    readonly to_state: string | null;
    readonly triggered_by: string;
    readonly reason: string | null;
  }

  it('carries who moved a task, when and why, over a rebuild and to the other clone', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('one');
    await a.json('claim', id, '--actor', 'worker-1');
    await settle(world.all);
    await b.json('task', 'close', id, '--force', '--reason', 'shipped', '--actor', 'worker-2');
    await a.json('release', id, '--actor', 'worker-1');
    await settle(world.all);
    const moves = async (clone: typeof a): Promise<string[]> =>
      JSON.parse((await clone.run('task', 'history', id, '--json')).stdout as string)
        .filter((entry: Entry) => entry.to_state !== null && entry.from_state !== null)
        .map((entry: Entry) => `${entry.triggered_by} ${entry.from_state} ${entry.to_state} ${entry.reason}`);
    const before = await moves(a);
    expect(before).toEqual(
      expect.arrayContaining([
        expect.stringContaining('worker-1 todo in_progress'),
        expect.stringContaining('worker-2 in_progress done shipped'),
        expect.stringContaining('worker-1 in_progress todo'),
      ]),
    );
    expect((await moves(b)).toSorted()).toEqual(before.toSorted());
    rmSync(join(b.path, '.git/forge'), { recursive: true });
    expect((await moves(b)).toSorted()).toEqual(before.toSorted());
    await expectSettled(world.all, { titles: ['one'], files: {} });
  });
});

describe('forge conflicts', () => {
  it('[S52] [S53] shows what lost a merge, in both clones alike, and settles it', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('shared');
    await settle(world.all);
    await a.json('task', 'update', id, '--title', 'title of a');
    await b.json('task', 'update', id, '--title', 'title of b', '--priority', '0');
    await a.json('task', 'close', id, '--reason', 'reason of a');
    await b.json('task', 'close', id, '--reason', 'reason of b');
    await settle(world.all);
    await expectSettled(world.all, { titles: ['title of b'], files: {} });
    for (const clone of [a, b]) {
      expect(await clone.show(id)).toMatchObject({ close_reason: 'reason of b', priority: 0 });
      expect(await clone.json('conflicts')).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ id, name: 'title', lost: 'title of a', stands: 'title of b' }),
        ]),
      );
    }
    await a.json('resolve', id, '--field', 'title', '--take-lost');
    expect((await a.show(id)).title).toBe('title of a');
    await settle(world.all);
    await expectSettled(world.all, { titles: ['title of a'], files: {} });
    expect(await b.json('conflicts')).not.toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'title' })]),
    );
  });
});

describe('forge import', () => {
  it.each(['beads', 'backlog-md', 'task-master'])(
    '--from %s: a dry run first, then the same, once',
    async (tool) => {
      await using project = await forgeProjectHere();
      const source = join(project.path, '../source');
      cpSync(join(import.meta.dirname, '../fixtures/import', tool), source, { recursive: true });
      const read = async (
        ...flags: string[]
      ): Promise<{ created: number; tasks: unknown[]; dry_run: boolean }> =>
        JSON.parse((await project.run('import', '--from', tool, source, '--json', ...flags)).stdout);
      const planned = await read('--dry-run');
      expect(planned).toMatchObject({ dry_run: true });
      expect(planned.created).toBeGreaterThan(3);
      expect(await titlesOf(project)).toEqual([]);
      const done = await read();
      expect({ ...done, dry_run: true }).toEqual(planned);
      const titles = await titlesOf(project);
      expect(titles).toHaveLength(planned.created);
      expect(await read()).toMatchObject({ created: 0 });
      expect(await titlesOf(project)).toEqual(titles);
      await project.json('export');
      rmSync(join(project.path, '.git/forge'), { recursive: true });
      expect(await titlesOf(project)).toEqual(titles);
    },
  );

  it('of a file, of a revision, and of what is not there', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    b.git('switch', '--quiet', '-c', 'feat');
    await b.create('on feat');
    b.commitFile('feat.txt');
    b.git('push', '--quiet', 'origin', 'feat');
    a.git('fetch', '--quiet');
    expect(await a.json('import', '--ref', 'origin/feat', '--dry-run')).toMatchObject({
      created: 1,
      dry_run: true,
    });
    expect(await titlesOf(a)).toEqual([]);
    expect(await a.json('import', '--ref', 'origin/feat')).toMatchObject({ created: 1 });
    expect(await a.json('import', join(b.path, '.forge/tasks.jsonl'))).toMatchObject({
      created: 0,
      updated: 0,
    });
    expect(await titlesOf(a)).toEqual(['on feat']);
    expect(a.git('status', '--porcelain')).toBe('');
    const failures = await Promise.all([
      a.fails('import', 'nowhere.jsonl'),
      a.fails('import', '--ref', 'nowhere'),
      a.fails('import', '--from', 'beads'),
      a.fails('import', '--from', 'beads', 'nowhere'),
      a.fails('import', '--from', 'jira', 'x'),
    ]);
    expect(failures.map(({ error }) => error.code)).toEqual([
      'not_found',
      'not_found',
      'invalid_input',
      'not_found',
      'invalid_input',
    ]);
  });
});

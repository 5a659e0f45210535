import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  forgeClones,
  hasFile,
  titlesAt,
  titlesIn,
  titlesOf,
  type Clone,
  type Clones,
} from '../support/git-clones.ts';
import { inSoak, shareOf } from '../support/share-of.ts';

const BRANCH = ['init', '--branch', 'forge-data', '--prefix', 'sh', '--name', 'Shop'];

describe('[D2] a clone of a project in branch mode', () => {
  it('says what to type before init, and init adopts the project with its name, prefix and tasks', async () => {
    await using world = await branchProject();
    const late = await world.addClone('late', { init: false });
    const refused = await late.run('ready');
    expect(refused).toMatchObject({ exit: 5 });
    expect(refused.stderr).toContain('"Shop" is on the branch forge-data');
    expect(refused.stderr).toContain('forge init');
    const made = await late.json<Record<string, unknown>>('init');
    expect(made).toMatchObject({ name: 'Shop', idPrefix: 'sh', mode: 'branch', adopted: true });
    expect(await titlesOf(late)).toEqual(['from a']);
    expect(late.git('status', '--porcelain')).toBe('');
    await late.create('from late');
    expect(await late.json('sync')).toMatchObject({ pushed: true });
    expect(await world.clone.a.json('sync')).toMatchObject({ created: 1 });
    expect(await titlesOf(world.clone.a)).toEqual(['from a', 'from late']);
  });

  it.each(
    shareOf(
      [
        [
          'of a single branch',
          (clone: Clone) =>
            clone.git('config', 'remote.origin.fetch', '+refs/heads/main:refs/remotes/origin/main'),
        ],
        ['that is older than the project', () => undefined],
      ],
      2,
    ),
  )('finds it in a clone %s, where the data branch was never fetched', async (_name, prepare) => {
    await using world = await branchProject();
    const late = await world.addClone('late', { init: false });
    prepare(late);
    late.git('update-ref', '-d', 'refs/remotes/origin/forge-data');
    expect(await late.json('init')).toMatchObject({ idPrefix: 'sh', mode: 'branch', adopted: true });
    expect(await titlesOf(late)).toEqual(['from a']);
  });

  it('[T14-22] a clone of a single branch is told which branches it never fetched, and the advice works', async () => {
    await using world = await forgeClones(['a'], { init: ['init', '--branch', 'data', '--prefix', 'sh'] });
    await world.clone.a.create('from a');
    await world.clone.a.json('sync');
    const late = await world.addClone('late', { init: false });
    late.git('config', 'remote.origin.fetch', '+refs/heads/main:refs/remotes/origin/main');
    late.git('update-ref', '-d', 'refs/remotes/origin/data');
    const { notes } = await late.json<{ notes: string[] }>('init');
    expect(notes.join()).toContain('This clone never fetched these branches of origin: data.');
    const [, advice = ''] = /to have that one: (.*) <name>$/m.exec(notes[0] ?? '') ?? [];
    expect(advice).toBe('forge uninstall --yes, then forge init --branch');
    await late.json('uninstall', '--yes');
    expect(await late.json('init', '--branch', 'data')).toMatchObject({ idPrefix: 'sh', mode: 'branch' });
    expect(await titlesOf(late)).toEqual(['from a']);
    // A clone that has every branch is told nothing of the kind.
    const other = await world.addClone('other', { init: false });
    const made = await other.json<{ notes: string[] }>('init', '--prefix', 'zz');
    expect(made.notes.join()).not.toContain('never fetched');
  });

  it('a prefix of its own starts another project and names the one that is there; two are told apart', async () => {
    await using world = await branchProject();
    const own = await world.addClone('own', { init: false });
    const made = await own.json<{ notes: string[] }>('init', '--prefix', 'zz');
    expect(made).toMatchObject({ idPrefix: 'zz', mode: 'standard', adopted: false });
    expect(made.notes.join()).toContain('The branch forge-data holds another project, "Shop" (sh-)');
    const second = await world.addClone('second', { init: false });
    await second.json('init', '--branch', 'other-data', '--prefix', 'zz');
    await second.json('sync');
    const third = await world.addClone('third', { init: false });
    const refused = await third.run('init');
    expect(refused.exit).toBe(4);
    expect(refused.stderr).toMatch(/Several branches hold a Forge project: .*-data, .*-data/);
    expect(await third.json('init', '--branch', 'forge-data')).toMatchObject({ idPrefix: 'sh' });
  });

  it('a clone that starts on a branch older than a standard project adopts that project too', async () => {
    await using world = await forgeClones(['a'], { init: ['init', '--prefix', 'sh', '--name', 'Shop'] });
    const { a } = world.clone;
    await a.create('from a');
    await a.commitTasks();
    a.git('switch', '--quiet', '--orphan', 'old');
    a.git('commit', '--quiet', '--no-verify', '--allow-empty', '-m', 'old');
    a.git('push', '--quiet', 'origin', 'main', 'old');
    const late = await world.addClone('late', { init: false });
    late.git('switch', '--quiet', 'old');
    rmSync(join(late.path, '.forge'), { recursive: true, force: true });
    expect(await late.json('init')).toMatchObject({ idPrefix: 'sh', mode: 'standard', adopted: true });
    expect(late.git('status', '--porcelain')).toBe('');
    expect(await late.json('sync')).toMatchObject({ created: 1 });
    expect(await titlesOf(late)).toEqual(['from a']);
  });
});

describe('[D3] a change of mode reaches the other clones', () => {
  it.each(
    shareOf(
      [
        { order: 'pull first', ways: { b: 'pull', c: 'pull' } },
        { order: 'sync or init first', ways: { b: 'sync', c: 'init' } },
      ] as const,
      2,
    ),
  )('$order', async ({ ways }) => {
    await using world = await standardProject();
    const { a, b, c } = world.clone;
    // Both have commits with tasks that the others do not know when the project moves.
    for (const clone of [b, c]) {
      await clone.create(`${clone === b ? 'b' : 'c'} before`);
      await clone.commitTasks();
    }
    await a.json('init', '--upgrade', '--branch', 'forge-data');
    a.git('push', '--quiet', 'origin', 'main');
    await a.json('sync');
    // One after the other, so that the second meets what the first has brought.
    for (const name of ['b', 'c'] as const) {
      const clone = world.clone[name];
      const told = await adopt(clone, ways[name]);
      expect(told).toMatch(/moved (?:the tasks of this project )?to the branch forge-data/);
      await clone.run('task', 'create', `${name} after`);
      expect(await clone.run('sync')).toMatchObject({
        exit: 0,
        stdout: expect.stringContaining('has every task'),
      });
      clone.git('pull', '--quiet');
      clone.git('push', '--quiet', 'origin', 'main');
    }
    await expectTogether(world, ['a', 'b after', 'b before', 'c after', 'c before']);
  });

  inSoak(() => {
    it('tasks that a clone commits on main without knowing of the move are joined, in the clone that moved too', async () => {
      await using world = await standardProject();
      const { a, b, c } = world.clone;
      await a.json('init', '--upgrade', '--branch', 'forge-data');
      await a.json('sync');
      // The move is not pushed with main yet; b and c work on as before, on main and on a branch of their own.
      await b.create('b late');
      b.git('switch', '--quiet', '-c', 'feature');
      await b.commitTasks();
      b.git('push', '--quiet', '-u', 'origin', 'feature');
      await c.create('c late');
      await c.commitTasks();
      c.git('push', '--quiet', 'origin', 'main');
      expect(await a.json('sync')).toMatchObject({ created: 2, pushed: true });
      a.git('pull', '--quiet');
      a.git('push', '--quiet', 'origin', 'main');
      expect(await titlesOf(a)).toEqual(['a', 'b late', 'c late']);
      // A commit of main that no sync has seen is joined when it comes into the working tree.
      c.git('pull', '--quiet');
      c.write(
        '.forge/tasks.jsonl',
        c.read('.forge/tasks.jsonl').replace('"title":"c late"', '"title":"c by hand"'),
      );
      c.git('commit', '--quiet', '--no-verify', '-am', 'by hand');
      c.git('push', '--quiet', 'origin', 'main');
      a.git('pull', '--quiet');
      expect(await titlesOf(a)).toEqual(['a', 'b late', 'c by hand']);
      await a.json('sync');
      await c.json('sync');
      b.git('switch', '--quiet', 'main');
      b.git('pull', '--quiet');
      await b.json('sync');
      await expectTogether(world, ['a', 'b late', 'c by hand']);
    });
  });

  it('on a branch from before the move the tasks stay on the data branch; moving back reaches the others too', async () => {
    await using world = await standardProject();
    const { a, b } = world.clone;
    for (const clone of [a, b]) clone.git('branch', 'before');
    await a.json('init', '--upgrade', '--branch', 'forge-data');
    await a.json('sync');
    a.git('push', '--quiet', 'origin', 'main');
    b.git('pull', '--quiet');
    await b.json('sync');
    for (const clone of [a, b]) {
      clone.git('switch', '--quiet', 'before');
      await clone.create(`on before of ${clone === a ? 'a' : 'b'}`);
      expect(await clone.json('sync')).toMatchObject({ mode: 'branch', pushed: true });
      expect(clone.git('status', '--porcelain')).toBe('');
      clone.git('switch', '--quiet', 'main');
    }
    await a.json('sync');
    await a.json('init', '--upgrade');
    a.git('push', '--quiet', 'origin', 'main');
    b.git('pull', '--quiet');
    const noticed = await b.run('ready');
    expect(noticed.stderr).toContain('into the branches you work on. Next: forge init');
    expect(await b.json('init')).toMatchObject({ mode: 'standard', adopted: true });
    expect(titlesAt(b)).toEqual(['a', 'on before of a', 'on before of b']);
    expect(b.commitFile('b.txt')).not.toContain('moved');
  });

  inSoak(() => {
    it('a fresh clone of a project that moved works at once', async () => {
      await using world = await standardProject();
      const { a } = world.clone;
      await a.json('init', '--upgrade', '--branch', 'forge-data');
      await a.json('sync');
      a.git('push', '--quiet', 'origin', 'main');
      const late = await world.addClone('late', { init: false });
      expect(await titlesOf(late)).toEqual(['a']);
      await late.create('late');
      expect(await late.json('sync')).toMatchObject({ mode: 'branch', pushed: true });
      expect(late.git('status', '--porcelain')).toBe('');
    });
  });
});

describe('[D9] a branch that is older than the project', () => {
  it('merges without a conflict when both sides carry tasks', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    a.git('switch', '--quiet', '--orphan', 'old');
    a.commitFile('old.txt');
    await a.create('on old');
    await a.commitTasks();
    a.git('switch', '--quiet', 'main');
    await a.create('on main');
    await a.commitTasks();
    a.git('switch', '--quiet', 'old');
    expect(hasFile(a, '.gitattributes')).toBe(false);
    a.git('merge', '--quiet', '--allow-unrelated-histories', 'main');
    expect(titlesIn(a.read('.forge/tasks.jsonl'))).toEqual(['on main', 'on old']);
    const late = await world.addClone('late');
    expect(late.read('.git/info/attributes')).toContain('merge=forge');
  });
});

/** Gives what the person is told. */
async function adopt(clone: Clone, way: 'pull' | 'sync' | 'init'): Promise<string> {
  // The hook that git starts may be the first to notice; without it the next command is.
  if (way === 'pull') return clone.git('pull') + (await clone.run('ready')).stderr;
  if (way === 'init') clone.git('fetch', '--quiet');
  const { stdout, stderr } = await clone.run(way);
  return stdout + stderr;
}

async function branchProject(): Promise<Clones<'a'>> {
  const world = await forgeClones(['a'], { init: BRANCH });
  await world.clone.a.create('from a');
  await world.clone.a.json('sync');
  return world;
}

async function standardProject(): Promise<Clones<'a' | 'b' | 'c'>> {
  const world = await forgeClones(['a', 'b', 'c']);
  await world.clone.a.create('a');
  await world.clone.a.commitTasks();
  world.clone.a.git('push', '--quiet', 'origin', 'main');
  for (const clone of [world.clone.b, world.clone.c]) clone.git('pull', '--quiet');
  return world;
}

/** Two rounds, and every clone and the data branch know the same. */
async function expectTogether(world: Clones<string>, titles: readonly string[]): Promise<void> {
  for (const clone of [...world.all, ...world.all])
    expect(await clone.json('sync')).toMatchObject({ pushed: true });
  for (const clone of world.all) {
    expect(await titlesOf(clone)).toEqual(titles);
    expect(titlesAt(clone, 'origin/forge-data')).toEqual(titles);
    expect(clone.git('status', '--porcelain')).toBe('');
  }
}

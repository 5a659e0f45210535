import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  expectCanonical,
  forgeClones,
  hasFile,
  titlesAt,
  titlesIn,
  titlesOf,
  toClone,
  userFiles,
  type Clone,
  type Clones,
} from '../support/git-clones.ts';
import { inSoak } from '../support/share-of.ts';

const BRANCH = ['init', '--branch', 'forge-data'];

function workflowWith(active: string): string {
  return JSON.stringify({
    states: [
      { name: 'todo', kind: 'initial', next: [active] },
      { name: active, kind: 'active', next: ['done', 'todo'] },
      { name: 'done', kind: 'terminal' },
      { name: 'cancelled', kind: 'terminal' },
    ],
  });
}

describe('forge init --branch', () => {
  it('[S80] [S81] tasks lie on a branch of their own, main is untouched, two clones exchange', async () => {
    await using world = await forgeClones(['a', 'b'], { init: BRANCH });
    const { a, b } = world.clone;
    expect(JSON.parse(a.read('.forge/config.json'))).toMatchObject({
      initMode: 'branch',
      branchName: 'forge-data',
    });
    const main = a.git('rev-parse', 'main');
    await a.create('from a');
    await b.create('from b');
    expect(await a.json('sync')).toMatchObject({ mode: 'branch', pushed: true, reason: null });
    expect(await b.json('sync')).toMatchObject({ pushed: true, created: 1 });
    expect(await a.json('sync')).toMatchObject({ pushed: true, created: 1 });
    for (const clone of [a, b]) {
      expect(await titlesOf(clone)).toEqual(['from a', 'from b']);
      expect(titlesAt(clone, 'forge-data')).toEqual(['from a', 'from b']);
      expect(clone.git('ls-files').split('\n')).toEqual(['readme.txt']);
      expect(clone.git('rev-parse', 'main')).toBe(main);
      expect(clone.git('symbolic-ref', 'HEAD')).toBe('refs/heads/main');
      expect(clone.git('status', '--porcelain')).toBe('');
      expect(hasFile(clone, '.forge/tasks.jsonl')).toBe(false);
      expect(clone.commitFile(`${clone === a ? 'a' : 'b'}.txt`)).not.toContain('[forge]');
      expect(clone.git('show', '--format=', '--name-only', 'HEAD')).toMatch(/^[ab]\.txt$/);
    }
    await expectExchanged(world, ['from a', 'from b']);
    expect(userFiles(a.path)).toEqual({ 'a.txt': 'a.txt\n', 'readme.txt': 'readme\n' });
  });

  inSoak(() => {
    it('pushes of three clones at once are tried again, until each has gone through', async () => {
      await using world = await forgeClones(['a', 'b', 'c'], { init: BRANCH, by: 'the program' });
      await world.clone.a.json('sync');
      await Promise.all(
        world.all.map(async (clone, at) => {
          await clone.create(`of ${at}`);
          const synced = await clone.json<{ pushed: boolean; reason: string | null }>('sync');
          expect(synced).toMatchObject({ pushed: true, reason: null });
        }),
      );
      await expectExchanged({ ...world, all: world.all.map(toHere(world)) }, ['of 0', 'of 1', 'of 2']);
    });
  });

  it('two clones that began on their own come together: all tasks, and one config for both', async () => {
    await using world = await forgeClones(['a', 'b'], { init: BRANCH });
    const { a, b } = world.clone;
    expect(a.git('rev-parse', 'forge-data')).not.toBe(b.git('rev-parse', 'forge-data'));
    await a.create('from a');
    await b.create('from b');
    await Promise.all([a.json('sync'), b.json('sync')]);
    await expectExchanged(world, ['from a', 'from b']);
    expect(a.read('.forge/config.json')).toBe(b.read('.forge/config.json'));
    // A setting that one clone changes reaches the other, and nobody changes it back.
    const config = JSON.parse(a.read('.forge/config.json')) as object;
    a.write('.forge/config.json', JSON.stringify({ ...config, settings: { defaultPriority: 4 } }));
    b.write('.forge/config.json', JSON.stringify({ ...config, name: 'Renamed' }));
    await expectExchanged(world, ['from a', 'from b']);
    const [ofA, ofB] = [a, b].map((clone) => JSON.parse(clone.read('.forge/config.json')) as object);
    expect(ofA).toEqual({ ...config, name: 'Renamed', settings: { defaultPriority: 4 } });
    expect(ofB).toEqual(ofA);
    expect((await b.create('uses it')).priority).toBe(4);
  });

  it('the workflow travels with the tasks, and of two changes neither is lost', async () => {
    await using world = await forgeClones(['a', 'b'], { init: BRANCH });
    const { a, b } = world.clone;
    const set = async (clone: Clone, active: string) => {
      clone.write('draft.json', workflowWith(active));
      await clone.json('workflow', 'set', 'draft.json', '--force');
    };
    const activeIn = async (clone: Clone) => {
      const { states } = await clone.json<{ states: { name: string; kind: string }[] }>('workflow', 'show');
      return states.find(({ kind }) => kind === 'active')?.name;
    };
    await set(a, 'doing');
    expect(await a.json('sync')).toMatchObject({ workflow: 'sent', other_workflow: null });
    expect(await a.json('sync')).toMatchObject({ workflow: 'same' });
    expect(await b.json('sync')).toMatchObject({ workflow: 'taken', other_workflow: null });
    expect(await activeIn(b)).toBe('doing');
    const { id } = await b.create('by the new rules');
    expect(await b.json('claim', id, '--actor', 'bot')).toMatchObject({ state: 'doing' });
    // A clone that comes later has it from the first command on.
    const late = await world.addClone('late');
    await late.json('sync');
    expect(await activeIn(late)).toBe('doing');
    // Both change it, one of them offline and committed: the later sync keeps its own and names the other.
    await set(a, 'working');
    await set(b, 'making');
    await b.json('sync', '--offline');
    await a.json('sync');
    const synced = await b.json<{ workflow: string; other_workflow: string }>('sync');
    expect(synced.workflow).toBe('conflict');
    expect(await activeIn(b)).toBe('making');
    expect(b.git('show', synced.other_workflow)).toContain('"working"');
    expect(await b.json('conflicts')).toMatchObject([
      { id: 'workflow', name: 'workflow', key: synced.other_workflow, lost: { states: expect.anything() } },
    ]);
    expect(await b.text('conflicts', 'workflow')).toContain(`git show ${synced.other_workflow}`);
    expect(await b.json('resolve', 'workflow')).toEqual({ id: 'workflow', settled: ['workflow'], left: 0 });
    expect(await b.json('conflicts')).toEqual([]);
    const told = await a.json<{ workflow: string; other_workflow: string }>('sync');
    expect(told.workflow).toBe('taken');
    expect(await activeIn(a)).toBe('making');
    expect(a.git('show', told.other_workflow)).toContain('"working"');
    for (const clone of [a, b]) {
      expect(await clone.json('sync')).toMatchObject({ workflow: 'same', other_workflow: null });
      expect(clone.git('ls-files').split('\n')).toEqual(['readme.txt']);
    }
    // To settle it is one more change.
    a.write('other.json', a.git('show', told.other_workflow));
    await a.json('workflow', 'set', 'other.json', '--force');
    await a.json('sync');
    await b.json('sync');
    expect([await activeIn(a), await activeIn(b)]).toEqual(['working', 'working']);
  });

  inSoak(() => {
    it('a config that was changed and committed offline stands, and what it beat is listed', async () => {
      await using world = await forgeClones(['a', 'b'], { init: BRANCH });
      const { a, b } = world.clone;
      await a.json('sync');
      await b.json('sync');
      const config = JSON.parse(a.read('.forge/config.json')) as object;
      const set = (clone: Clone, more: object): void =>
        clone.write('.forge/config.json', JSON.stringify({ ...config, ...more }));
      set(b, { name: 'Mine', settings: { defaultPriority: 1 } });
      await b.json('sync', '--offline');
      set(a, { settings: { defaultPriority: 4 } });
      expect(await a.json('sync')).toMatchObject({ config_lost: [] });
      expect(await b.json('sync')).toMatchObject({ config_lost: ['settings'] });
      expect(await b.json('conflicts')).toMatchObject([
        { id: 'config', name: 'settings', lost: { defaultPriority: 4 }, stands: { defaultPriority: 1 } },
      ]);
      await a.json('sync');
      for (const clone of [a, b])
        expect(JSON.parse(clone.read('.forge/config.json'))).toMatchObject({
          name: 'Mine',
          settings: { defaultPriority: 1 },
        });
      expect((await b.run('resolve', 'config', '--take-lost')).exit).toBe(5);
      expect(await b.json('resolve', 'config')).toMatchObject({ settled: ['settings'], left: 0 });
      expect((await b.run('resolve', 'config')).exit).toBe(3);
    });
  });

  it('without a remote and offline tasks are committed here, and go out later', async () => {
    await using world = await forgeClones(['a', 'b'], { init: BRANCH });
    const { a } = world.clone;
    renameSync(world.remote, `${world.remote}-away`);
    await a.create('offline');
    const tried = (await a.fails('sync')).error;
    expect(tried).toMatchObject({ code: 'server_unreachable', details: { outcome: 'unreachable' } });
    expect(tried.message).toContain('Could not fetch from origin');
    expect(titlesAt(a, 'forge-data')).toEqual(['offline']);
    expect(await a.json('sync', '--offline')).toMatchObject({ pushed: false, reason: null });
    expect(titlesAt(a, 'forge-data')).toEqual(['offline']);
    renameSync(`${world.remote}-away`, world.remote);
    await expectExchanged(world, ['offline']);
    const lonely = await world.addClone('lonely');
    lonely.git('remote', 'remove', 'origin');
    await lonely.run('task', 'create', 'alone');
    expect(await lonely.json('sync')).toMatchObject({ pushed: false, reason: 'There is no remote origin' });
    expect(titlesAt(lonely, 'forge-data')).toContain('alone');
  });

  it('refuses a branch that is checked out, also in another worktree, and a name that git refuses', async () => {
    await using world = await forgeClones(['a', 'b'], { init: BRANCH });
    const b = await world.addClone('plain', { init: false });
    expect((await b.fails('init', '--branch', 'main')).error).toMatchObject({
      code: 'state_invalid',
      details: { branch: 'main' },
    });
    b.git('worktree', 'add', '--quiet', '-b', 'data', `${world.folder}/linked`);
    expect((await b.fails('init', '--branch', 'data')).error.code).toBe('state_invalid');
    for (const name of ['a..b', 'a b', '-x', 'a~1'])
      expect((await b.fails('init', `--branch=${name}`)).error.code).toBe('invalid_input');
    expect(hasFile(b, '.forge')).toBe(false);
    expect(hasFile(b, '.git/forge')).toBe(false);
    expect(b.git('status', '--porcelain')).toBe('');
    const { a } = world.clone;
    a.git('switch', '--quiet', 'forge-data');
    await a.run('task', 'create', 'while it is checked out');
    expect((await a.fails('sync')).error.code).toBe('state_invalid');
    a.git('switch', '--quiet', 'main');
    await a.json('sync');
    expect(titlesAt(a, 'forge-data')).toEqual(['while it is checked out']);
  });
});

inSoak(() => {
  describe('forge init --upgrade', () => {
    it('from branch mode to standard and back: no task is lost on the way, in no clone', async () => {
      await using world = await forgeClones(['a', 'b'], { init: BRANCH });
      const { a, b } = world.clone;
      await a.create('from a');
      await b.create('from b');
      await expectExchanged(world, ['from a', 'from b']);
      a.write('mine.txt', 'staged\n');
      a.git('add', 'mine.txt');
      await a.json('init', '--upgrade');
      expect(a.git('status', '--porcelain')).toBe('A  mine.txt');
      expect(titlesAt(a)).toEqual(['from a', 'from b']);
      a.git('commit', '--quiet', '-m', 'mine');
      a.git('push', '--quiet');
      await b.create('before the pull');
      b.git('pull', '--quiet');
      await b.run('init');
      b.commitFile('b.txt');
      expect(titlesAt(b)).toEqual(['before the pull', 'from a', 'from b']);
      b.git('push', '--quiet');

      a.git('pull', '--quiet');
      a.write('mine.txt', 'staged again\n');
      a.git('add', 'mine.txt');
      await a.json('init', '--upgrade', '--branch', 'forge-data');
      expect(a.git('status', '--porcelain')).toBe('M  mine.txt');
      expect(a.git('show', '--format=', '--name-only', 'HEAD')).toBe('.forge/config.json');
      expect(hasFile(a, '.git/hooks/pre-commit')).toBe(false);
      await a.json('sync');
      a.git('commit', '--quiet', '-m', 'mine again');
      a.git('push', '--quiet');
      // The other clone follows with the pull.
      await b.create('in between');
      b.git('pull', '--quiet');
      expect(await titlesOf(b)).toEqual(['before the pull', 'from a', 'from b', 'in between']);
      expect(b.git('status', '--porcelain')).toBe('');
      await expectExchanged(world, ['before the pull', 'from a', 'from b', 'in between']);
    });
  });
});

/** The clone with its commands run in this process, for what is not about several at once. */
function toHere({ place }: Pick<Clones<string>, 'place'>): (clone: Clone) => Clone {
  return ({ path }) => toClone(path, place);
}

/**
 * All clones sync, and again all but the last, which had everything: then branch, files and stores are the same, and
 * another sync changes nothing.
 */
async function expectExchanged(
  { all }: Pick<Clones<string>, 'all' | 'place'>,
  titles: string[],
): Promise<void> {
  for (const clone of [...all, ...all.slice(0, -1)]) await syncOnce(clone);
  const tips = all.map((clone) => clone.git('rev-parse', 'refs/heads/forge-data'));
  expect(new Set(tips).size).toBe(1);
  for (const clone of all) {
    const text = clone.git('show', 'forge-data:.forge/tasks.jsonl');
    expectCanonical(`${text}\n`);
    expect(titlesIn(text)).toEqual(titles);
    expect(await titlesOf(clone)).toEqual(titles);
    await syncOnce(clone);
  }
  expect(all.map((clone) => clone.git('rev-parse', 'refs/heads/forge-data'))).toEqual(tips);
}

async function syncOnce(clone: Clone): Promise<void> {
  const { exit, stdout } = await clone.run('sync', '--json');
  expect({ exit, stdout }).toMatchObject({ exit: 0, stdout: expect.stringContaining('"pushed":true') });
}

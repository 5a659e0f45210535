import { describe, expect, it } from 'vitest';
import { expectSettled, forgeClones, settle, titlesAt, titlesOf } from '../support/git-clones.ts';
import { inSoak } from '../support/share-of.ts';

describe('git commit', () => {
  it('[S48] [S51] [S5] a commit of code carries the tasks, after what the file says was joined in', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    expect(a.git('ls-files', '.forge')).toContain('.forge/tasks.jsonl');
    await a.create('from a');
    const said = a.commitFile('a.txt');
    expect(said).toContain('[forge] .forge/tasks.jsonl updated and staged');
    expect(titlesAt(a)).toEqual(['from a']);
    expect(a.git('status', '--porcelain')).toBe('');
    a.git('push', '--quiet');
    // The order that the seed has wrong: b has a task of its own, the file under it changes without any hook, and
    // the next commit must write the sum of both.
    await b.create('from b');
    b.git('-c', 'core.hooksPath=/dev/null', 'pull', '--quiet');
    b.commitFile('b.txt');
    expect(titlesAt(b)).toEqual(['from a', 'from b']);
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['from a', 'from b'],
      files: { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n' },
    });
  });

  it('[H5] takes no key into the history, says where it stands, and goes on without the tasks', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const key = `ghp_${'a1B2'.repeat(9)}`;
    const made = await a.run('task', 'create', 'Rotate it', '--description', `It is ${key}`, '--json');
    expect(made.stderr).toContain('looks like a GitHub token; no commit of the tasks will take it');
    const { id } = JSON.parse(made.stdout) as { id: string };
    const flag = `${id} holds what looks like a GitHub token in its description`;
    expect(await a.run('commit')).toMatchObject({ exit: 5 });
    expect((await a.run('export')).stderr).toContain(`${flag}: no commit will take it`);
    const holds = (): boolean =>
      a.git('cat-file', '--batch', '--batch-all-objects', '--buffer').includes(key);
    // The hook stages them, a person has staged them, both with -a, and where nothing else is to be committed.
    const left = `[forge] ${flag}: .forge/tasks.jsonl stays out of this commit. Next: forge task update ${id}`;
    const said = a.commitFile('a.txt');
    expect(said).toContain(left);
    expect(said).not.toContain('.forge/tasks.jsonl updated and staged');
    a.git('add', '-A');
    expect(a.commitFile('b.txt')).toContain(left);
    a.write('a.txt', 'changed\n');
    const { stdout, stderr } = await world.place.bash('git commit -a -m all', { cwd: a.path });
    expect(stdout + stderr).toContain(left);
    a.git('add', '-A');
    const alone = await world.place.bash('git commit -m alone', { cwd: a.path });
    expect(alone.stdout + alone.stderr).toContain(left);
    expect(titlesAt(a)).toEqual([]);
    expect(a.git('log', '-p', '--all')).not.toContain(key);
    // Nothing is lost by it.
    expect(await titlesOf(a)).toEqual(['Rotate it']);
    await a.run('task', 'update', id, '--description', '');
    a.commitFile('c.txt');
    expect(titlesAt(a)).toEqual(['Rotate it']);
    expect(a.git('log', '-p', '--all')).not.toContain(key);
    expect(holds()).toBe(true); // what was staged is an object that no commit leads to
  });

  it('[H5] leaves settings with a key out, and takes what a person lets through', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const key = `ghp_${'a1B2'.repeat(9)}`;
    const config = a.read('.forge/config.json');
    a.write('.forge/config.json', config.replace('{', `{\n  "token": "${key}",`));
    a.git('add', '.forge/config.json');
    const said = a.commitFile('a.txt');
    expect(said).toContain('.forge/config.json (token) holds what looks like a GitHub token');
    expect(a.git('show', 'HEAD:.forge/config.json')).toBe(config.trimEnd());
    const [, number = ''] = /--allow-secret ([0-9a-f]{12})/.exec(said) ?? [];
    expect((await a.run('trust', '--allow-secret', number)).exit).toBe(0);
    a.git('add', '.forge/config.json');
    a.commitFile('b.txt');
    expect(a.git('show', 'HEAD:.forge/config.json')).toContain(key);
  });

  it('-a and -p carry the tasks; a commit of named files and -o do not, and leave nothing behind', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a } = world.clone;
    a.commitFile('a.txt', '1\n');
    await a.create('with -a');
    a.write('a.txt', '2\n');
    a.git('commit', '--quiet', '-a', '-m', 'all');
    expect(titlesAt(a)).toEqual(['with -a']);
    await a.create('with -p');
    a.write('a.txt', '3\n');
    const { exit } = await world.place.bash('yes | git commit --quiet -p -m patch', { cwd: a.path });
    expect(exit).toBe(0);
    expect(titlesAt(a)).toEqual(['with -a', 'with -p']);
    expect(a.git('status', '--porcelain')).toBe('');

    await a.create('named');
    a.write('a.txt', '4\n');
    a.write('other.txt', 'staged\n');
    a.git('add', 'other.txt');
    a.git('commit', '--quiet', '-m', 'named', 'a.txt');
    expect(a.git('show', '--format=', '--name-only', 'HEAD')).toBe('a.txt');
    expect(a.git('status', '--porcelain')).toBe('A  other.txt');
    a.write('a.txt', '5\n');
    a.git('commit', '--quiet', '-o', 'a.txt', '-m', 'only');
    expect(a.git('show', '--format=', '--name-only', 'HEAD')).toBe('a.txt');
    expect(a.git('status', '--porcelain')).toBe('A  other.txt');
    a.write('a.txt', '6\n');
    a.git('commit', '--quiet', '-i', 'a.txt', '-m', 'include');
    expect(titlesAt(a)).toEqual(['named', 'with -a', 'with -p']);
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['named', 'with -a', 'with -p'],
      files: { 'a.txt': '6\n', 'other.txt': 'staged\n' },
    });
  });

  it('of tasks only: git has nothing to commit, the tree stays clean, and forge commit is named', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a } = world.clone;
    a.git('branch', 'old');
    await a.create('one');
    const answers = [
      a.tryGit(['commit', '-m', 'tasks']),
      a.tryGit(['commit', '-a', '-m', 'tasks']),
      a.tryGit(['commit', '--amend', '--no-edit']),
    ];
    for (const { output } of answers) expect(output).toContain('to commit them: forge commit');
    expect(answers.map(({ exit }) => exit)).toEqual([1, 1, 0]);
    expect(a.git('status', '--porcelain')).toBe('');
    a.git('switch', '--quiet', 'old');
    expect(await titlesOf(a)).toEqual(['one']);
    a.git('switch', '--quiet', 'main');
    a.git('reset', '--quiet', '--hard', 'origin/main'); // the amend made another commit of the same files
    a.write('staged.txt', 'mine\n');
    a.git('add', 'staged.txt');
    await a.commitTasks();
    expect(a.git('show', '--format=', '--name-only', 'HEAD')).toBe('.forge/tasks.jsonl');
    expect(a.git('status', '--porcelain')).toBe('A  staged.txt');
    // Nothing is left to say, so git's own words stand alone.
    a.git('commit', '--quiet', '-m', 'mine');
    expect(a.tryGit(['commit', '-m', 'again']).output).not.toContain('forge');
    await settle(world.all);
    await expectSettled(world.all, { titles: ['one'], files: { 'staged.txt': 'mine\n' } });
  });

  inSoak(() => {
    it('--amend takes later tasks in, and --no-verify leaves them for the next commit', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a } = world.clone;
      a.commitFile('a.txt');
      await a.create('amended');
      a.write('a.txt', 'better\n');
      a.git('commit', '--quiet', '-a', '--amend', '--no-edit');
      expect(titlesAt(a)).toEqual(['amended']);
      // The tasks of the commit that is replaced are still known, whatever becomes of it.
      const { id } = await a.create('kept');
      a.write('a.txt', 'best\n');
      a.git('commit', '--quiet', '-a', '--no-verify', '-m', 'quick');
      expect(titlesAt(a)).toEqual(['amended']);
      expect(a.git('status', '--porcelain')).toBe('');
      await a.json('task', 'update', id, '--title', 'kept and changed');
      a.git('commit', '--quiet', '--amend', '--no-edit', '--allow-empty', '--no-verify');
      a.commitFile('b.txt');
      expect(titlesAt(a)).toEqual(['amended', 'kept and changed']);
      await settle(world.all);
      await expectSettled(world.all, {
        titles: ['amended', 'kept and changed'],
        files: { 'a.txt': 'best\n', 'b.txt': 'b.txt\n' },
      });
    });

    it('in a subfolder, with GIT_DIR set, and detached: the same tasks', async () => {
      await using world = await forgeClones(['a', 'b']);
      const { a } = world.clone;
      a.write('deep/er/a.txt', '1\n');
      await a.create('deep');
      const cwd = `${a.path}/deep/er`;
      expect(a.tryGit(['add', '.'], { cwd }).exit).toBe(0);
      expect(a.tryGit(['commit', '-m', 'deep'], { cwd }).output).toContain('[forge]');
      expect(titlesAt(a)).toEqual(['deep']);
      await a.create('by GIT_DIR');
      a.write('b.txt', '1\n');
      const env = { GIT_DIR: `${a.path}/.git`, GIT_WORK_TREE: a.path };
      expect(a.tryGit(['add', 'b.txt'], { env }).exit).toBe(0);
      expect(a.tryGit(['commit', '-m', 'by GIT_DIR'], { env }).exit).toBe(0);
      expect(titlesAt(a)).toEqual(['by GIT_DIR', 'deep']);
      a.git('checkout', '--quiet', '--detach');
      await a.create('detached');
      a.commitFile('c.txt');
      expect(titlesAt(a)).toEqual(['by GIT_DIR', 'deep', 'detached']);
      const detached = a.git('rev-parse', 'HEAD');
      a.git('switch', '--quiet', 'main');
      a.git('merge', '--quiet', detached);
      await settle(world.all);
      await expectSettled(world.all, {
        titles: ['by GIT_DIR', 'deep', 'detached'],
        files: { 'deep/er/a.txt': '1\n', 'b.txt': '1\n', 'c.txt': 'c.txt\n' },
      });
    });
  });
});

describe('two clones', () => {
  it('the check that ends every scenario notices what is lost, left behind or touched', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    await a.create('one');
    await a.create('two');
    await settle(world.all);
    const wanted = { titles: ['one', 'two'], files: {} };
    await expectSettled(world.all, wanted);
    const text = b.read('.forge/tasks.jsonl');
    const [first = '', second = ''] = text.split('\n');
    // A task less, another order, a line twice, another value.
    const edited = text.replace('"priority":2', '"priority":1');
    for (const changed of [`${first}\n`, `${second}\n${first}\n`, `${first}\n${text}`, edited]) {
      b.write('.forge/tasks.jsonl', changed);
      await expect(expectSettled(world.all, wanted)).rejects.toThrow('expected');
    }
    b.write('.forge/tasks.jsonl', text);
    b.write('left.txt', 'behind\n');
    await expect(expectSettled(world.all, wanted)).rejects.toThrow('expected');
    await expect(expectSettled(world.all, { ...wanted, files: { 'left.txt': 'behind\n' } })).rejects.toThrow(
      'expected',
    );
    b.git('clean', '--quiet', '-fd');
    await expectSettled(world.all, wanted);
    await a.create('only in a store');
    await expect(expectSettled(world.all, wanted)).rejects.toThrow('expected');
  });

  it('[S32] [S49] [S54] [S112] create, connect and note at once, and merge without a conflict', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const [x, y] = [await a.create('x'), await a.create('y')];
    await settle(world.all);
    await a.create('from a');
    await b.create('from b');
    for (const clone of [a, b]) await clone.json('dep', 'add', y.id, x.id);
    await a.json('task', 'update', x.id, '--meta-set', 'plan={"steps":[1,2]}', '--priority', '0');
    await b.json('task', 'update', x.id, '--title', 'x of b', '--meta-set', 'note=read me');
    a.commitFile('a.txt');
    b.commitFile('b.txt');
    a.git('push', '--quiet');
    const pulled = b.tryGit(['pull']);
    expect(pulled).toMatchObject({ exit: 0 });
    expect(pulled.output).not.toContain('CONFLICT');
    expect(pulled.output).toContain('[forge]');
    expect(await titlesOf(b)).toEqual(['from a', 'from b', 'x of b', 'y']);
    await settle(world.all);
    await expectSettled(world.all, {
      titles: ['from a', 'from b', 'x of b', 'y'],
      files: { 'a.txt': 'a.txt\n', 'b.txt': 'b.txt\n' },
    });
    for (const clone of [a, b]) {
      const shown = await clone.show(x.id);
      expect(shown).toMatchObject({
        title: 'x of b',
        priority: 0,
        metadata: { plan: { steps: [1, 2] }, note: 'read me' },
      });
      expect((await clone.show(y.id)).dependencies).toEqual([expect.objectContaining({ id: x.id })]);
      using db = new (await import('node:sqlite')).DatabaseSync(`${clone.path}/.forge/forge.db`);
      expect(db.prepare('SELECT count(*) AS n FROM dependencies').get()).toMatchObject({ n: 1 });
    }
  });
});

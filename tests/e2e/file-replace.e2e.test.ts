import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import {
  AGENT_BRANCH,
  commitAsAgent,
  commitOften,
  countLines,
  editTasks,
  makeAttempt,
  TASK_FILE,
} from '../support/agent-commits.ts';
import { forgeClones, hasFile, titlesAt, titlesOf, type Clone } from '../support/git-clones.ts';
import { inSoak, shareOf } from '../support/share-of.ts';

const THREE = ['one', 'two', 'three'].toSorted();

async function shareThree(a: Clone): Promise<void> {
  for (const title of THREE) await a.create(title);
  await a.commitTasks();
  a.git('push', '--quiet');
}

describe('[C4] a task file that the working tree never had', () => {
  it.each(shareOf([['forge commit'], ['the hook']], 2))('is not committed as empty by %s', async (how) => {
    await using world = await forgeClones(['a']);
    await shareThree(world.clone.a);
    const b = await world.addClone('b', { init: false });
    rmSync(join(b.path, TASK_FILE));
    await b.run('init');
    // Also where it goes again after that, and no command has read it yet.
    rmSync(join(b.path, TASK_FILE), { force: true });
    rmSync(join(b.path, '.git/forge/forge.db'));
    rmSync(join(b.path, '.git/forge/tasks.jsonl'), { force: true });
    if (how === 'forge commit') await b.commitTasks();
    else b.commitFile('code.txt');
    expect(titlesAt(b)).toEqual(THREE);
    expect(await titlesOf(b)).toEqual(THREE);
    expect(b.git('status', '--porcelain')).toBe('');
  });

  it('is brought back by forge init', async () => {
    await using world = await forgeClones(['a']);
    await shareThree(world.clone.a);
    const b = await world.addClone('b', { init: false });
    rmSync(join(b.path, TASK_FILE));
    expect((await b.run('init')).stdout).toContain(`Brought back from git: ${TASK_FILE}`);
    expect(b.git('status', '--porcelain')).toBe('');
    rmSync(join(b.path, TASK_FILE));
    expect((await b.run('init')).exit).toBe(0);
    expect(await titlesOf(b)).toEqual(THREE);
  });

  it.each(shareOf([['commit'], ['export'], ['gc']], 3))(
    'is kept by forge %s in a sparse checkout',
    async (command) => {
      await using world = await forgeClones(['a']);
      await shareThree(world.clone.a);
      const b = await world.addClone('b', { init: false });
      b.git('sparse-checkout', 'set', 'src');
      expect(hasFile(b, TASK_FILE)).toBe(false);
      expect((await b.run('init')).stdout).toContain('sparse checkout');
      expect(await titlesOf(b)).toEqual(THREE);
      expect((await b.run(command)).exit).toBe(0);
      b.commitFile('src/code.txt');
      expect(titlesAt(b)).toEqual(THREE);
    },
  );

  inSoak(() => {
    it('is shown by a sparse clone after a pull', async () => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      await shareThree(a);
      const b = await world.addClone('b', { init: false });
      b.git('sparse-checkout', 'set', 'src');
      await b.run('init');
      expect(await titlesOf(b)).toEqual(THREE);
      await a.create('later');
      await a.commitTasks();
      a.git('push', '--quiet');
      b.git('pull', '--quiet');
      expect(await titlesOf(b)).toEqual([...THREE, 'later'].toSorted());
    });
  });

  it('is noticed by forge doctor, which brings it back', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await shareThree(a);
    rmSync(join(a.path, TASK_FILE));
    expect((await a.run('doctor')).stdout).toContain(`lacks ${TASK_FILE}, which the last commit has`);
    expect((await a.run('doctor', '--fix')).stdout).toContain(`brought back ${TASK_FILE}`);
    expect(a.git('status', '--porcelain')).toBe('');
  });

  it.each(shareOf([['-a'], ['rm']], 2))('is not committed as removed (git commit %s)', async (how) => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await shareThree(a);
    if (how === 'rm') a.git('rm', '--quiet', TASK_FILE);
    else rmSync(join(a.path, TASK_FILE));
    a.write('readme.txt', 'changed\n');
    const { output } = a.tryGit(['commit', '-am', 'gone']);
    expect(output).toContain('was brought back');
    expect(titlesAt(a)).toEqual(THREE);
    expect(a.git('status', '--porcelain')).toBe('');
  });

  it('keeps lines that cannot be read', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await shareThree(a);
    a.write(TASK_FILE, `${a.read(TASK_FILE)}not a task\n`);
    a.git('-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '-am', 'by hand');
    a.git('push', '--quiet');
    const b = await world.addClone('b', { init: false });
    b.git('sparse-checkout', 'set', 'src');
    await b.run('init');
    await b.run('task', 'create', 'four');
    await b.commitTasks();
    expect(b.git('show', `HEAD:${TASK_FILE}`)).toContain('not a task');
    expect(titlesAt(b)).toEqual([...THREE, 'four'].toSorted());
  });
});

describe('[M4] what HEAD has and no working tree had', () => {
  it.each(shareOf([['the hook'], ['forge commit']], 2))(
    'is joined in by %s after git reset --soft',
    async (how) => {
      await using world = await forgeClones(['a', 'b']);
      const { a, b } = world.clone;
      const { id } = await a.create('V0');
      await a.commitTasks();
      a.git('push', '--quiet');
      b.git('pull', '--quiet');
      editTasks(b, '"title":"V0"', '"title":"web edit"');
      b.write(TASK_FILE, `${b.read(TASK_FILE)}not a task\n`);
      b.git('-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '-am', 'on the server');
      b.git('push', '--quiet');
      await a.json('task', 'update', id, '--priority', '0');
      a.git('fetch', '--quiet');
      a.git('reset', '--quiet', '--soft', 'origin/main');
      if (how === 'the hook') a.commitFile('code.txt');
      else await a.commitTasks();
      expect(await a.show(id)).toMatchObject({ title: 'web edit', priority: 0 });
      expect(titlesAt(a)).toEqual(['web edit']);
      expect(a.git('show', `HEAD:${TASK_FILE}`)).toContain('not a task');
      // Known by now: what a person takes out stays out.
      a.write(TASK_FILE, a.read(TASK_FILE).replace('not a task\n', ''));
      if (how === 'the hook') a.commitFile('more.txt');
      else await a.commitTasks();
      expect(a.git('show', `HEAD:${TASK_FILE}`)).not.toContain('not a task');
      expect((await a.run('doctor')).stdout).toContain('every line can be read');
    },
  );

  it('is joined in when another process commits between the look and the commit', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    await Promise.all([a.create('from a'), b.create('from b')]);
    await b.commitTasks();
    b.git('push', '--quiet');
    a.git('fetch', '--quiet');
    // HEAD moves while the file of the working tree stays as it is.
    a.git('update-ref', 'HEAD', 'origin/main');
    await a.commitTasks();
    expect(titlesAt(a)).toEqual(['from a', 'from b']);
  });
});

describe('[C5] more commits than are looked at', () => {
  it('of persons: their lines count, on a branch far ahead of the target', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('V0');
    await a.commitTasks();
    a.git('push', '--quiet');
    commitOften(a, { branch: 'develop', count: LIMITS.attempt_file_commits + 2, trailer: false });
    a.git('switch', '--quiet', 'develop');
    a.git('push', '--quiet', '-u', 'origin', 'develop');
    makeAttempt(a);
    b.git('fetch', '--quiet');
    b.git('switch', '--quiet', 'develop');
    await b.json('task', 'update', id, '--description', 'text of b');
    await b.create('new task of b');
    b.commitFile('b.txt');
    b.git('push', '--quiet');
    a.git('pull', '--quiet');
    editTasks(a, '"title":"V0"', '"title":"by hand"');
    expect(await a.show(id)).toMatchObject({ title: 'by hand', description: 'text of b' });
    a.commitFile('a.txt');
    expect(titlesAt(a)).toEqual(['by hand', 'new task of b']);
  });

  inSoak(() => {
    it('of attempts: what a person edits by hand on the target counts', async () => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      const { id } = await a.create('V0');
      await a.commitTasks();
      commitOften(a, { branch: AGENT_BRANCH, count: LIMITS.attempt_file_commits + 2, trailer: true });
      editTasks(a, '"title":"V0"', '"title":"by hand"');
      expect((await a.show(id)).title).toBe('by hand');
      a.commitFile('a.txt');
      expect(titlesAt(a)).toEqual(['by hand']);
    });
  });
});

describe('[H2] an edit by hand in the middle of a merge', () => {
  it('counts, also where an attempt elsewhere touched the task', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('V0');
    await a.commitTasks();
    makeAttempt(a);
    a.git('switch', '--quiet', '-c', 'topic');
    a.commitFile('readme.txt', '1\n');
    a.git('switch', '--quiet', 'main');
    a.commitFile('readme.txt', '2\n');
    expect(a.tryGit(['merge', 'topic']).exit).toBe(1);
    editTasks(a, '"title":"V0"', '"title":"by hand"');
    expect((await a.show(id)).title).toBe('by hand');
    a.write('readme.txt', '3\n');
    a.git('add', '-A');
    a.git('commit', '--quiet', '-m', 'merged');
    expect(titlesAt(a)).toEqual(['by hand']);
    expect((await a.show(id)).description).toBe('');
  });

  it('stays in the file where the merge brings lines of an attempt to another branch', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('V0');
    await a.commitTasks();
    makeAttempt(a);
    a.git('switch', '--quiet', '-c', 'feature');
    a.git('merge', '--quiet', '--no-commit', '--no-ff', AGENT_BRANCH);
    editTasks(a, '"title":"V0"', '"title":"by hand"');
    await a.run('export');
    expect(a.read(TASK_FILE)).toContain('"title":"by hand"');
    expect(a.read(TASK_FILE)).toContain('agent text');
    a.git('add', '-A');
    a.git('commit', '--quiet', '-m', 'merged');
    expect(a.git('show', `HEAD:${TASK_FILE}`)).toContain('"title":"by hand"');
    a.git('switch', '--quiet', 'main');
    a.git('merge', '--quiet', '--no-edit', 'feature');
    const { stdout } = await a.run('task', 'show', id, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ title: 'by hand', description: 'agent text' });
  });
});

describe('[H3] an attempt that a person merged into another branch than the target', () => {
  it.each(shareOf([['the hook'], ['commit'], ['export'], ['gc'], ['gc --prune 1']], 5))(
    'keeps its lines there through %s, until the target has them',
    async (how) => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      const { id } = await a.create('V0');
      await a.commitTasks();
      makeAttempt(a);
      a.git('switch', '--quiet', '-c', 'feature');
      a.git('merge', '--quiet', '--no-ff', '--no-edit', AGENT_BRANCH);
      const merged = a.read(TASK_FILE).split('\n').toSorted();
      const { exit } = how === 'the hook' ? { exit: 0 } : await a.run(...how.split(' '));
      expect(exit).toBe(0);
      for (const file of ['x.txt', 'y.txt']) a.commitFile(file);
      expect(a.read(TASK_FILE).split('\n').toSorted()).toEqual(merged);
      // Not joined in: only the branch has them.
      expect(await titlesOf(a)).toEqual(['V0']);
      const { stdout: before } = await a.run('task', 'show', id, '--json');
      expect(JSON.parse(before)).toMatchObject({ description: '' });
      expect(a.git('status', '--porcelain')).toBe('');
      a.git('switch', '--quiet', 'main');
      a.git('merge', '--quiet', '--no-edit', 'feature');
      expect(await titlesOf(a)).toEqual(['V0', 'found by the agent']);
      expect((await a.show(id)).description).toBe('agent text');
      a.commitFile('z.txt');
      expect(countLines(a.git('show', `HEAD:${TASK_FILE}`), id)).toBe(1);
    },
  );

  it('lets what a person writes of the same task travel beside its line', async () => {
    await using world = await forgeClones(['a', 'b']);
    const { a, b } = world.clone;
    const { id } = await a.create('V0');
    await a.commitTasks();
    a.git('push', '--quiet');
    makeAttempt(a);
    a.git('switch', '--quiet', '-c', 'feature');
    a.git('merge', '--quiet', '--no-ff', '--no-edit', AGENT_BRANCH);
    await a.run('task', 'update', id, '--priority', '0');
    a.commitFile('x.txt');
    a.commitFile('y.txt');
    const text = a.git('show', `HEAD:${TASK_FILE}`);
    expect(countLines(text, id)).toBe(2);
    expect(text).toContain('agent text');
    a.git('push', '--quiet', 'origin', 'feature');
    await b.run('sync');
    expect(await b.show(id)).toMatchObject({ priority: 0, description: '' });
    a.git('switch', '--quiet', 'main');
    a.git('merge', '--quiet', '--no-edit', 'feature');
    const { stdout } = await a.run('task', 'show', id, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ priority: 0, description: 'agent text' });
    a.commitFile('z.txt');
    expect(countLines(a.git('show', `HEAD:${TASK_FILE}`), id)).toBe(1);
  });

  inSoak(() => {
    it('keeps its lines where older lines of a task are kept too', async () => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      await a.create('V0');
      const config = JSON.parse(a.read('.forge/config.json')) as object;
      a.write('.forge/config.json', JSON.stringify({ ...config, settings: { gcOnExport: false } }));
      a.git('commit', '--quiet', '-am', 'config');
      await a.commitTasks();
      makeAttempt(a);
      a.git('switch', '--quiet', '-c', 'feature');
      a.git('merge', '--quiet', '--no-ff', '--no-edit', AGENT_BRANCH);
      for (const file of ['x.txt', 'y.txt']) a.commitFile(file);
      expect(countLines(a.git('show', `HEAD:${TASK_FILE}`), 'fg-agnt')).toBe(1);
      expect(a.git('show', `HEAD:${TASK_FILE}`)).toContain('agent text');
    });
  });

  it('loses them where a person takes them out', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    await a.create('V0');
    await a.commitTasks();
    makeAttempt(a);
    a.git('switch', '--quiet', '-c', 'feature');
    a.git('merge', '--quiet', '--no-ff', '--no-edit', AGENT_BRANCH);
    a.git('checkout', 'main', '--', TASK_FILE);
    a.commitFile('x.txt');
    expect(titlesAt(a)).toEqual(['V0']);
    expect(a.git('show', `HEAD:${TASK_FILE}`)).not.toContain('agent text');
  });

  it('counts when it comes to the target as a squashed commit', async () => {
    await using world = await forgeClones(['a']);
    const { a } = world.clone;
    const { id } = await a.create('V0');
    await a.commitTasks();
    makeAttempt(a);
    a.git('merge', '--quiet', '--squash', AGENT_BRANCH);
    a.commitFile('x.txt');
    expect(await titlesOf(a)).toEqual(['V0', 'found by the agent']);
    expect((await a.show(id)).description).toBe('agent text');
  });

  inSoak(() => {
    it('keeps its lines on its own branch, where a person commits tasks', async () => {
      await using world = await forgeClones(['a']);
      const { a } = world.clone;
      await a.create('V0');
      await a.commitTasks();
      makeAttempt(a);
      a.git('switch', '--quiet', AGENT_BRANCH);
      await a.run('task', 'create', 'of a person');
      await a.commitTasks();
      expect(titlesAt(a)).toEqual(['V0', 'found by the agent', 'of a person']);
      expect(a.git('show', `HEAD:${TASK_FILE}`)).toContain('agent text');
      commitAsAgentAgain(a);
      expect(titlesAt(a)).toContain('found again');
    });
  });
});

function commitAsAgentAgain(clone: Clone): void {
  editTasks(clone, '"title":"found by the agent"', '"title":"found again"');
  commitAsAgent(clone, 'again');
}

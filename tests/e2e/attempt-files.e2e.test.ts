import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { TaskView } from '#contract/task.ts';
import type { ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { inSoak, shareOf } from '../support/share-of.ts';

/** A task with checks and a reviewer, and an attempt at another one whose agent takes both away in its task file. */
interface World {
  readonly project: ForgeProject;
  readonly easy: string;
  readonly guarded: string;
  readonly branch: string;
  readonly file: string;
}

let world: World;
beforeEach(async () => {
  const project = await forgeProjectHere();
  await project.write('README.md', 'first\n');
  const easy = await project.create('Easy');
  const guarded = await project.create('Guarded', '--ci-step', 'test ! -e payload');
  await project.text('task', 'assign', guarded.id, 'reviewer', '--user', 'bob');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
  const script = join(project.home, 'agent.sh');
  writeFileSync(
    script,
    `sed -i '/${guarded.id}/{s/"review_config":{[^}]*},//;s/"role:reviewer":{[^}]*},//}' .forge/tasks.jsonl; echo x > x.txt\n`,
  );
  await project.json('agent', 'add', 'mallory', '--executor', 'shell', '--command=sh', `--command=${script}`);
  await project.run('run', easy.id, '--agent', 'mallory');
  const branch = project.git('branch', '--list', 'forge/*', '--format=%(refname:short)').trim();
  const file = join(project.path, '.forge/tasks.jsonl');
  world = { project, easy: easy.id, guarded: guarded.id, branch, file };
});
afterEach(() => world.project[Symbol.asyncDispose]());

/** What was left out is told by the first command that looks, whichever it is. */
async function look<T>(...args: string[]): Promise<T> {
  const { stdout } = await world.project.run(...args, '--json');
  return JSON.parse(stdout) as T;
}

async function expectGuarded(isGuarded: boolean): Promise<void> {
  const { review_config } = await look<TaskView>('task', 'show', world.guarded);
  const roles = JSON.stringify(await look('task', 'roles', world.guarded));
  expect({ checks: review_config?.ci_steps ?? [], isReviewed: roles.includes('bob') }).toEqual({
    checks: isGuarded ? ['test ! -e payload'] : [],
    isReviewed: isGuarded,
  });
}

describe('[H4] the task file of an attempt that nobody has merged', () => {
  it('changes no checks and no reviewer when somebody looks at its branch', async () => {
    const { project, branch } = world;
    expect(project.git('diff', '--name-only', `main...${branch}`)).toContain('.forge/tasks.jsonl');
    for (const args of [['--detach', branch], [branch], ['-c', 'copy', branch]]) {
      project.git('switch', '-q', ...args);
      await expectGuarded(true);
      project.git('switch', '-q', 'main');
      await expectGuarded(true);
    }
  });

  it('tells once which tasks were left out, and of which attempt', async () => {
    const { project, branch, guarded } = world;
    project.git('-c', 'core.hooksPath=/dev/null', 'switch', '-q', '--detach', branch);
    const { stderr } = await project.run('ready');
    expect(stderr).toContain(`What the task files say of ${guarded} is of the attempt ${branch}`);
    expect(stderr).toContain('Merge the branch to take it');
    expect((await project.run('ready')).stderr).toBe('');
  });

  it('changes nothing through forge sync, under its own name or another', async () => {
    const { project, branch } = world;
    const remote = join(project.home, 'remote.git');
    project.git('init', '-q', '--bare', remote);
    project.git('remote', 'add', 'origin', remote);
    project.git('push', '-q', 'origin', 'main', branch, `${branch}:refs/heads/pull-1`);
    const { stderr } = await project.run('sync');
    expect(stderr).toContain('was not taken in');
    await expectGuarded(true);
    expect((await project.run('sync')).stderr).not.toContain('was not taken in');
    await expectGuarded(true);
  });

  it('changes nothing when it is merged into a branch that is no target, or picked there', async () => {
    const { project, branch } = world;
    project.git('switch', '-q', '-c', 'side');
    await project.write('other.txt', 'x\n');
    project.git('add', 'other.txt');
    project.git('commit', '-qm', 'other');
    project.git('merge', '-q', '--no-edit', branch);
    await expectGuarded(true);
    project.git('switch', '-q', '-c', 'picked', 'main');
    project.git('cherry-pick', branch);
    await expectGuarded(true);
    project.git('switch', '-q', '-c', 'rebased', branch);
    project.git('rebase', '-q', 'side');
    await expectGuarded(true);
  });

  it('changes nothing when a merge into the target is tried and given up, or a file is taken out of it', async () => {
    const { project, branch } = world;
    project.git('merge', '-q', '--no-commit', '--no-ff', branch);
    await expectGuarded(true);
    project.git('merge', '--abort');
    await expectGuarded(true);
    project.git('checkout', branch, '--', '.forge/tasks.jsonl');
    await expectGuarded(true);
  });

  it.each(shareOf([['--ff-only'], ['--no-ff'], ['--no-commit']], 3))(
    'counts when a person merges it (%s)',
    async (how) => {
      const { project, branch } = world;
      if (how === '--no-commit') {
        project.git('merge', '-q', '--no-commit', '--no-ff', branch);
        await expectGuarded(true);
        project.git('commit', '-qm', 'merged');
      } else project.git('merge', '-q', '--no-edit', how, branch);
      await expectGuarded(false);
    },
  );

  inSoak(() => {
    it('counts when the branch becomes the target without a change of the file', async () => {
      const { project, branch } = world;
      project.git('switch', '-q', branch);
      await expectGuarded(true);
      project.git('branch', '-f', 'main', branch);
      project.git('switch', '-q', 'main');
      await expectGuarded(false);
    });
  });

  it('does not keep what a person writes there from counting', async () => {
    const { project, branch, easy, guarded } = world;
    project.git('switch', '-q', '--detach', branch);
    const edit = (from: string, to: string): void =>
      writeFileSync(
        world.file,
        readFileSync(world.file, 'utf8').replace(`"title":"${from}"`, `"title":"${to}"`),
      );
    edit('Easy', 'Easier');
    expect((await look<TaskView>('task', 'show', easy)).title).toBe('Easier');
    // A line in which both wrote is not told apart, so it is left for the merge.
    edit('Guarded', 'Watched');
    expect((await look<TaskView>('task', 'show', guarded)).title).toBe('Guarded');
    await expectGuarded(true);
  });

  it('does not keep what a person commits on a branch made of it from counting in another clone', async () => {
    const { project, branch, easy, guarded } = world;
    project.git('switch', '-q', '-c', 'mine', branch);
    await project.run('task', 'update', easy, '--title', 'Mine now');
    await project.text('task', 'update', guarded, '--title', 'Also mine');
    await project.write('mine.txt', 'x\n');
    project.git('add', 'mine.txt');
    project.git('commit', '-qm', 'mine');
    const remote = join(project.home, 'remote.git');
    project.git('init', '-q', '--bare', remote);
    project.git('remote', 'add', 'origin', remote);
    project.git('push', '-q', 'origin', 'main', 'mine');
    const clone = join(project.home, 'clone');
    project.git('clone', '-q', '-b', 'main', remote, clone);
    const there = project.with({ cwd: clone });
    await there.run('init');
    await there.run('sync');
    expect((await there.show(easy)).title).toBe('Mine now');
    expect(await there.show(guarded)).toMatchObject({
      title: 'Also mine',
      review_config: { ci_steps: ['test ! -e payload'] },
    });
  });
});

describe('[H4] workflow and config of an attempt that nobody has merged', () => {
  it('judge no work, in the checkout and after it', async () => {
    const { project, easy } = world;
    const script = join(project.home, 'agent.sh');
    const workflow = {
      states: [
        { name: 'todo', kind: 'initial', next: ['in_progress'] },
        { name: 'in_progress', kind: 'active', next: ['done'] },
        { name: 'done', kind: 'terminal' },
        { name: 'cancelled', kind: 'terminal' },
      ],
    };
    writeFileSync(join(project.home, 'workflow.json'), JSON.stringify(workflow));
    writeFileSync(
      script,
      `cp '${join(project.home, 'workflow.json')}' .forge/workflow.json; echo y > y.txt\n`,
    );
    const other = await project.create('Other');
    await project.run('run', other.id, '--agent', 'mallory');
    const branches = project.git('branch', '--list', 'forge/*other', '--format=%(refname:short)').trim();
    const before = await look<{ source: string }>('workflow', 'show');
    for (const args of [
      ['--detach', branches],
      ['-c', 'mine', branches],
    ]) {
      project.git('switch', '-q', ...args);
      const { stdout } = await project.run('task', 'transitions', easy);
      expect(stdout).not.toBe('');
      await project.run('task', 'comment', easy, 'looked at it');
      project.git('switch', '-q', 'main');
      expect(await look('workflow', 'show')).toMatchObject({ source: before.source });
    }
    project.git('merge', '-q', '--no-edit', branches);
    await project.run('task', 'comment', easy, 'merged');
    expect(await look('workflow', 'show')).toMatchObject({ source: 'file' });
  });
});

import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OutputOf } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import type { runDemo } from '#contract/project-operations.ts';
import type { Task } from '#contract/task.ts';
import { projectDemo } from '#operations/project-demo.ts';
import type { ForgeCli, ForgeProject } from '../support/forge-cli.ts';
import { forgeFolderHere, forgeProjectHere, openPlaceHere } from '../support/forge-here.ts';
import { runTestGit, tempFolder, tempRepo } from '../support/temp-repo.ts';

const titles = async (forge: ForgeCli): Promise<string[]> =>
  (await forge.json<Task[]>('search')).map(({ title }) => title).toSorted();

describe('inside the working tree', () => {
  it('works from any subfolder, and reads files from the folder it is in', async () => {
    await using project = await forgeProjectHere();
    await project.write('deep/er/spec.md', 'the spec');
    const inside = project.program.with({ cwd: join(project.path, 'deep/er') });
    const { id } = await inside.create('from below', '--description-file', 'spec.md');
    expect(await project.show(id)).toMatchObject({ title: 'from below', description: 'the spec' });
    expect(await titles(inside)).toEqual(['from below']);
    expect(readdirSync(join(project.path, 'deep/er'))).toEqual(['spec.md']);
  });

  it('-C starts in another folder: relative, absolute, with its files and before or behind the command', async () => {
    await using project = await forgeProjectHere();
    await project.write('sub/spec.md', 'in sub');
    const elsewhere = project.with({ cwd: dirname(project.path) });
    const [one, two, three] = await Promise.all([
      elsewhere.json<Task>('-C', 'project', 'task', 'create', 'relative'),
      elsewhere.json<Task>('task', 'create', 'absolute', '-C', project.path),
      elsewhere.json<Task>(
        '--directory',
        join(project.path, 'sub'),
        'task',
        'create',
        'below',
        '--description-file',
        'spec.md',
      ),
    ]);
    expect(await titles(project)).toEqual(['absolute', 'below', 'relative']);
    expect([one, two, three].map(({ description }) => description)).toEqual(['', '', 'in sub']);
    expect((await elsewhere.fails('ready')).error.code).toBe('not_a_project');
  });

  it('-C to a folder that is not there is refused, and nothing is written anywhere', async () => {
    await using project = await forgeProjectHere();
    await project.write('a-file', '');
    for (const folder of ['no-such-folder', 'no/such/folder', 'a-file']) {
      const failure = await project.fails('-C', folder, 'task', 'create', 'lost');
      expect(failure.error.message).toContain(folder);
    }
    expect(await titles(project)).toEqual([]);
  });

  it('a path through a symbolic link is the same project', async () => {
    await using project = await forgeProjectHere();
    const link = join(dirname(project.path), 'link');
    await symlink(project.path, link);
    await project.with({ cwd: link }).create('through the link');
    expect(await titles(project)).toEqual(['through the link']);
  });

  it('inside .git there is no project, as git has no working tree there', async () => {
    await using project = await forgeProjectHere();
    const inside = project.with({ cwd: join(project.path, '.git') });
    expect((await inside.fails('ready')).error.code).toBe('not_a_project');
  });

  it.each(['with spaces', 'ünïcödé-日本語-😀', 'quote\'s "and" $HOME', '-dash'])(
    'lives in a folder called %s',
    async (folder) => {
      await using repo = await tempRepo({ folder });
      const project = { ...repo, ...(await openPlaceHere(repo)) };
      await project.json('init');
      expect(JSON.parse(await project.read('.forge/config.json'))).toMatchObject({ name: folder });
      const { id } = await project.create('here');
      expect(await project.text('task', 'show', id)).toContain(`${id}  here  [open]`);
      project.git('add', '.');
      project.git('commit', '--quiet', '-m', 'forge');
      expect(project.git('status', '--porcelain')).toBe('');
    },
  );
});

describe('other repositories', () => {
  it('a git repository inside the project is not the project', async () => {
    await using project = await forgeProjectHere();
    await mkdir(join(project.path, 'vendor/lib'), { recursive: true });
    runTestGit(join(project.path, 'vendor/lib'), ['init', '--quiet']);
    const nested = project.with({ cwd: join(project.path, 'vendor/lib') });
    const failures = await Promise.all([nested.fails('ready'), nested.fails('task', 'create', 'x')]);
    for (const { exit, error } of failures) expect([exit, error.code]).toEqual([5, 'not_a_project']);
    expect(await titles(project.with({ cwd: join(project.path, 'vendor') }))).toEqual([]);
    // It can be one of its own.
    await nested.json('init', '--prefix', 'lib');
    expect((await nested.create('mine')).id).toMatch(/^lib-/);
    expect(await titles(project)).toEqual([]);
  });

  it('a submodule is a repository of its own', async () => {
    await using project = await forgeProjectHere();
    await using library = await tempRepo();
    await library.write('a.txt', '');
    library.git('add', '.');
    library.git('commit', '--quiet', '-m', 'a');
    project.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, 'library');
    const inside = project.with({ cwd: join(project.path, 'library') });
    expect((await inside.fails('ready')).error.code).toBe('not_a_project');
    await inside.json('init', '--prefix', 'sub');
    await inside.create('in the submodule');
    expect(await titles(project)).toEqual([]);
    expect(existsSync(join(project.path, '.git/modules/library/forge/forge.db'))).toBe(true);
  });

  it('a .git file that leads nowhere is named, not passed over', async () => {
    await using project = await forgeProjectHere();
    await project.write('moved/.git', 'gitdir: /nowhere/at/all\n');
    const failure = await project.with({ cwd: join(project.path, 'moved') }).fails('task', 'create', 'x');
    expect(failure).toMatchObject({ exit: 5, error: { code: 'not_a_repository' } });
    expect(failure.error.message).toContain('/nowhere/at/all');
    expect(await titles(project)).toEqual([]);
  });

  it('the forge home is never taken for a project', async () => {
    await using folder = await forgeFolderHere();
    const { home } = folder;
    runTestGit(home, ['init', '--quiet']);
    await mkdir(join(home, '.forge'));
    const inHome = folder.with({ cwd: home });
    const init = await inHome.fails('init');
    expect(init).toMatchObject({ exit: 2, error: { code: 'invalid_input' } });
    expect((await inHome.fails('ready')).error.code).toBe('not_a_project');
    expect(readdirSync(join(home, '.forge'))).toEqual([]);
  });
});

describe('one graph for the repository', () => {
  it('linked worktrees share it, whatever their branch, also when they run at once', async () => {
    await using project = await forgeProjectHere();
    commitAll(project);
    const tree = `${project.path}-feature`;
    project.git('worktree', 'add', '--quiet', '-b', 'feature', tree);
    const there = project.with({ cwd: tree });
    await Promise.all([
      project.program.create('main 1'),
      project.program.with({ cwd: tree }).create('feature 1'),
      project.create('main 2'),
      there.create('feature 2'),
    ]);
    expect(await titles(there)).toEqual(['feature 1', 'feature 2', 'main 1', 'main 2']);
    expect(await titles(project)).toEqual(await titles(there));
    const [first] = await there.json<Task[]>('ready', '--limit', '1');
    await Promise.all([
      project.run('claim', first?.id ?? '', '--actor', 'in-main'),
      project.program.with({ cwd: tree }).run('claim', first?.id ?? '', '--actor', 'in-feature'),
    ]);
    expect((await project.show(first?.id ?? '')).assignee).toMatch(/^in-/);
    expect(runTestGit(tree, ['status', '--porcelain'])).toBe('');
    expect((await there.fails('init')).error.code).toBe('already_exists');
  });

  it('a branch older than init has it too, and stays clean', async () => {
    await using repo = await tempRepo();
    await repo.write('a.txt', 'a');
    repo.git('add', '.');
    repo.git('commit', '--quiet', '-m', 'before forge');
    repo.git('branch', 'old');
    const forge = await openPlaceHere(repo);
    await forge.json('init', '--prefix', 'br');
    commitAll(repo);
    await forge.create('on main');
    repo.git('switch', '--quiet', 'old');
    expect(existsSync(join(repo.path, '.forge/config.json'))).toBe(false);
    expect((await forge.create('on old')).id).toMatch(/^br-/);
    expect(await titles(forge)).toEqual(['on main', 'on old']);
    expect(repo.git('status', '--porcelain')).toBe('');
    const again = await forge.fails('init');
    expect(again).toMatchObject({ exit: 4, error: { code: 'already_exists' } });
    repo.git('switch', '--quiet', 'main');
    expect(repo.git('status', '--porcelain')).toBe('');
    expect(await titles(forge)).toEqual(['on main', 'on old']);
  });

  it('git clean, stash and reset cannot touch it', async () => {
    await using project = await forgeProjectHere();
    commitAll(project);
    await project.create('kept');
    await project.write('untracked.txt', 'x');
    project.git('stash', '--quiet', '--include-untracked');
    project.git('clean', '-fdxq');
    project.git('reset', '--quiet', '--hard');
    expect(await titles(project)).toEqual(['kept']);
  });

  it('a worktree of a bare repository is a project like any other', async () => {
    await using folder = await tempFolder({ folder: 'hub' });
    const forge = await openPlaceHere(folder);
    const bare = join(folder.path, 'app.git');
    runTestGit(folder.path, ['init', '--quiet', '--bare', '-b', 'main', bare]);
    const identity = ['-c', 'user.name=T', '-c', 'user.email=t@example.com'];
    const empty = runTestGit(bare, ['hash-object', '-t', 'tree', '-w', '/dev/null']);
    const commit = runTestGit(bare, [...identity, 'commit-tree', '-m', 'root', empty]);
    runTestGit(bare, ['update-ref', 'refs/heads/main', commit]);
    runTestGit(bare, ['worktree', 'add', '--quiet', join(folder.path, 'one'), 'main']);
    runTestGit(bare, ['worktree', 'add', '--quiet', '-b', 'two', join(folder.path, 'two')]);
    const [one, two] = ['one', 'two'].map((name) => forge.with({ cwd: join(folder.path, name) }));
    expect((await forge.with({ cwd: bare }).fails('init')).error.code).toBe('not_a_repository');
    const made = await one?.json<{ name: string; database: string }>('init');
    expect(made).toMatchObject({ name: 'app', database: join(bare, 'forge/forge.db') });
    await one?.create('from one');
    await two?.create('from two');
    expect(two && (await titles(two))).toEqual(['from one', 'from two']);
  });
});

describe('inside a git hook', () => {
  it('works on the folder it is in, whatever GIT_DIR and GIT_INDEX_FILE say', async () => {
    await using project = await forgeProjectHere({ prefix: 'aa' });
    await using other = await forgeProjectHere({ prefix: 'bb' });
    await using fresh = await tempRepo();
    commitAll(project);
    const tree = `${project.path}-tree`;
    project.git('worktree', 'add', '--quiet', '-b', 'feature', tree);
    await project.write(
      '.git/hooks/pre-commit',
      `#!/bin/sh
set -eu
test -n "$GIT_INDEX_FILE"
forge task create "hook in $(basename "$PWD")" --json --fields id,created_by >> "${dirname(project.path)}/hook.log"
forge -C "${other.path}" task create "elsewhere" --json --fields id,created_by >> "${dirname(project.path)}/hook.log"
`,
    );
    await chmod(join(project.path, '.git/hooks/pre-commit'), 0o755);
    const commit = (cwd: string): string =>
      runTestGit(cwd, ['commit', '--quiet', '--allow-empty', '-m', 'with a hook'], project.env);
    commit(project.path);
    commit(tree);
    expect(await titles(project)).toEqual(['hook in project', 'hook in project-tree']);
    expect(await titles(other)).toEqual(['elsewhere', 'elsewhere']);
    expect(project.git('status', '--porcelain')).toBe('');

    // GIT_DIR as such: it points at one repository while the command is in another.
    const pointed = fresh.path;
    const forge = other.program.with({
      env: { GIT_DIR: join(project.path, '.git'), GIT_WORK_TREE: project.path },
    });
    expect(await titles(forge)).toEqual(['elsewhere', 'elsewhere']);
    await forge.json('-C', pointed, 'init', '--prefix', 'cc');
    expect(await titles(forge.with({ cwd: pointed }))).toEqual([]);
    expect(existsSync(join(pointed, '.git/forge/forge.db'))).toBe(true);
  });

  it('the demo does not touch the repository that runs the hook', async () => {
    await using project = await forgeProjectHere();
    commitAll(project);
    const head = project.git('rev-parse', 'HEAD');
    const temporary = join(dirname(project.path), 'tmp');
    await mkdir(temporary);
    const env = {
      GIT_DIR: join(project.path, '.git'),
      GIT_INDEX_FILE: join(project.path, '.git/index'),
      TMPDIR: temporary,
    };
    // It takes its time, so the example of its help is run here, once for all that is wanted of it.
    const [example = '', ...more] =
      OPERATIONS.find(({ name }) => name === 'project.demo')?.cli.examples ?? [];
    expect(more).toEqual([]);
    const demo = await project.program
      .with({ env })
      .json<OutputOf<typeof runDemo>>(...example.split(' ').slice(1));
    expect(demo).toMatchObject({ kept: false, url: null });
    expect(demo.closed).toHaveLength(6);
    expect(projectDemo.text(demo, { color: false, columns: 80, now: 0 })).toMatch(
      /^Done: 6 tasks by 2 agents, each tested and merged\. The repository goes when this ends/,
    );
    // But for empty folders, in whose places agents inside of walls have caches of their own.
    const kept = readdirSync(project.home, { recursive: true });
    const made = ['.cache', '.npm', '.forge', '.forge/told', '.forge/told/no-walls'];
    expect(kept.filter((name) => !made.includes(String(name)))).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
    expect(project.git('rev-parse', 'HEAD')).toBe(head);
    expect(project.git('status', '--porcelain')).toBe('');
    expect(await titles(project)).toEqual([]);
  });
});

function commitAll(repo: Pick<ForgeProject, 'git'>): void {
  repo.git('add', '.');
  repo.git('commit', '--quiet', '-m', 'forge');
}

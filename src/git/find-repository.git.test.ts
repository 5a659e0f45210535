import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runTestGit, tempFolder, tempRepo, type TempRepo } from '../../tests/support/temp-repo.ts';
import { findRepository, type Repository } from './find-repository.ts';

const REV_PARSE = [
  'rev-parse',
  '--path-format=absolute',
  '--show-toplevel',
  '--absolute-git-dir',
  '--git-common-dir',
];

/** What git itself says; undefined where it has no working tree. */
function askGit(cwd: string): Repository | undefined {
  try {
    const [worktree, gitDir, commonDir] = runTestGit(cwd, REV_PARSE).split('\n');
    if (worktree === undefined || gitDir === undefined || commonDir === undefined) return undefined;
    return { worktree, git_dir: gitDir, common_dir: commonDir };
  } catch {
    return undefined;
  }
}

function expectSameAsGit(cwd: string): Repository | undefined {
  const found = findRepository(cwd);
  expect(found).toEqual(askGit(cwd));
  return found;
}

async function repoWithCommit(folder = 'project'): Promise<TempRepo> {
  const repo = await tempRepo({ folder });
  await repo.write('src/deep/a.txt', 'a\n');
  repo.git('add', '.');
  repo.git('commit', '--quiet', '-m', 'first');
  return repo;
}

describe('findRepository', () => {
  it('finds the top from anywhere inside, also without commits', async () => {
    await using repo = await tempRepo();
    await repo.write('src/deep/a.txt', 'a\n');
    const git = join(repo.path, '.git');
    expect(expectSameAsGit(repo.path)).toEqual({ worktree: repo.path, git_dir: git, common_dir: git });
    expect(expectSameAsGit(join(repo.path, 'src', 'deep'))?.worktree).toBe(repo.path);
  });

  it('gives undefined outside every repository', async () => {
    await using folder = await tempFolder();
    expect(expectSameAsGit(folder.path)).toBeUndefined();
  });

  it.each(['with space', 'Größe 名前', "it's #1; [x]", ' lead and trail '])(
    'works in a folder named %j',
    async (name) => {
      await using repo = await repoWithCommit(name);
      expect(expectSameAsGit(join(repo.path, 'src'))?.worktree).toBe(repo.path);
      repo.git('worktree', 'add', '--quiet', '-b', 'linked', join('..', `${name} wt`));
      expect(expectSameAsGit(join(repo.path, '..', `${name} wt`, 'src'))?.common_dir).toBe(
        join(repo.path, '.git'),
      );
    },
  );

  it('tells a linked worktree from the main one', async () => {
    await using repo = await repoWithCommit();
    const linked = join(repo.path, '..', 'linked');
    repo.git('worktree', 'add', '--quiet', linked);
    expect(expectSameAsGit(join(linked, 'src', 'deep'))).toEqual({
      worktree: linked,
      git_dir: join(repo.path, '.git', 'worktrees', 'linked'),
      common_dir: join(repo.path, '.git'),
    });
  });

  it('takes the linked worktree that lies inside the main one', async () => {
    await using repo = await repoWithCommit();
    repo.git('worktree', 'add', '--quiet', 'trees/inner');
    expect(expectSameAsGit(join(repo.path, 'trees', 'inner', 'src'))?.worktree).toBe(
      join(repo.path, 'trees', 'inner'),
    );
    expect(expectSameAsGit(join(repo.path, 'trees'))?.worktree).toBe(repo.path);
  });

  it('reads a relative .git file, also through a symbolic link', async () => {
    await using repo = await repoWithCommit();
    const linked = join(repo.path, '..', 'linked');
    repo.git('worktree', 'add', '--quiet', linked);
    await repo.write('../linked/.git', 'gitdir: ../project/.git/worktrees/linked\r\n');
    expect(expectSameAsGit(linked)?.common_dir).toBe(join(repo.path, '.git'));
    await mkdir(join(repo.path, '..', 'a', 'b'), { recursive: true });
    const alias = join(repo.path, '..', 'a', 'b', 'alias');
    await symlink(linked, alias);
    expect(findRepository(alias)?.common_dir).toBe(join(repo.path, '.git'));
  });

  it('finds a submodule as a repository of its own', async () => {
    await using repo = await repoWithCommit();
    await using library = await repoWithCommit('library');
    repo.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library.path, 'lib/sub');
    const gitDir = join(repo.path, '.git', 'modules', 'lib', 'sub');
    expect(expectSameAsGit(join(repo.path, 'lib', 'sub', 'src'))).toEqual({
      worktree: join(repo.path, 'lib', 'sub'),
      git_dir: gitDir,
      common_dir: gitDir,
    });
    runTestGit(join(repo.path, 'lib', 'sub'), ['worktree', 'add', '--quiet', '../../../sub-linked']);
    expect(expectSameAsGit(join(repo.path, '..', 'sub-linked'))?.common_dir).toBe(gitDir);
  });

  it('works inside the worktrees of a bare repository, not in the repository', async () => {
    await using repo = await repoWithCommit();
    const bare = join(repo.path, '..', 'hub.git');
    repo.git('clone', '--quiet', '--bare', '.', bare);
    runTestGit(bare, ['worktree', 'add', '--quiet', '../tree', 'main']);
    const tree = join(repo.path, '..', 'tree');
    expect(expectSameAsGit(join(tree, 'src'))?.common_dir).toBe(bare);
    for (const inside of ['.', 'refs', 'objects/info', 'worktrees/tree']) {
      expect(expectSameAsGit(join(bare, inside))).toBeUndefined();
    }
    runTestGit(bare, ['config', 'extensions.worktreeConfig', 'true']);
    expect(findRepository(tree)?.common_dir).toBe(bare);
  });

  it('knows the hub folder whose .git is bare from its worktrees', async () => {
    await using repo = await repoWithCommit();
    const hub = join(repo.path, '..', 'hub');
    repo.git('clone', '--quiet', '--bare', '.', join(hub, '.bare'));
    await repo.write('../hub/.git', 'gitdir: ./.bare\n');
    runTestGit(hub, ['worktree', 'add', '--quiet', 'main-tree', 'main']);
    expect(expectSameAsGit(hub)).toBeUndefined();
    expect(expectSameAsGit(join(hub, 'main-tree', 'src'))?.common_dir).toBe(join(hub, '.bare'));
    // The place where git keeps it once every worktree has a configuration of its own.
    runTestGit(hub, ['config', 'extensions.worktreeConfig', 'true']);
    runTestGit(hub, ['config', '--worktree', 'core.bare', 'true']);
    runTestGit(hub, ['config', '--file', join(hub, '.bare', 'config'), '--unset', 'core.bare']);
    expect(expectSameAsGit(hub)).toBeUndefined();
    expect(expectSameAsGit(join(hub, 'main-tree'))?.common_dir).toBe(join(hub, '.bare'));
  });

  it('follows core.worktree', async () => {
    await using repo = await tempRepo();
    await mkdir(join(repo.path, 'elsewhere'));
    repo.git('config', 'core.worktree', '../elsewhere');
    expect(expectSameAsGit(repo.path)?.worktree).toBe(join(repo.path, 'elsewhere'));
  });

  it.each(['bare = true', 'bare', 'BARE=1', 'bare = "yes" ; so'])(
    'sees %j in the configuration',
    async (line) => {
      await using repo = await tempRepo();
      await repo.write('.git/config', `[core]\n\trepositoryformatversion = 0\n\t${line}\n`);
      expect(expectSameAsGit(repo.path)).toBeUndefined();
    },
  );

  it('gives undefined inside .git', async () => {
    await using repo = await repoWithCommit();
    repo.git('worktree', 'add', '--quiet', '../linked');
    for (const inside of ['.git', '.git/refs/heads', '.git/worktrees/linked', '.git/hooks']) {
      expect(expectSameAsGit(join(repo.path, inside))).toBeUndefined();
    }
  });

  it('gives undefined inside a bare repository that lies in a working tree', async () => {
    await using repo = await repoWithCommit();
    repo.git('init', '--quiet', '--bare', 'fixtures/bare.git');
    expect(expectSameAsGit(join(repo.path, 'fixtures', 'bare.git', 'hooks'))).toBeUndefined();
    expect(expectSameAsGit(join(repo.path, 'fixtures'))?.worktree).toBe(repo.path);
  });

  it('passes by a .git folder that is none, and a file called HEAD', async () => {
    await using repo = await repoWithCommit();
    await repo.write('src/.git/note.txt', 'not a repository\n');
    await repo.write('src/HEAD', 'nor this\n');
    expect(expectSameAsGit(join(repo.path, 'src'))?.worktree).toBe(repo.path);
  });

  it('takes a HEAD that is a symbolic link to a branch without commits', async () => {
    await using repo = await tempRepo();
    await rm(join(repo.path, '.git', 'HEAD'));
    await symlink('refs/heads/main', join(repo.path, '.git', 'HEAD'));
    expect(expectSameAsGit(repo.path)?.worktree).toBe(repo.path);
  });

  it('follows a .git that is a symbolic link to a folder', async () => {
    await using repo = await repoWithCommit();
    await rename(join(repo.path, '.git'), join(repo.path, '..', 'moved.git'));
    await symlink('../moved.git', join(repo.path, '.git'));
    expect(findRepository(join(repo.path, 'src'))?.worktree).toBe(repo.path);
  });

  it.each([
    ['', /does not say "gitdir: <path>"/],
    ['gitdir: \n', /does not say/],
    ['gitdir:/nowhere', /does not say/],
    ['something else\n', /does not say/],
    ['gitdir: ../nowhere\n', /points to .*nowhere, which is not a git directory/],
    ['gitdir: .\n', /points to/],
    ['gitdir: src/a.txt\n', /points to/],
  ])('says what is wrong with the .git file %j', async (text, message) => {
    await using folder = await tempFolder();
    await folder.write('.git', text);
    await folder.write('src/a.txt', '');
    expect(askGit(folder.path)).toBeUndefined();
    expect(() => findRepository(join(folder.path, 'src'))).toThrow(
      expect.objectContaining({
        code: 'not_a_repository',
        message: expect.stringMatching(message),
        hint: expect.stringContaining('git'),
        details: { path: join(folder.path, '.git') },
      }),
    );
  });

  it('says so when the main repository of a linked worktree is gone', async () => {
    await using repo = await repoWithCommit();
    repo.git('worktree', 'add', '--quiet', '../linked');
    const linked = join(repo.path, '..', 'linked');
    await repo.write('.git/worktrees/linked/commondir', '../../../gone\n');
    expect(() => findRepository(linked)).toThrow(/commondir is broken: it points to .*gone/);
    await rm(join(repo.path, '.git'), { recursive: true });
    expect(() => findRepository(linked)).toThrow(/\.git is broken/);
  });
});

import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hookRepo } from '../../tests/support/hook-repo.ts';
import { runTestGit } from '../../tests/support/temp-repo.ts';
import { type HookOptions, installHooks, readHookStatus, uninstallHooks } from './hook-blocks.ts';
import { KEEPER_HOOK } from './hooks/hook-block.ts';
import { getRepositoryPaths } from './repository-paths.ts';

const HOOKS = ['pre-commit', 'post-merge', 'post-checkout', 'post-rewrite'];
const states = async (options: HookOptions) => (await readHookStatus(options)).map((row) => row.state);
const all = (state: string) => HOOKS.map(() => state);

describe('in a plain repository', () => {
  it('runs Forge for a commit, a merge, a checkout and a rebase, and never fails them', async () => {
    await using repo = await hookRepo();
    expect(await states(repo.options)).toEqual(all('absent'));
    const rows = await installHooks(repo.options);
    expect(rows.map((row) => [row.hook, row.state, row.changed])).toEqual(
      HOOKS.map((hook) => [hook, 'installed', true]),
    );
    expect(rows[0]?.file).toBe(join(repo.path, '.git/hooks/pre-commit'));
    // The stand-in exits with 7 each time.
    expect((await repo.commit('a.txt')).exit).toBe(0);
    expect(await repo.calls()).toEqual(['hook=pre-commit args=[hook][pre-commit] stdin=0']);
    expect(repo.tryGit(['checkout', '-b', 'side']).exit).toBe(0);
    expect(await repo.calls()).toEqual([
      expect.stringMatching(
        /^hook=post-checkout args=\[hook\]\[post-checkout\](\[[0-9a-f]{40}\]){2}\[1\] stdin=0$/,
      ),
    ]);
    await repo.commit('b.txt');
    repo.git('checkout', '-q', 'main');
    await repo.calls();
    expect(repo.tryGit(['merge', 'side']).exit).toBe(0);
    expect(await repo.calls()).toEqual(['hook=post-merge args=[hook][post-merge][0] stdin=0']);
    repo.git('checkout', '-q', '-b', 'late', 'main~1');
    await repo.commit('c.txt');
    await repo.calls();
    expect(repo.tryGit(['rebase', 'main']).exit).toBe(0);
    expect(await repo.calls()).toContain('hook=post-rewrite args=[hook][post-rewrite][rebase] stdin=0');
  });

  it('is quiet where the program is gone, and where Forge itself called git', async () => {
    await using repo = await hookRepo();
    await installHooks(repo.options);
    const own = repo.tryGit(['commit', '--allow-empty', '-m', 'x'], { env: { FORGE_HOOK: 'pre-commit' } });
    expect(own.exit).toBe(0);
    expect(await repo.calls()).toEqual([]);
    rmSync(repo.program.script);
    const without = repo.tryGit(['commit', '--quiet', '--allow-empty', '-m', 'y']);
    expect(without).toEqual({ exit: 0, output: '' });
    expect(await repo.calls()).toEqual([]);
  });

  it('makes hooks where git has no folder for them, and leaves the repository as it was', async () => {
    await using repo = await hookRepo();
    rmSync(join(repo.path, '.git/hooks'), { recursive: true });
    await installHooks(repo.options);
    await repo.commit('a.txt');
    expect(await repo.calls()).toHaveLength(1);
    const rows = await uninstallHooks(repo.options);
    expect(rows.map((row) => [row.state, row.changed])).toEqual(HOOKS.map(() => ['absent', true]));
    expect(existsSync(join(repo.path, '.git/hooks'))).toBe(false);
  });

  it('does nothing the second time, and renews the block of a program that has moved', async () => {
    await using repo = await hookRepo();
    await installHooks(repo.options);
    const file = join(repo.path, '.git/hooks/pre-commit');
    const { mtimeNs, ino } = statSync(file, { bigint: true });
    const again = await installHooks(repo.options);
    expect(again.every((row) => row.state === 'installed' && !row.changed)).toBe(true);
    expect(statSync(file, { bigint: true })).toMatchObject({ mtimeNs, ino });
    const moved = { ...repo.options, program: { ...repo.program, script: '/elsewhere/forge.cjs' } };
    expect(await states(moved)).toEqual(all('outdated'));
    expect((await installHooks(moved)).every((row) => row.state === 'installed' && row.changed)).toBe(true);
    expect(readFileSync(file, 'utf8').match(/>>> forge/g)).toHaveLength(1);
    expect(readFileSync(file, 'utf8')).not.toContain(repo.program.script);
  });

  it('uses the common hooks in a linked worktree', async () => {
    await using repo = await hookRepo();
    await repo.commit('a.txt');
    const linked = join(dirname(repo.path), 'linked');
    repo.git('worktree', 'add', '-q', linked);
    const paths = getRepositoryPaths(linked);
    const rows = await installHooks({ ...repo.options, paths });
    expect(rows[0]?.file).toBe(join(repo.path, '.git/hooks/pre-commit'));
    runTestGit(linked, ['commit', '-q', '--allow-empty', '-m', 'x']);
    expect(await repo.calls()).toEqual(['hook=pre-commit args=[hook][pre-commit] stdin=0']);
    expect(await states(repo.options)).toEqual(all('installed'));
  });
});

describe('beside a hook of the user', () => {
  it('comes before an exit or exec, and the rest keeps its exit code, its arguments and every byte', async () => {
    await using repo = await hookRepo();
    const file = join(repo.path, '.git/hooks/pre-commit');
    const text = Buffer.from('#!/bin/bash -eu\n# \u00ff\r\necho "mine $#"\nexit 3\n', 'latin1');
    await repo.writeScript('.git/hooks/pre-commit', text);
    chmodSync(file, 0o750);
    await installHooks(repo.options);
    expect(statSync(file).mode & 0o777).toBe(0o750);
    const answer = await repo.commit('a.txt');
    expect(answer.exit).toBe(1);
    expect(answer.output).toContain('mine 0');
    expect(await repo.calls()).toHaveLength(1);
    await uninstallHooks(repo.options);
    expect(readFileSync(file)).toEqual(text);
    expect(statSync(file).mode & 0o777).toBe(0o750);
  });

  it('leaves the list of commits on the standard input of post-rewrite', async () => {
    await using repo = await hookRepo();
    await repo.commit('a.txt');
    await repo.writeScript('.git/hooks/post-rewrite', '#!/bin/sh\necho "mine $1 $(wc -l)"\n');
    await installHooks(repo.options);
    const answer = repo.tryGit(['commit', '--amend', '-m', 'again']);
    expect(answer.output).toContain('mine amend 1');
    expect(await repo.calls()).toContain('hook=post-rewrite args=[hook][post-rewrite][amend] stdin=0');
  });

  it('runs in a file without a first line for the system, as git does', async () => {
    await using repo = await hookRepo();
    await repo.writeScript('.git/hooks/pre-commit', 'echo "plain mine"\nexit 0\n');
    await installHooks(repo.options);
    expect((await repo.commit('a.txt')).output).toContain('plain mine');
    expect(await repo.calls()).toHaveLength(1);
  });

  it('keeps a file with CRLF, and says where this system cannot run it', async () => {
    await using repo = await hookRepo();
    const file = join(repo.path, '.git/hooks/pre-commit');
    await repo.writeScript('.git/hooks/pre-commit', '#!/bin/sh\r\necho mine\r\n');
    const [row] = await installHooks(repo.options);
    expect(row).toMatchObject({ state: 'installed', changed: true });
    expect(row?.advice?.includes('carriage return') === true).toBe(process.platform !== 'win32');
    expect(readFileSync(file, 'latin1')).toMatch(/^#!\/bin\/sh\r\n# >>>[^\r]*<<<\necho mine\r\n$/);
    await uninstallHooks(repo.options);
    expect(readFileSync(file, 'latin1')).toBe('#!/bin/sh\r\necho mine\r\n');
  });

  it.skipIf(process.platform === 'win32')('leaves one alone that git skips', async () => {
    await using repo = await hookRepo();
    const file = join(repo.path, '.git/hooks/pre-commit');
    writeFileSync(file, '#!/bin/sh\necho mine\n');
    chmodSync(file, 0o644);
    const [row] = await installHooks(repo.options);
    expect(row).toMatchObject({ state: 'not_executable', changed: false });
    expect(row?.advice).toContain(`chmod +x '${file}'`);
    expect(readFileSync(file, 'utf8')).toBe('#!/bin/sh\necho mine\n');
    chmodSync(file, 0o755);
    await installHooks(repo.options);
    chmodSync(file, 0o644);
    expect((await states(repo.options))[0]).toBe('not_executable');
    await uninstallHooks(repo.options);
    expect(readFileSync(file, 'utf8')).toBe('#!/bin/sh\necho mine\n');
  });

  it('leaves one alone that no shell runs, and knows the line that its owner put in', async () => {
    await using repo = await hookRepo();
    const file = join(repo.path, '.git/hooks/pre-commit');
    const python = '#!/usr/bin/env python3\nprint("mine")\n';
    await repo.writeScript('.git/hooks/pre-commit', python);
    const [row] = await installHooks(repo.options);
    expect(row).toMatchObject({ state: 'not_shell', changed: false });
    expect(row?.advice).toContain('forge hook pre-commit');
    expect(readFileSync(file, 'utf8')).toBe(python);
    writeFileSync(file, `${python}import os; os.system("forge hook pre-commit")\n`);
    expect((await states(repo.options))[0]).toBe('installed');
    const [left] = await uninstallHooks(repo.options);
    expect(left).toMatchObject({ state: 'installed', changed: false });
    expect(left?.advice).toContain('by hand');
  });

  it('does not guess where a torn block ends', async () => {
    await using repo = await hookRepo();
    const torn = '#!/bin/sh\n# >>> forge >>>\necho mine\n';
    await repo.writeScript('.git/hooks/pre-commit', torn);
    const [row] = await installHooks(repo.options);
    expect(row).toMatchObject({ state: 'foreign', changed: false });
    expect(row?.advice).toContain('by hand');
    await uninstallHooks(repo.options);
    expect(readFileSync(join(repo.path, '.git/hooks/pre-commit'), 'utf8')).toBe(torn);
  });

  it('leaves no other file behind, and keeps those that were there', async () => {
    await using repo = await hookRepo();
    const folder = join(repo.path, '.git/hooks');
    const before = readdirSync(folder).toSorted();
    await installHooks(repo.options);
    expect(readdirSync(folder).toSorted()).toEqual([...before, ...HOOKS, KEEPER_HOOK].toSorted());
    await uninstallHooks(repo.options);
    expect(readdirSync(folder).toSorted()).toEqual(before);
  });
});

describe('what is not Forge’s to write', () => {
  it('never edits a tracked hook, nor puts a new one beside it', async () => {
    await using repo = await hookRepo();
    await repo.writeScript('.githooks/pre-commit', '#!/bin/sh\nexit 0\n');
    repo.git('config', 'core.hooksPath', '.githooks');
    repo.git('add', '.');
    const rows = await installHooks({ ...repo.options, shared: true });
    expect(rows.map((row) => row.state)).toEqual(all('tracked'));
    expect(rows[0]).toMatchObject({ file: join(repo.path, '.githooks/pre-commit'), changed: false });
    expect(rows[0]?.advice).toContain(
      'command -v forge >/dev/null 2>&1 && forge hook pre-commit "$@" || true',
    );
    expect(repo.git('status', '--porcelain')).toBe('A  .githooks/pre-commit');
    // The line by hand does what the block would have done.
    const line = rows[0]?.advice?.replace(/^.*?: /, '') ?? '';
    await repo.writeScript('.githooks/pre-commit', `#!/bin/sh\n${line}\nexit 0\n`);
    expect((await states(repo.options))[0]).toBe('installed');
    await repo.writeScript('.git/bin/forge', '#!/bin/sh\necho "[line] $*"\nexit 7\n');
    const env = { PATH: `${join(repo.path, '.git/bin')}:${process.env['PATH']}` };
    const answer = repo.tryGit(['commit', '-m', 'x'], { env });
    expect(answer).toMatchObject({ exit: 0, output: expect.stringContaining('[line] hook pre-commit') });
  });

  it('writes into an untracked folder of the working tree', async () => {
    await using repo = await hookRepo();
    repo.git('config', 'core.hooksPath', 'my hooks');
    expect((await installHooks(repo.options)).map((row) => row.state)).toEqual(all('installed'));
    expect(existsSync(join(repo.path, 'my hooks/post-merge'))).toBe(true);
    repo.tryGit(['commit', '--allow-empty', '-m', 'x']);
    expect(await repo.calls()).toHaveLength(1);
    await uninstallHooks(repo.options);
    expect(existsSync(join(repo.path, 'my hooks/post-merge'))).toBe(false);
  });

  it('writes outside the repository only when asked to', async () => {
    await using repo = await hookRepo();
    const outside = join(dirname(repo.path), 'hooks of all');
    mkdirSync(outside);
    const config = join(dirname(repo.path), 'gitconfig');
    writeFileSync(config, `[core]\n\thooksPath = ${outside}\n`);
    const env = { ...repo.options.env, GIT_CONFIG_GLOBAL: config };
    const options = { ...repo.options, env };
    const rows = await installHooks(options);
    expect(rows.map((row) => row.state)).toEqual(all('outside'));
    expect(rows[0]).toMatchObject({ file: join(outside, 'pre-commit'), changed: false });
    expect(rows[0]?.advice).toContain('--shared');
    expect(readdirSync(outside)).toEqual([]);
    await installHooks({ ...options, shared: true });
    expect(await states(options)).toEqual(all('installed'));
    expect(repo.tryGit(['commit', '--allow-empty', '-m', 'x'], { env }).exit).toBe(0);
    expect(await repo.calls()).toHaveLength(1);
    const kept = await uninstallHooks(options);
    expect(kept.map((row) => [row.state, row.changed])).toEqual(HOOKS.map(() => ['installed', false]));
    expect(kept[0]?.advice).toContain('by hand');
    await uninstallHooks({ ...options, shared: true });
    expect(readdirSync(outside)).toEqual([]);
  });

  it('never writes a file that another repository tracks, even when asked to write outside', async () => {
    await using repo = await hookRepo();
    const dotfiles = join(dirname(repo.path), 'dotfiles');
    mkdirSync(dotfiles);
    runTestGit(dotfiles, ['init', '-q']);
    writeFileSync(join(dotfiles, 'pre-commit'), '#!/bin/sh\n');
    chmodSync(join(dotfiles, 'pre-commit'), 0o755);
    runTestGit(dotfiles, ['add', '.']);
    repo.git('config', 'core.hooksPath', dotfiles);
    const rows = await installHooks({ ...repo.options, shared: true });
    expect(rows.map((row) => row.state)).toEqual(['tracked', 'installed', 'installed', 'installed']);
    expect(readFileSync(join(dotfiles, 'pre-commit'), 'utf8')).toBe('#!/bin/sh\n');
  });

  it('never writes through a link', async () => {
    await using repo = await hookRepo();
    const outside = join(dirname(repo.path), 'outside');
    for (const path of [join(repo.path, 'tracked'), outside, join(repo.path, '.git/mine')]) {
      writeFileSync(path, '#!/bin/sh\nexit 0\n');
      chmodSync(path, 0o755);
    }
    repo.git('add', 'tracked');
    const folder = join(repo.path, '.git/hooks');
    symlinkSync('../../tracked', join(folder, 'pre-commit'));
    symlinkSync(outside, join(folder, 'post-merge'));
    symlinkSync('../mine', join(folder, 'post-checkout'));
    symlinkSync('nowhere', join(folder, 'post-rewrite'));
    const rows = await installHooks({ ...repo.options, shared: true });
    expect(rows.map((row) => row.state)).toEqual(['tracked', 'outside', 'foreign', 'foreign']);
    expect(rows.every((row) => !row.changed && row.advice !== undefined)).toBe(true);
    await uninstallHooks({ ...repo.options, shared: true });
    for (const path of [join(repo.path, 'tracked'), outside, join(repo.path, '.git/mine')])
      expect(readFileSync(path, 'utf8')).toBe('#!/bin/sh\nexit 0\n');
    for (const hook of HOOKS) expect(lstatSync(join(folder, hook)).isSymbolicLink()).toBe(true);
  });

  it('judges a linked folder by where it leads', async () => {
    await using repo = await hookRepo();
    const folder = join(repo.path, '.git/hooks');
    rmSync(folder, { recursive: true });
    await repo.writeScript('scripts/pre-commit', '#!/bin/sh\n');
    repo.git('add', '.');
    symlinkSync('../scripts', folder);
    expect((await installHooks(repo.options)).map((row) => row.state)).toEqual(all('tracked'));
    rmSync(folder);
    mkdirSync(join(dirname(repo.path), 'elsewhere'));
    symlinkSync(join(dirname(repo.path), 'elsewhere'), folder);
    expect((await installHooks(repo.options)).map((row) => row.state)).toEqual(all('outside'));
  });

  it.each([
    ['/dev/null', 'foreign'],
    ['', 'outside'],
    ['file.txt', 'foreign'],
  ])('says so where git runs no hooks: core.hooksPath=%j', async (value, state) => {
    await using repo = await hookRepo();
    await repo.write('file.txt', 'x');
    repo.git('config', 'core.hooksPath', value);
    const rows = await installHooks(repo.options);
    expect(rows.map((row) => row.state)).toEqual(all(state));
    expect(rows.every((row) => row.advice !== undefined)).toBe(true);
  });

  it('takes back blocks that a later core.hooksPath has put out of use', async () => {
    await using repo = await hookRepo();
    await installHooks(repo.options);
    repo.git('config', 'core.hooksPath', 'later');
    expect(await states(repo.options)).toEqual(all('absent'));
    const rows = await uninstallHooks(repo.options);
    expect(rows).toHaveLength(8);
    expect(rows.filter((row) => row.changed).map((row) => row.file)).toEqual(
      HOOKS.map((hook) => join(repo.path, '.git/hooks', hook)),
    );
    expect(existsSync(join(repo.path, '.git/hooks/pre-commit'))).toBe(false);
  });

  it('is not led astray by the variables of a git that runs it', async () => {
    await using repo = await hookRepo();
    await using other = await hookRepo();
    other.git('config', 'core.hooksPath', 'elsewhere');
    const env = { ...repo.options.env, GIT_DIR: join(other.path, '.git'), GIT_WORK_TREE: other.path };
    const [row] = await readHookStatus({ ...repo.options, env });
    expect(row?.file).toBe(join(repo.path, '.git/hooks/pre-commit'));
  });
});

describe('when the file cannot be written', () => {
  it('says which and why', async () => {
    await using repo = await hookRepo();
    await repo.write('file.txt', 'x');
    repo.git('config', 'core.hooksPath', 'file.txt/hooks');
    await expect(installHooks(repo.options)).rejects.toMatchObject({
      code: 'io_failed',
      message: expect.stringContaining(join(repo.path, 'file.txt/hooks/pre-commit')),
    });
  });

  it.skipIf(process.getuid?.() === 0)('names the permission', async () => {
    await using repo = await hookRepo();
    const folder = join(repo.path, '.git/hooks');
    chmodSync(folder, 0o555);
    await expect(installHooks(repo.options)).rejects.toMatchObject({ code: 'permission_denied' });
    chmodSync(folder, 0o755);
  });
});

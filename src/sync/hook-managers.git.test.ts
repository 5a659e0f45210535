import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  generateHusky8,
  HOOK_MANAGERS,
  HOOKS,
  readTeamCalls,
  toHusky8,
  writeTeamCommands,
} from '../../tests/support/hook-managers.ts';
import { hookRepo, type HookRepo } from '../../tests/support/hook-repo.ts';
import { installHooks, readHookStatus, uninstallHooks } from './hook-blocks.ts';

const states = async (repo: HookRepo) => (await readHookStatus(repo.options)).map((row) => row.state);
const all = (state: string) => HOOKS.map(() => state);

/** What Forge and the team saw of it, and how git ended. */
async function watch(repo: HookRepo, ...args: string[]) {
  await repo.calls();
  readTeamCalls(repo);
  const { exit, output } = repo.tryGit(args);
  return { exit, output, forge: await repo.calls(), team: readTeamCalls(repo) };
}

describe.each(HOOK_MANAGERS)('with the hooks of $name', (manager) => {
  it('runs first, and the team’s hooks still run with their arguments, input and exit codes', async () => {
    await using repo = await hookRepo();
    writeTeamCommands(repo);
    repo.tryGit(['commit', '-q', '--allow-empty', '-m', 'root']);
    manager.generate(repo);
    // Before: the team's hooks alone.
    expect(await watch(repo, 'commit', '--allow-empty', '-m', 'before')).toMatchObject({
      exit: 0,
      forge: [],
      team: ['pre-commit [] stdin=0'],
    });
    const rows = await installHooks(repo.options);
    expect(rows.map((row) => [row.state, row.file])).toEqual(
      HOOKS.map((hook) => ['installed', join(repo.path, manager.file(hook))]),
    );
    await repo.write('a.txt', 'a');
    repo.git('add', 'a.txt');
    expect(await watch(repo, 'commit', '-m', 'a')).toMatchObject({
      exit: 0,
      forge: ['hook=pre-commit args=[hook][pre-commit] stdin=0'],
      team: ['pre-commit [] stdin=0'],
    });
    const checkout = await watch(repo, 'checkout', '-b', 'side');
    expect(checkout.exit).toBe(0);
    const arguments_ = /args=\[hook\]\[post-checkout\]\[(\w+)\]\[(\w+)\]\[1\]/.exec(checkout.forge[0] ?? '');
    expect(checkout.team).toEqual([`post-checkout [${arguments_?.[1]} ${arguments_?.[2]} 1] stdin=0`]);
    await repo.commit('b.txt');
    repo.git('checkout', '-q', 'main');
    expect(await watch(repo, 'merge', 'side')).toMatchObject({
      exit: 0,
      forge: ['hook=post-merge args=[hook][post-merge][0] stdin=0'],
      team: ['post-merge [0] stdin=0'],
    });
    repo.git('checkout', '-q', '-b', 'late', 'HEAD~1');
    await repo.commit('c.txt');
    const rebase = await watch(repo, 'rebase', 'main');
    expect(rebase.exit).toBe(0);
    expect(rebase.forge).toContain('hook=post-rewrite args=[hook][post-rewrite][rebase] stdin=0');
    expect(rebase.team).toContain('post-rewrite [rebase] stdin=1');
  });

  it('leaves a refusal of the team’s hook a refusal', async () => {
    await using repo = await hookRepo();
    writeTeamCommands(repo);
    manager.generate(repo);
    await installHooks(repo.options);
    writeFileSync(join(repo.path, '.git/fail'), '');
    const refused = await watch(repo, 'commit', '--allow-empty', '-m', 'x');
    expect(refused).toMatchObject({ exit: 1, team: ['pre-commit [] stdin=0'] });
    expect(refused.forge).toHaveLength(1);
    expect(repo.tryGit(['rev-parse', '-q', '--verify', 'HEAD']).exit).not.toBe(0);
    rmSync(join(repo.path, '.git/fail'));
    expect((await watch(repo, 'commit', '--allow-empty', '-m', 'x')).exit).toBe(0);
    writeFileSync(join(repo.path, '.git/fail'), '');
    expect((await watch(repo, 'checkout', '-b', 'side')).exit).toBe(1); // git makes 1 of every refusal
  });

  it('notices when its hooks were written anew, and can be installed again', async () => {
    await using repo = await hookRepo();
    writeTeamCommands(repo);
    manager.generate(repo);
    const generated = HOOKS.map((hook) => readFileSync(join(repo.path, manager.file(hook))));
    await installHooks(repo.options);
    expect(await states(repo)).toEqual(all('installed'));
    manager.generate(repo);
    expect(await states(repo)).toEqual(all('absent'));
    // The keeper is all that is left, and would put Forge back.
    expect((await watch(repo, 'commit', '--allow-empty', '-m', 'x')).forge).toEqual([
      'hook=post-index-change args=[hook][post-index-change] stdin=0',
    ]);
    await installHooks(repo.options);
    expect((await watch(repo, 'commit', '--allow-empty', '-m', 'y')).forge).toHaveLength(1);
    await uninstallHooks(repo.options);
    expect(HOOKS.map((hook) => readFileSync(join(repo.path, manager.file(hook))))).toEqual(generated);
    expect(await watch(repo, 'commit', '--allow-empty', '-m', 'z')).toMatchObject({
      forge: [],
      team: ['pre-commit [] stdin=0'],
    });
  });

  it('leaves nothing for git to track', async () => {
    await using repo = await hookRepo();
    writeTeamCommands(repo);
    manager.generate(repo);
    const before = repo.git('status', '--porcelain', '-uall');
    await installHooks(repo.options);
    expect(repo.git('status', '--porcelain', '-uall')).toBe(before);
  });
});

describe('with the hooks of husky 5 to 8, which are tracked', () => {
  it('writes nothing, and its line runs once in the team’s file', async () => {
    await using repo = await hookRepo();
    writeTeamCommands(repo);
    generateHusky8(repo);
    await repo.writeScript('.husky/pre-commit', toHusky8('sh .git/team.sh pre-commit "$@"'));
    repo.git('add', '.husky');
    const rows = await installHooks(repo.options);
    expect(rows.map((row) => row.state)).toEqual(all('tracked'));
    expect(repo.git('status', '--porcelain', '-uall')).toBe('A  .husky/pre-commit');
    const line = rows[0]?.advice?.replace(/^.*?: /, '') ?? '';
    await repo.writeScript('.husky/pre-commit', toHusky8(`${line}\nsh .git/team.sh pre-commit "$@"`));
    expect((await states(repo))[0]).toBe('installed');
    await repo.writeScript('.git/bin/forge', '#!/bin/sh\necho "$*" >>.git/forge.log\nexit 7\n');
    const env = { PATH: `${join(repo.path, '.git/bin')}:${process.env['PATH']}` };
    expect(repo.tryGit(['commit', '-m', 'x'], { env }).exit).toBe(0);
    expect(readFileSync(join(repo.path, '.git/forge.log'), 'utf8')).toBe('hook pre-commit\n');
    expect(readTeamCalls(repo)).toEqual(['pre-commit [] stdin=0']);
    writeFileSync(join(repo.path, '.git/fail'), '');
    expect(repo.tryGit(['commit', '--allow-empty', '-m', 'y'], { env }).exit).toBe(1);
  });
});

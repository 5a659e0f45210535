import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { initWithStore, testMachine } from '../../tests/support/sync-project.ts';
import { runTestGit, tempRepo, type TempRepo } from '../../tests/support/temp-repo.ts';
import { healClone, isConnectedToGit } from './heal-clone.ts';
import { installHooks } from './hook-blocks.ts';
import type { Machine } from './machine.ts';
import { isMergeDriverRegistered } from './merge-driver-config.ts';
import { getRepositoryPaths } from './repository-paths.ts';

describe('a clone that git did not make ready', () => {
  it('gets the driver, says so once, and leaves the hooks to the user', async () => {
    await using repo = await sharedProject();
    const machine = machineOf(repo);
    const { paths, told, heal } = openClone(repo, machine);
    expect(isConnectedToGit(paths, machine.program)).toBe(false);
    await heal();
    expect(told.splice(0)).toEqual([
      'Registered the merge driver in this clone. Its hooks are not installed yet: forge init',
    ]);
    expect(isMergeDriverRegistered(paths, machine.program)).toBe(true);
    expect(isConnectedToGit(paths, machine.program)).toBe(true);
    expect(existsSync(join(paths.common_dir, 'hooks', 'pre-commit'))).toBe(false);
    await heal();
    expect(told).toEqual([]);
  });

  it('does not ask for hooks that are there', async () => {
    await using repo = await sharedProject();
    const machine = machineOf(repo);
    const { paths, told, heal } = openClone(repo, machine);
    await installHooks({ paths, program: machine.program, env: machine.env });
    await heal();
    expect(told).toEqual(['Registered the merge driver in this clone']);
  });

  it('follows an installation that has moved, and leaves another one alone that is there', async () => {
    await using repo = await sharedProject();
    const machine = machineOf(repo);
    const { paths, told, heal } = openClone(repo, machine);
    await heal();
    told.splice(0);
    const elsewhere = join(dirname(repo.path), 'elsewhere.cjs');
    writeFileSync(elsewhere, '');
    const other = { ...machine, program: { ...machine.program, script: elsewhere } };
    expect(isConnectedToGit(paths, other.program)).toBe(false);
    await healClone(paths, other, (line) => told.push(line));
    expect(told).toEqual([]);
    expect(isConnectedToGit(paths, machine.program)).toBe(true);
    // Now the one that is registered is gone.
    runTestGit(paths.root, [
      'config',
      'merge.forge.driver',
      runTestGit(paths.root, ['config', 'merge.forge.driver']).replace(
        machine.program.script,
        '/nowhere/forge.cjs',
      ),
    ]);
    await healClone(paths, other, (line) => told.push(line));
    expect(told).toHaveLength(1);
    expect(isConnectedToGit(paths, other.program)).toBe(true);
  });

  it('[U5] follows an update of Node that left the script where it was, as with Homebrew', async () => {
    await using repo = await sharedProject();
    const machine = machineOf(repo);
    const { paths, told, heal } = openClone(repo, machine);
    mkdirSync(paths.store_dir);
    const before = { ...machine.program, node: '/opt/homebrew/Cellar/node/24.1.0/bin/node' };
    await installHooks({ paths, program: before, env: machine.env });
    await healClone(paths, { ...machine, program: before }, () => undefined);
    expect(isConnectedToGit(paths, before)).toBe(true);
    expect(isConnectedToGit(paths, machine.program)).toBe(false);
    await heal();
    expect(told).toEqual([
      expect.stringMatching(/^Forge was out of the git hooks \(pre-commit, .*\) and is in them again$/),
      'Registered the merge driver in this clone',
    ]);
    const hook = readFileSync(join(paths.common_dir, 'hooks', 'pre-commit'), 'utf8');
    expect(hook).toContain(machine.program.node);
    expect(hook).not.toContain('homebrew');
    expect(runTestGit(paths.root, ['config', 'merge.forge.driver'])).toContain(machine.program.node);
    expect(isConnectedToGit(paths, machine.program)).toBe(true);
  });

  it('that cannot be written to is left as it is, without a word', async () => {
    await using repo = await sharedProject();
    const machine = machineOf(repo);
    const { paths, told, heal } = openClone(repo, machine);
    writeFileSync(join(paths.common_dir, 'config.lock'), '');
    await heal();
    expect(told).toEqual([]);
    expect(isMergeDriverRegistered(paths, machine.program)).toBe(false);
    // Without git there is nothing to register with either.
    await healClone(paths, { ...machine, env: { ...machine.env, PATH: '/nowhere' } }, (line) =>
      told.push(line),
    );
    expect(told).toEqual([]);
  });
});

async function sharedProject(): Promise<TempRepo> {
  const repo = await tempRepo();
  await initWithStore(repo.path, machineOf(repo));
  repo.git('add', '.');
  repo.git('commit', '--quiet', '--no-verify', '-m', 'forge');
  return repo;
}

function openClone(repo: TempRepo, machine: Machine) {
  const clone = join(dirname(repo.path), 'clone');
  repo.git('clone', '--quiet', repo.path, clone);
  const paths = getRepositoryPaths(clone);
  const told: string[] = [];
  return { paths, told, heal: () => healClone(paths, machine, (line) => told.push(line)) };
}

function machineOf(repo: TempRepo): Machine {
  return testMachine(join(dirname(repo.path), 'home'));
}

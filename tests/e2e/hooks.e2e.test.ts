import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FORGE, forgeFolder, forgeProject, openPlace } from '../support/forge-cli.ts';
import { tempRepo } from '../support/temp-repo.ts';

interface Rows {
  hooks: { hook: string; file: string; state: string; advice?: string; changed?: boolean }[];
}

const HOOKS = ['pre-commit', 'post-merge', 'post-checkout', 'post-rewrite'];
const statesOf = ({ hooks }: Rows) => hooks.map((row) => row.state);
const all = (state: string) => HOOKS.map(() => state);

describe('forge hooks', () => {
  it('[S55] installs, shows and uninstalls blocks that name this very program', async () => {
    await using project = await forgeProject();
    await project.json('hooks', 'uninstall'); // whatever init has done already
    expect(statesOf(await project.json<Rows>('hooks', 'status'))).toEqual(all('absent'));
    const installed = await project.json<Rows>('hooks', 'install');
    expect(installed.hooks.map((row) => [row.hook, row.state, row.changed])).toEqual(
      HOOKS.map((hook) => [hook, 'installed', true]),
    );
    const text = readFileSync(join(project.path, '.git/hooks/pre-commit'), 'utf8');
    // DESIGN decides on [S55]: no link to a tracked file, because a checkout must not change what runs.
    expect(lstatSync(join(project.path, '.git/hooks/pre-commit')).isSymbolicLink()).toBe(false);
    // Not the link on the PATH that was called.
    expect(text).toContain(`'${FORGE}' hook pre-commit "$@"`);
    expect(text).not.toContain(project.bin);
    expect(statesOf(await project.json<Rows>('hooks', 'status'))).toEqual(all('installed'));
    const again = await project.json<Rows>('hooks', 'install');
    expect(again.hooks.every((row) => row.changed === false)).toBe(true);
    const gone = await project.json<Rows>('hooks', 'uninstall');
    expect(gone.hooks.map((row) => [row.state, row.changed])).toEqual(HOOKS.map(() => ['absent', true]));
    expect(existsSync(join(project.path, '.git/hooks/pre-commit'))).toBe(false);
  });

  it('says for people what git runs and what comes next', async () => {
    await using project = await forgeProject();
    await project.json('hooks', 'uninstall');
    const text = await project.text('hooks', 'status');
    for (const hook of HOOKS)
      expect(text).toMatch(new RegExp(`^${hook}\\s+absent\\s+/.*/\\.git/hooks/${hook}$`, 'm'));
    expect(text).toMatch(/\nNext: forge hooks install$/);
    await project.write('hooks\u001b[31m/pre-commit', '#!/bin/sh\n');
    project.git('add', '.');
    project.git('config', 'core.hooksPath', 'hooks\u001b[31m');
    const answer = await project.text('hooks', 'install');
    expect(answer).toContain('tracked');
    expect(answer).toContain(String.raw`hooks\u001b[31m`);
    expect(answer).not.toContain('\u001b');
    expect(answer).toContain('command -v forge >/dev/null 2>&1 && forge hook post-merge "$@" || true');
  });

  it('writes outside the repository with --shared only', async () => {
    await using project = await forgeProject();
    await project.json('hooks', 'uninstall'); // what init put into the repository
    const outside = join(project.home, 'hooks');
    await mkdir(outside);
    project.git('config', 'core.hooksPath', outside);
    expect(statesOf(await project.json<Rows>('hooks', 'install'))).toEqual(all('outside'));
    expect(existsSync(join(outside, 'pre-commit'))).toBe(false);
    expect(statesOf(await project.json<Rows>('hooks', 'install', '--shared'))).toEqual(all('installed'));
    expect(statesOf(await project.json<Rows>('hooks', 'uninstall', '--shared'))).toEqual(all('absent'));
    expect(existsSync(join(outside, 'pre-commit'))).toBe(false);
  });

  it('installs in a project only, and uninstalls where the project is gone', async () => {
    await using repo = await tempRepo();
    const place = await openPlace(repo);
    expect(await place.fails('hooks', 'install')).toMatchObject({ error: { code: 'not_a_project' } });
    expect(existsSync(join(repo.path, '.git/hooks/pre-commit'))).toBe(false);
    expect(statesOf(await place.json<Rows>('hooks', 'status'))).toEqual(all('absent'));
    await place.json('init');
    await place.json('hooks', 'install');
    await rm(join(repo.path, '.forge'), { recursive: true });
    await rm(join(repo.path, '.git/forge'), { recursive: true });
    expect(statesOf(await place.json<Rows>('hooks', 'uninstall'))).toEqual(all('absent'));
    await using folder = await forgeFolder();
    expect(await folder.fails('hooks', 'status')).toMatchObject({ error: { code: 'not_a_repository' } });
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOME_FILES } from '#sync/home-files.ts';
import { forgeProject } from '../support/forge-cli.ts';

// A pipe is waited for without end where it is opened as a file is: only a process of its own shows that and can be ended.
describe('a pipe in the place of a file', () => {
  it('of the Forge home: doctor names it and what it is, and ends', { timeout: 120_000 }, async () => {
    await using project = await forgeProject();
    const home = join(project.home, '.forge');
    mkdirSync(home, { recursive: true, mode: 0o700 });
    for (const name of Object.keys(HOME_FILES))
      execFileSync('env', ['mkfifo', '-m', '600', join(home, name)]);
    const { stdout, exit } = await project.run('doctor');
    expect(exit).toBe(1);
    for (const name of Object.keys(HOME_FILES))
      expect(stdout).toContain(`${join(home, name)} is not a regular file but a pipe`);
    const agents = await project.run('agent', 'list');
    expect(agents.stderr).toContain('agents.jsonl is not a regular file but a pipe');
    for (const name of Object.keys(HOME_FILES)) rmSync(join(home, name));
    expect((await project.run('doctor')).exit).toBe(0);
  });

  it('that Forge keeps in the git directory: commands end', { timeout: 120_000 }, async () => {
    await using project = await forgeProject();
    await project.create('One');
    const folder = join(project.path, '.git/forge');
    for (const name of ['added-lines.json', 'hooks.json', 'program.json', 'conflicts.json', 'loose-blobs']) {
      rmSync(join(folder, name), { force: true });
      execFileSync('env', ['mkfifo', '-m', '600', join(folder, name)]);
    }
    expect((await project.run('status')).exit).toBe(0);
    expect((await project.run('task', 'create', 'Two')).exit).toBe(0);
    expect((await project.run('doctor')).stdout).toContain('2 tasks');
  });
});

describe('a link in the place of a file of the home', () => {
  it('is followed to a regular file', async () => {
    await using project = await forgeProject();
    const home = join(project.home, '.forge');
    await project.text('agent', 'add', 'ann', '--executor', 'shell', '--command=true');
    renameSync(join(home, 'agents.jsonl'), join(project.home, 'kept'));
    symlinkSync(join(project.home, 'kept'), join(home, 'agents.jsonl'));
    expect(await project.text('agent', 'list')).toContain('ann');
    await project.text('agent', 'add', 'bob', '--executor', 'shell', '--command=true');
    expect(await project.text('agent', 'list')).toContain('bob');
  });
});

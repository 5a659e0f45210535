import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forgeProjectHere } from '../support/forge-here.ts';

describe('[M4][A13] a value that is not allowed in settings.json', () => {
  it('is named with its file and key by every command that needs it, and by doctor', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Anything');
    await project.text('agent', 'add', 'w1', '--executor', 'shell', '--command=true');
    const folder = join(project.home, '.forge');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'settings.json');
    writeFileSync(file, JSON.stringify({ runs: { total_minutes: -1 } }));
    for (const command of [
      ['run', id, '--agent', 'w1'],
      ['dispatch', '--until-empty'],
      ['workspace', 'list'],
      ['forecast'],
    ]) {
      const { stderr, exit } = await project.program.run(...command);
      expect([command[0], exit, stderr]).toEqual([
        command[0],
        2,
        expect.stringContaining('runs.total_minutes is -1'),
      ]);
    }
    const doctor = await project.program.run('doctor');
    expect(doctor.stdout).toMatch(/FAILED +settings +.*settings\.json.*runs\.total_minutes is -1/);
    // [A12] A key that nobody reads stops nothing, and is told.
    writeFileSync(file, JSON.stringify({ scheduler: { budgetUsd: 1 } }));
    expect((await project.program.run('doctor')).stdout).toMatch(
      /warning +settings +nobody reads .*scheduler\.budgetUsd\n.*Did you mean scheduler\.budget_usd\?/,
    );
    // Tasks need none of it.
    expect((await project.show(id)).state).toBe('todo');
    rmSync(file);
    expect((await project.program.run('doctor')).stdout).toMatch(/ok +settings/);
  });
});

it('doctor warns where checks need packages and nothing says how to get them', async () => {
  await using project = await forgeProjectHere();
  const folder = join(project.home, '.forge');
  mkdirSync(folder, { recursive: true });
  const set = (settings: object): void =>
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings));
  const review = { ci_steps: ['npm test'] };
  writeFileSync(join(project.path, 'package-lock.json'), '{}');
  set({ review });
  expect((await project.program.run('doctor')).stdout).toMatch(
    /warning +settings +checks run on the commit alone.*package-lock\.json\n.*"setup": \["npm ci"\]/,
  );
  for (const settings of [
    { review: { ...review, fresh: false } },
    { review, workspace: { setup: ['npm ci'] } },
    {},
  ]) {
    set(settings);
    expect((await project.program.run('doctor')).stdout).toMatch(/ok +settings/);
  }
});

describe('doctor looks at what a server would begin with', () => {
  it('names a port in config.json of the home, or in the environment, that is none', async () => {
    await using project = await forgeProjectHere();
    const folder = join(project.home, '.forge');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'config.json');
    expect((await project.program.run('doctor')).stdout).not.toMatch(/ server /);
    for (const server of [{ port: 70_000 }, { port: '80a' }, { host: 'a b' }, { names: 'x' }, 7]) {
      writeFileSync(file, JSON.stringify({ version: 1, projects: [], server }));
      const { stdout, exit } = await project.program.run('doctor');
      expect(exit).toBe(1);
      expect(stdout).toMatch(/FAILED +server +"?server.*config\.json must be .*\n +try: forge serve --help/);
    }
    rmSync(file);
    const elsewhere = project.with({ env: { FORGE_PORT: 'http' } });
    expect((await elsewhere.run('doctor')).stdout).toMatch(/FAILED +server +FORGE_PORT must be a port/);
  });

  it('names lines of tokens.jsonl that let nobody in, as forge token list does', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.json<{ id: string }>('token', 'create', '--scope', 'read');
    const file = join(project.home, '.forge/tokens.jsonl');
    appendFileSync(file, '{"id": "half\n');
    const { stdout, exit } = await project.program.run('doctor');
    expect(exit).toBe(1);
    expect(stdout).toMatch(
      /FAILED +tokens +.*tokens\.jsonl, line 2, is no token.*\n +try: Correct it by hand/,
    );
    const listed = await project.program.run('token', 'list', '--json');
    expect(listed.stderr).toContain('tokens.jsonl, line 2, is no token');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ id }]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forgeProject, type ForgeCli, type ForgeProject } from '../support/forge-cli.ts';

let project: ForgeProject;
let agent: ForgeCli;
beforeAll(async () => {
  project = await forgeProject();
  agent = project.with({ env: { FORGE_ACTOR: 'w1' } });
});
afterAll(() => project[Symbol.asyncDispose]());

describe('[B2] an agent by its environment', () => {
  it('is no person because its command line says so', async () => {
    const task = await project.create('Gated', '--ci-step', 'false');
    for (const args of [
      ['trust', '--yes'],
      ['task', 'update', task.id, '--ci-step', 'true'],
      ['token', 'create', '--scope', 'admin'],
    ]) {
      const { error } = await agent.fails(...args, '--actor', 'user:Ada');
      expect(error).toMatchObject({
        code: 'permission_denied',
        message: 'w1 is an agent: it cannot act as user:Ada',
        hint: 'A person asks without it: unset FORGE_ACTOR',
      });
    }
    expect((await project.show(task.id)).review_config).toEqual({ ci_steps: ['false'] });
    expect((await agent.run('mcp', '--actor', 'user:Ada')).stderr).toContain('it cannot act as user:Ada');
  });

  it('[B7] bears no name that is not a registered agent’s: it may be a person’s', async () => {
    const task = await project.create('Discussed');
    await project.text('task', 'assign', task.id, 'reviewer', '--user', 'ann');
    for (const name of ['Tess', 'agent:Tess', 'ann', 'somebody']) {
      const { error } = await agent.fails('task', 'comment', task.id, 'I approve this', '--actor', name);
      expect(error).toMatchObject({
        code: 'permission_denied',
        message: `w1 is an agent: it cannot act as ${name}, which is no registered agent`,
      });
    }
    for (const name of ['w1', 'agent:w1'])
      await agent.text('task', 'comment', task.id, 'mine', '--actor', name);
    expect((await agent.run('mcp', '--actor', 'Tess')).stderr).toContain('it cannot act as Tess');
  });

  it('may name another agent, and a person may name anybody', async () => {
    await project.text('agent', 'add', 'w2');
    const mine = await agent.create('Found', '--actor', 'w2');
    expect(mine.created_by).toBe('w2');
    const theirs = await project.create('Theirs', '--actor', 'user:Ada');
    expect(theirs.created_by).toBe('Ada');
  });

  it.each([
    ['init', '--upgrade'],
    ['hooks', 'uninstall'],
    ['doctor', '--fix'],
    ['doctor', '--rebuild'],
    ['serve'],
  ])('does not set the project up anew: forge %s %s', async (...args) => {
    const { stderr, exit } = await agent.run(...args.filter((word) => word !== undefined));
    expect({ exit, stderr }).toMatchObject({ exit: 6 });
    expect(stderr).toContain(`w1 is an agent: forge ${args.join(' ')} is for a person`);
  });

  it('deletes what it made or holds, and nothing of others', async () => {
    const [theirs, mine] = [await project.create('Theirs'), await agent.create('Mine')];
    const { error } = await agent.fails('task', 'delete', theirs.id);
    expect(error).toMatchObject({
      code: 'permission_denied',
      message: `w1 cannot delete ${theirs.id}: it is not its own`,
    });
    await agent.text('task', 'delete', mine.id);
    await agent.text('task', 'claim', theirs.id);
    await agent.text('task', 'delete', theirs.id);
  });
});

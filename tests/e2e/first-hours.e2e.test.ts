import { describe, expect, it } from 'vitest';
import type { InboxItem } from '#contract/inbox-operations.ts';
import type { Task } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

describe('work that was broken off', () => {
  it('is in the inbox and in task show, with its branch, its folder and the command that goes on', async () => {
    await using project = await forgeProjectHere();
    project.git('add', '-A');
    project.git('commit', '-qm', 'first');
    const half = ['--command=sh', '--command=-c', '--command=echo half > half.txt; exit 1'];
    await project.json('agent', 'add', 'w1', '--executor', 'shell', ...half);
    const { id } = await project.create('Broken off');
    await project.create('Never begun');
    await project.run('run', id, '--agent', 'w1', '--merge');
    const command = `forge run ${id} --agent w1 --merge`;
    const inbox = await project.json<InboxItem[]>('inbox');
    expect(inbox).toMatchObject([{ kind: 'stuck', task_id: id, command }]);
    const [attempt] = await project.json<{ branch: string; path: string }[]>('task', 'attempts', id);
    expect(inbox[0]?.message).toContain(`unfinished work is on ${attempt?.branch}, in ${attempt?.path}`);
    expect((await project.run('task', 'show', id)).stdout).toContain(`Go on     ${command}\n`);
    expect(await project.show(id)).toMatchObject({ wait: { command } });
  });

  it('is told of a task that the agent loop parked, and of no task that a person parked', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Parked');
    await project.create('An idea', '--state', 'backlog');
    const agent = project.with({ env: { FORGE_ACTOR: 'worker-1' } });
    await agent.json('claim', id);
    await agent.json('task', 'update', id, '--status', 'open', '--state', 'backlog');
    const command = `forge task transition ${id} todo`;
    expect(await project.json('inbox')).toMatchObject([
      { kind: 'stuck', task_id: id, message: 'worker-1 put it into backlog', command },
    ]);
    expect(await project.show(id)).toMatchObject({ wait: { command } });
  });
});

describe('a hint can be typed', () => {
  it('for states: the nearest, or all, and closed tasks where the state is one in which tasks end', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('One');
    expect((await project.fails('task', 'transition', id, 'reviw')).error).toMatchObject({
      message: 'The workflow has no state reviw; did you mean review?',
      hint: `forge task transition ${id} review`,
    });
    await project.json('task', 'cancel', id);
    expect((await project.json<Task[]>('task', 'list', '--state', 'cancelled')).map((one) => one.id)).toEqual(
      [id],
    );
    expect(await project.json<Task[]>('task', 'list', '--state', 'done')).toEqual([]);
    expect((await project.fails('task', 'list', '--state', 'closed')).error).toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('no state closed; it has backlog, todo,') as string,
    });
    expect((await project.fails('task', 'wait', id, '--state', 'doen')).error.message).toContain('done?');
    expect((await project.fails('task', 'cancel', id)).error).toMatchObject({
      message: `${id} is closed`,
      hint: `forge task reopen ${id}`,
    });
  });

  it('for a deleted task that is named without its prefix', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Gone');
    await project.json('task', 'delete', id);
    expect((await project.fails('task', 'show', id.slice(id.indexOf('-') + 1))).error).toMatchObject({
      message: `Task ${id} was deleted`,
      hint: `forge task restore ${id}`,
    });
  });
});

describe('a repository without a commit', () => {
  it('is refused by dispatch and run before a task is touched', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('Ready');
    await project.json('agent', 'add', 'w1', '--executor', 'shell', '--command=true');
    const refusal = { code: 'state_invalid', hint: expect.stringContaining('git commit') as string };
    expect((await project.fails('dispatch', '--until-empty')).error).toMatchObject(refusal);
    expect((await project.fails('run', id, '--agent', 'w1')).error).toMatchObject(refusal);
    expect(await project.show(id)).toMatchObject({ state: 'todo', assignee: null });
  });
});

describe('a check that failed', () => {
  it('is told with the end of what it said', async () => {
    await using project = await forgeProjectHere();
    project.git('add', '-A');
    project.git('commit', '-qm', 'first');
    await project.write('ci.sh', 'seq 100; echo "2 tests failed: test_add"; exit 1\n');
    project.git('add', '-A');
    project.git('commit', '-qm', 'check');
    await project.json('agent', 'add', 'w1', '--executor', 'shell', '--command=touch', '--command=done');
    const { id } = await project.create('Checked');
    const config = JSON.parse(await project.read('.forge/config.json')) as object;
    await project.write(
      '.forge/config.json',
      JSON.stringify({ ...config, review: { ci_steps: ['sh ci.sh'] } }),
    );
    await project.run('trust', '--yes');
    await project.run('run', id, '--agent', 'w1');
    const { stdout } = await project.run('task', 'reviews', id);
    expect(stdout).toContain('The end of what sh ci.sh said:\n');
    expect(stdout).toMatch(/\n {2}100\n {2}2 tests failed: test_add\n$/);
    expect(stdout).not.toContain('\n  70\n');
  });
});

describe('a file of another tracker', () => {
  it('is refused with the command that reads it', async () => {
    await using project = await forgeProjectHere();
    const issue = { id: 'bd-1', title: 'One', status: 'open', issue_type: 'task' };
    const line = JSON.stringify({ ...issue, created_at: '2026-01-01T00:00:00Z' });
    await project.write('issues.jsonl', `${line}\n${line}\n`);
    await project.write(
      'tasks.json',
      JSON.stringify({ master: { tasks: [{ id: 1, title: 'A' }] } }, null, 2),
    );
    await project.write('other.jsonl', '{"x":1}\n');
    const refused = async (file: string): Promise<unknown> => (await project.fails('import', file)).error;
    expect(await refused('issues.jsonl')).toMatchObject({
      code: 'invalid_input',
      hint: 'forge import --from beads issues.jsonl',
    });
    expect(await refused('tasks.json')).toMatchObject({
      hint: 'forge import --from task-master tasks.json',
    });
    expect(await refused('other.jsonl')).toMatchObject({ hint: 'forge import --help' });
  });

  it('a whole former id stands before the beginning of other ids', async () => {
    await using project = await forgeProjectHere();
    const at = { status: 'pending', dependencies: [] };
    const tasks = Array.from({ length: 36 }, (_, n) => ({ ...at, id: n, title: `Number ${n}` }));
    await project.write('tasks.json', JSON.stringify({ master: { tasks } }));
    await project.run('import', '--from', 'task-master', 'tasks.json');
    for (const n of [1, 2, 3, 7])
      expect(await project.show(String(n))).toMatchObject({ title: `Number ${n}` });
  });
});

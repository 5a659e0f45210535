import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Run } from '#contract/attempt.ts';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { Task } from '#contract/task.ts';
import { FORGE } from '../support/forge-cli.ts';
import { noteUnwalled } from '../support/note-unwalled.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { startForgeServer, type ForgeServer } from '../support/forge-server.ts';

let project: Awaited<ReturnType<typeof forgeProjectHere>>;
beforeAll(async () => {
  project = await forgeProjectHere();
  noteUnwalled(`${project.home}/.forge`);
  await project.write('README.md', 'first\n');
  await project.exec('git', ['add', '-A']);
  await project.exec('git', ['commit', '-qm', 'first']);
  await addAgent('w1', 'cat > prompt.txt; echo hello > hello.txt');
  await addAgent('sleeper', 'echo $$ > pid; sleep 600 & sleep 600');
  await addAgent('idle', 'true');
  await addAgent('clash', 'echo of an agent > clash.txt');
});
afterAll(() => project[Symbol.asyncDispose]());

async function addAgent(name: string, script: string): Promise<void> {
  const words = ['bash', '-c', script].map((word) => `--command=${word}`);
  await project.text('agent', 'add', name, '--executor', 'shell', ...words);
}

describe('forge run', () => {
  it('[S136] [S137] [S139] [S202] takes a task from todo to the default branch, and says how it went', async () => {
    const { id } = await project.create(
      'Say hello',
      '--description',
      'To all.',
      '--ci-step',
      'grep hello hello.txt',
    );
    const [worked] = await project.program.json<WorkedTask[]>('run', id, '--agent', 'w1');
    expect(worked).toMatchObject({
      task: { id, state: 'review' },
      attempt: { state: 'active', name: expect.stringMatching(/^[0-9a-f]{4}-say-hello$/) as string },
      runs: [{ agent: 'w1', executor: 'shell', state: 'completed' }],
      review: { status: 'passed', attempt_number: 1, step_results: [{ exit_code: 0 }] },
      merge: null,
      reached: true,
    });
    expect(existsSync(worked?.attempt?.path ?? '')).toBe(true);
    expect(basename(worked?.attempt?.path ?? '')).toBe(worked?.attempt?.name);
    const [merged] = await project.json<WorkedTask[]>('run', id, '--agent', 'w1', '--merge');
    expect(merged).toMatchObject({ task: { state: 'done' }, merge: { state: 'landed' }, reached: true });
    expect((await project.exec('git', ['show', 'HEAD:hello.txt'])).stdout).toBe('hello\n');
    expect(existsSync(merged?.attempt?.path ?? '')).toBe(false);
  });

  it('ends with 1 where a task did not get there, and tells all the same', async () => {
    const { id } = await project.create('Nothing');
    const { exit, stdout } = await project.program.run('run', id, '--agent', 'idle', '--json');
    expect(exit).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject([
      { task: { id, state: 'todo' }, runs: [{ outcome: 'no_change' }], reached: false },
    ]);
  });

  it('names the command that makes an agent it does not know', async () => {
    const { id } = await project.create('Nobody');
    expect((await project.fails('run', id, '--agent', 'nobody')).error).toMatchObject({
      code: 'not_found',
      hint: 'forge agent add nobody --executor claude',
    });
  });

  it('[H4] opens no debugger, and ends its agents with all they started when it is interrupted', async () => {
    const { id } = await project.create('Long');
    const child = spawn(process.execPath, [FORGE, 'run', id, '--agent', 'sleeper'], {
      cwd: project.path,
      env: project.env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const told: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => void told.push(chunk));
    const run = await untilRunning(id);
    const ended = once(child, 'close');
    child.kill('SIGUSR1');
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(Buffer.concat(told).toString()).not.toContain('Debugger');
    expect(await findMarked(run.id)).toEqual([]);
    expect(await project.json('task', 'show', id)).toMatchObject({ state: 'todo' });
  });

  it('trusts no steps that came with the repository', async () => {
    // What the tests before left in the queue would be waited for until its next try.
    for (const left of await project.json<Task[]>('ready'))
      await project.run('task', 'cancel', left.id, '--reason', 'over');
    const { id } = await project.create('Foreign steps');
    await project.exec('git', ['config', 'forge.none', 'x']);
    await project.text('trust', '--revoke');
    const config = JSON.parse(await project.read('.forge/config.json')) as object;
    await project.write(
      '.forge/config.json',
      JSON.stringify({ ...config, review: { ci_steps: ['touch pwned'] } }),
    );
    // Before its agent is started.
    expect((await project.fails('run', id, '--agent', 'w1')).error).toMatchObject({
      code: 'untrusted',
      hint: 'forge trust',
      message: 'Nobody has trusted this command here: touch pwned',
    });
    expect(await project.json('task', 'show', id)).toMatchObject({
      state: 'todo',
      assignee: null,
      counters: { attempts: 0 },
    });
    const { exit, stdout } = await project.run('dispatch', '--agent', 'w1', '--until-empty', '--json');
    expect(exit).toBe(1);
    expect((JSON.parse(stdout) as WorkedTask[]).find(({ task }) => task.id === id)).toMatchObject({
      task: { state: 'blocked' },
      attempt: null,
      wait: { command: 'forge trust' },
    });

    await project.write('.forge/config.json', JSON.stringify(config));
  });
});

describe('the server', () => {
  let server: ForgeServer;
  beforeAll(async () => {
    server = await startForgeServer(project);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('[S207] [S357] [S221] [S225] [S372] [S374] works a task that is claimed for an agent, and merges in the request', async () => {
    const { id } = await project.create('By request', '--ci-step', 'test -f prompt.txt');
    const claimed = await server.ask(`/api/v1/tasks/${id}/claim`, {
      body: { agent_id: 'w1', overrides: null },
    });
    expect(claimed).toMatchObject({ status: 200, body: { state: 'in_progress', assignee: 'w1' } });
    expect((await server.ask(`/api/v1/executions?task=${id}`)).body).toMatchObject([
      { task_id: id, agent: 'w1', role: 'coder' },
    ]);
    await expect
      .poll(async () => (await server.ask(`/api/v1/tasks/${id}`)).body, { timeout: 20_000, interval: 200 })
      .toMatchObject({ state: 'review', review_passed_at: expect.any(String) as string });
    const merged = await server.ask(`/api/v1/tasks/${id}/transition`, { body: { status: 'merging' } });
    expect(merged).toMatchObject({ status: 200, body: { state: 'done' } });
  });

  it('[S372] answers a merge that fails with the state it leads to', async () => {
    const { id } = await project.create('In the way', '--ci-step', 'true');
    await server.ask(`/api/v1/tasks/${id}/claim`, { body: { agent_id: 'clash', overrides: null } });
    await expect
      .poll(async () => (await server.ask(`/api/v1/tasks/${id}`)).body, { timeout: 20_000, interval: 200 })
      .toMatchObject({ state: 'review', review_passed_at: expect.any(String) as string });
    await project.write('clash.txt', 'of a person\n');
    await project.exec('git', ['add', 'clash.txt']);
    await project.exec('git', ['commit', '-qm', 'in the way']);
    const merged = await server.ask(`/api/v1/tasks/${id}/transition`, { body: { status: 'merging' } });
    expect(merged).toMatchObject({ status: 200, body: { state: 'merge_failed' } });
  });
});

async function untilRunning(id: string): Promise<Run> {
  for (let looks = 0; looks < 100; looks += 1) {
    const [run] = await project.json<Run[]>('runs', 'list', '--task', id);
    if (run !== undefined && run.pid !== null && (await findMarked(run.id)).length >= 2) return run;
    await sleep(100);
  }
  throw new Error(`no run of ${id} began`);
}

/** Processes that carry the run's mark, by a look of our own. */
async function findMarked(run: string): Promise<string[]> {
  const script = `grep -lzx FORGE_RUN_ID=${run} /proc/[0-9]*/environ 2>/dev/null; true`;
  return (await project.exec('bash', ['-c', script])).stdout.split('\n').filter((line) => line !== '');
}

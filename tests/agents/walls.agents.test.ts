import { existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptView, Run } from '#contract/attempt.ts';
import { FORGE, forgeProject, type ForgeCli, type ForgeProject } from '../support/forge-cli.ts';
import { hasWalls } from '../support/walls.ts';
import { AGENTS, type TestedAgent } from './agents.ts';
import { findLeftovers } from './find-leftovers.ts';
import { openModelServer, type ModelServer } from './model-server.ts';
import { LINGERING } from './play-scenario.ts';
import { toPrompt, type ScriptName } from './trajectory.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await openModelServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** A project whose agent is the real CLI, as npm installs it. */
async function openProject(agent: TestedAgent) {
  const project = await forgeProject();
  await project.write('README.md', 'first\n');
  project.git('add', '-A');
  project.git('commit', '-qm', 'first');
  const extras = await agent.setUp({ home: project.home, url: server.url });
  const path = `${process.env['FORGE_AGENTS_BIN'] ?? ''}:${project.env['PATH'] ?? ''}`;
  const forge = project.with({ env: { ...extras, PATH: path } });
  const model = agent.model === undefined ? [] : ['--model', agent.model];
  await forge.json('agent', 'add', 'cli', '--executor', agent.kind, '--permissions', 'all', ...model);
  return { project, forge, env: { ...project.env, ...extras, PATH: path } };
}

function ask(project: ForgeProject, script: ScriptName, folder = '.') {
  return project.create(`With ${script}`, '--description', toPrompt(script, folder));
}

/** Where the four keep their sessions. */
const SESSIONS = ['.claude/projects', '.codex/sessions', '.gemini/tmp', '.local/share/opencode'];

/** A first run to the review, and a comment that a second run finds. */
async function workOnce({ project, forge }: { project: ForgeProject; forge: ForgeCli }): Promise<string> {
  const { id } = await ask(project, 'command');
  await forge.run('run', id, '--agent', 'cli');
  expect(await project.show(id)).toMatchObject({ state: 'review' });
  const [attempt] = await project.json<AttemptView[]>('task', 'attempts', id);
  const folder = attempt?.path ?? '';
  expect(readFileSync(join(folder, 'hello.txt'), 'utf8')).toBe('hello\n');
  await project.json('task', 'comment', id, toPrompt('again', folder));
  await project.json('task', 'transition', id, 'blocked');
  await project.json('task', 'transition', id, 'todo');
  return id;
}

describe.skipIf(!hasWalls).each(AGENTS)('$title inside of walls', (agent) => {
  it('works, goes on with its session in a second run, and is merged', async () => {
    const { project, forge } = await openProject(agent);
    await using _project = project;
    const id = await workOnce({ project, forge });
    await forge.run('run', id, '--agent', 'cli', '--merge');
    expect(await project.show(id)).toMatchObject({ state: 'done' });
    expect(project.git('show', 'HEAD:hello.txt')).toBe('hello');
    const runs = await project.json<Run[]>('runs', 'list', '--task', id);
    const logs = await Promise.all(runs.map((run) => project.text('runs', 'logs', run.id)));
    for (const log of logs) expect(log).toContain('Inside of walls');
    expect(logs.join('\n')).not.toContain('set aside');
    // Gemini empties a session that is gone on with in the minute in which it began: then it begins anew.
    if (agent.kind === 'gemini') return;
    expect(new Set(runs.map(({ session_id }) => session_id)).size).toBe(1);
    expect(logs.join('\n')).not.toContain('could not be resumed');
  });

  it('[A7] begins anew with the whole task where its session is gone', async () => {
    const { project, forge } = await openProject(agent);
    await using _project = project;
    const id = await workOnce({ project, forge });
    for (const place of SESSIONS) rmSync(join(project.home, place), { recursive: true, force: true });
    await forge.run('run', id, '--agent', 'cli', '--merge');
    expect(await project.show(id)).toMatchObject({ state: 'done' });
    const last = (await project.json<Run[]>('runs', 'list', '--task', id)).at(-1);
    expect(last).toMatchObject({ state: 'completed' });
    expect(await project.text('runs', 'logs', last?.id ?? '')).toContain('could not be resumed');
  });

  it('writes nothing outside of its checkout, also by a command that was allowed', async () => {
    const { project, forge } = await openProject(agent);
    await using _project = project;
    const { id } = await ask(project, 'escape');
    await forge.run('run', id, '--agent', 'cli');
    // It came so far.
    expect(server.calls.filter(({ script }) => script === 'escape').length).toBeGreaterThanOrEqual(2);
    expect(existsSync(join(project.home, 'planted'))).toBe(false);
    expect(existsSync(join(project.path, 'planted'))).toBe(false);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('ends with its watcher, with all that it started', async () => {
    const { project, env } = await openProject(agent);
    await using _project = project;
    const { id } = await ask(project, 'linger');
    const forge = spawn(process.execPath, [FORGE, 'run', id, '--agent', 'cli'], { cwd: project.path, env });
    const look = () =>
      findLeftovers({ run_id: 'none', place: dirname(project.path) }).filter(
        ({ command }) => command === LINGERING,
      );
    while (look().length < 2) await sleep(50);
    forge.kill('SIGKILL');
    await sleep(1_000);
    expect(look()).toEqual([]);
  });
});

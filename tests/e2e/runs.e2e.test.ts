import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Approval, Attempt, Review, Run } from '#contract/attempt.ts';
import type { InputOf, OutputOf } from '#contract/declare.ts';
import type { runLogs, sendToRun, showRun, stopRun as stopDeclaration } from '#contract/run-operations.ts';
import { systemWriter } from '#engine/work.ts';
import { stopRun } from '#operations/run-stop.ts';
import { openProjectWork, type ProjectWork } from '../support/project-work.ts';

type Log = OutputOf<typeof runLogs>;
type Stopped = OutputOf<typeof stopDeclaration>;

let work: ProjectWork;
beforeAll(async () => {
  work = await openProjectWork();
  await work.addAgent('quick', 'printf "one\\n\\033[31mtwo\\n"; echo done > done.txt');
  await work.addAgent('slow', 'echo begun; echo half > half.txt; sleep 600');
});
afterAll(() => work[Symbol.asyncDispose]());

const forge = () => work.project;
const store = () => work.ctx.project.store;

describe('runs that have ended', () => {
  let id: string;
  let run: Run;
  beforeAll(async () => {
    await work.trust('test -f done.txt');
    id = (await forge().create('Say it', '--ci-step', 'test -f done.txt')).id;
    run = await work.finish(id, 'quick');
  });

  it('[S380] are listed by task, attempt, agent and whether they are over', async () => {
    const list = (...flags: string[]) => forge().json<Run[]>('runs', 'list', ...flags);
    expect(await list()).toEqual([run]);
    expect(await list('--task', id, '--attempt', run.attempt_id.slice(0, 6), '--agent', 'quick')).toEqual([
      run,
    ]);
    expect(await list('--open')).toEqual([]);
    expect(await list('--agent', 'slow')).toEqual([]);
    expect(await forge().text('runs', 'list')).toMatch(/RUN +TASK +AGENT[^]*quick +coder +completed/);
    expect((await forge().fails('runs', 'list', '--task', 'fg-none')).error.message).toBe('No task fg-none');
  });

  it('[S135] show their attempt, and where the log lies', async () => {
    const shown = await forge().json<OutputOf<typeof showRun>>('runs', 'show', run.id.slice(0, 8));
    expect(shown).toMatchObject({ id: run.id, outcome: 'completed', approvals: [] });
    expect(shown.attempt).toMatchObject({ task_id: id, agent: 'quick', number: 1 });
    expect(shown.log).toBe(`${work.workshop.place.records}/${run.attempt_id}/${run.id}.jsonl`);
    expect(await forge().text('runs', 'show', run.id)).toContain(shown.log);
    expect(await forge().json<Attempt[]>('task', 'attempts', id)).toMatchObject([shown.attempt]);
    expect((await forge().fails('runs', 'show', 'zzz')).error.message).toBe('No run zzz');
  });

  it('[S231] [S380] give their log line by line from a byte on, escaped', async () => {
    const logs = (...flags: string[]) => forge().json<Log>('runs', 'logs', run.id, ...flags);
    const all = await logs();
    expect(all).toMatchObject({ ended: true, state: 'completed', followed: false });
    const output = all.lines.flatMap((line) => (line.kind === 'output' ? line.text.split('\n') : []));
    expect(output).toEqual(['one', '\u001b[31mtwo']);
    const first = await logs('--limit', '1');
    expect([first.lines, first.ended]).toEqual([all.lines.slice(0, 1), false]);
    const rest = await logs('--offset', String(first.next_offset));
    expect([rest.lines, rest.next_offset]).toEqual([all.lines.slice(1), all.next_offset]);
    const text = await forge().text('runs', 'logs', run.id);
    expect(text).toContain(String.raw`\u001b[31mtwo`);
    const others = all.lines.filter(({ kind }) => kind !== 'output');
    expect(text.split('\n')).toHaveLength(others.length + output.length + 1);
    expect(text).not.toContain('\u001b');
    expect(await forge().text('runs', 'logs', run.id, '--limit', '1')).toMatch(
      /\nMore: forge runs logs \w{8} --offset \d+$/,
    );
    const followed = await forge().json<Log>('runs', 'logs', run.id, '--follow');
    expect(followed).toEqual({ ...all, followed: true });
    expect(await forge().text('runs', 'logs', run.id, '--follow')).toBe(text);
  });

  it('[S205] [S374] leave reviews, with what each check said', async () => {
    const reviews = await forge().json<Review[]>('task', 'reviews', id);
    expect(reviews).toMatchObject([
      { status: 'passed', attempt_number: 1, step_results: [{ command: 'test -f done.txt', exit_code: 0 }] },
    ]);
    expect(await forge().text('task', 'reviews', id)).toContain('1 step passed');
  });

  it('cannot be stopped any more; what is said to them waits for the next one', async () => {
    expect((await forge().fails('runs', 'stop', run.id)).error.code).toBe('state_invalid');
    expect(await forge().json('runs', 'send', run.id, 'Shorter')).toEqual({
      run_id: run.id,
      attempt_id: run.attempt_id,
      reaches: 'next_run',
    } satisfies OutputOf<typeof sendToRun>);
    const waiting = await store().listMessages({ attempt_id: run.attempt_id });
    expect(waiting).toMatchObject([{ body: 'Shorter' }]);
    expect((await forge().fails('runs', 'approve', run.id)).error).toMatchObject({
      code: 'state_invalid',
      message: `Run ${run.id} does not wait for leave`,
    });
  });
});

describe('a run at work', () => {
  it('[S377] [S378] [S380] is stopped and followed to its end; its task stays and says why', async () => {
    const { id } = await forge().create('Long');
    const run = await work.start(id, 'slow');
    const { state } = await forge().show(id);
    expect(await forge().json<Run[]>('runs', 'list', '--open')).toMatchObject([{ id: run.id }]);
    expect(await forge().json('runs', 'send', run.id, 'Hurry')).toMatchObject({ reaches: 'now' });
    const following = forge().json<Log>('runs', 'logs', run.id, '--follow');
    const stopped = await forge().json<Stopped>('runs', 'stop', run.id.slice(0, 8));
    expect(stopped.run).toMatchObject({ id: run.id, state: 'cancelled', outcome: 'stopped' });
    expect(stopped.task).toMatchObject({ id, state, error_annotation: { code: 'stopped' } });
    const followed = await following;
    expect(followed).toMatchObject({ ended: true, state: 'cancelled' });
    expect(followed.lines.map((line) => ('text' in line ? line.text : ''))).toContain('begun');
    await work.workshop.settled(id);
    // What it had done is where it was.
    const [attempt] = await store().listAttempts({ task_id: id });
    expect(existsSync(`${attempt?.path}/half.txt`)).toBe(true);
  });

  it('whose watcher is gone is settled, and its task says why', async () => {
    const { id } = await forge().create('Lost');
    const run = await lose(id);
    const stopped = await forge().json<Stopped>('runs', 'stop', run.id);
    expect(stopped.run).toMatchObject({ state: 'failed', outcome: 'crashed' });
    expect(stopped.task).toMatchObject({ state: 'in_progress', error_annotation: { code: 'stopped' } });
  });

  it('is told to have ended also where its task was deleted', async () => {
    const { id } = await forge().create('Deleted');
    const run = await lose(id);
    await store().deleteTask({ id }, systemWriter(work.workshop.place));
    const { stdout, exit } = await forge().run('runs', 'stop', run.id);
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: `${run.id.slice(0, 8)} is failed (crashed); ${id} was deleted\n`,
    });
  });

  it('whose watcher is gone does not keep whoever follows its log', async () => {
    const { id } = await forge().create('Lost too');
    const run = await lose(id);
    const { stdout, stderr } = await forge().run('runs', 'logs', run.id, '--follow', '--json');
    expect(stderr).toContain(`Run ${run.id.slice(0, 8)} of slow on ${id} lost its watcher`);
    expect(JSON.parse(stdout)).toMatchObject({ ended: true, outcome: 'crashed', lines: [] });
  });

  it('is waited for no longer than the limit', async () => {
    const { id } = await forge().create('Deaf');
    const run = await watchedRun(id, work.workshop.place.watcher);
    await expect(stopRun(work.ctx, run.id, { wait_ms: 1 })).rejects.toMatchObject({
      code: 'wait_timeout',
      details: { id: run.id, state: 'running' },
    });
    await store().moveRun({ id: run.id, to: 'failed' }, systemWriter(work.workshop.place));
  });
});

describe('leave to do something', () => {
  const ask = async (run: Run, tool: string, command = 'rm \u001b[2J'): Promise<Approval> =>
    store().askApproval(
      { id: crypto.randomUUID(), run_id: run.id, tool, input: { command }, command },
      systemWriter(work.workshop.place),
    );

  it('is given or refused; the only one need not be named, and one of several must be', async () => {
    const { id } = await forge().create('Asks');
    const run = await watchedRun(id, work.workshop.place.watcher);
    const first = await ask(run, 'Bash');
    expect(await forge().text('runs', 'show', run.id)).toContain(
      String.raw`Asks leave for Bash: rm \u001b[2J`,
    );
    const allowed = await forge().json<Approval>('runs', 'approve', run.id);
    expect(allowed).toMatchObject({
      id: first.id,
      state: 'allowed',
      answered_by: expect.stringContaining('user:'),
    });
    const [second, third] = [await ask(run, 'Edit'), await ask(run, 'Write')];
    const several = await forge().fails('runs', 'deny', run.id);
    expect(several.error).toMatchObject({
      code: 'ambiguous_id',
      details: { candidates: [second.id, third.id] },
    });
    const input = { id: run.id, approval: third.id } satisfies InputOf<typeof showRun> & { approval: string };
    expect(await forge().json('runs', 'deny', input.id, '--approval', input.approval)).toMatchObject({
      id: third.id,
      state: 'denied',
    });
    expect(await forge().text('runs', 'approve', run.id)).toBe(`Allowed for ${id}: Edit: rm \\u001b[2J`);
    expect((await forge().fails('runs', 'approve', run.id, '--approval', 'zz')).error.code).toBe('not_found');
    expect((await forge().fails('runs', 'approve', run.id, '--approval', first.id)).error.code).toBe(
      'state_invalid',
    );
  });
});

describe('leave for the rest of a task', () => {
  it('is given for a line or for first words, shown, and taken back; never by an agent', async () => {
    const { id } = await forge().create('Always');
    const run = await watchedRun(id, work.workshop.place.watcher);
    const ask = async (command: string | undefined): Promise<Approval> =>
      store().askApproval(
        { id: crypto.randomUUID(), run_id: run.id, tool: 'Bash', input: {}, command },
        systemWriter(work.workshop.place),
      );
    await ask('npm test -- a');
    const wrong = await forge().fails('runs', 'approve', run.id, '--prefix', 'npm run');
    expect(wrong.error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('npm run') });
    for (const verb of ['approve', 'deny', 'forget'])
      expect((await forge().fails('runs', verb, run.id, '--actor', 'agent:ada')).error.code).toBe(
        'permission_denied',
      );
    expect(await forge().text('runs', 'approve', run.id, '--prefix', 'npm test')).toBe(
      `Allowed for ${id}: Bash: npm test -- a\nFor the rest of ${id}: npm test …`,
    );
    const line = await ask('ls | wc');
    await forge().json('runs', 'approve', run.id, '--always');
    await ask(undefined);
    expect((await forge().fails('runs', 'approve', run.id, '--always')).error.code).toBe('invalid_input');
    expect(await forge().json('runs', 'deny', run.id, '--reason', 'Not now')).toMatchObject({
      reason: 'Not now',
    });
    const shown = await forge().text('runs', 'show', run.id);
    expect(shown).toContain('Always allowed: npm test …');
    expect(await forge().json('task', 'show', id)).toMatchObject({
      always_allowed: ['npm test …', 'ls | wc'],
    });
    expect(await forge().text('runs', 'forget', run.id, '--approval', line.id)).toBe(
      `Asks again in ${id}: ls | wc`,
    );
    expect(await forge().json('runs', 'forget', run.id)).toHaveLength(1);
    expect(await forge().json('runs', 'forget', run.id)).toEqual([]);
    expect(await forge().json('task', 'show', id)).not.toHaveProperty('always_allowed');
  });
});

/** A run as a process that was killed leaves it. */
async function lose(id: string): Promise<Run> {
  return watchedRun(id, { ...work.workshop.place.watcher, pid: 2 ** 22 + 1, start_time: 1 });
}

async function watchedRun(id: string, watcher: typeof work.workshop.place.watcher): Promise<Run> {
  const by = systemWriter(work.workshop.place);
  await forge().json('claim', id, '--actor', 'user:ann');
  const path = `${work.workshop.place.root}/none-${id}`;
  const attempt = await store().startAttempt(
    {
      id: crypto.randomUUID(),
      task_id: id,
      name: `0000-${id}`,
      path,
      target: 'main',
      base_commit: forge().git('rev-parse', 'HEAD'),
      agent: 'slow',
      port: null,
    },
    by,
  );
  await store().changeAttempt({ id: attempt.id, removed_at: attempt.created_at }, by);
  const run = await store().createRun(
    {
      id: crypto.randomUUID(),
      attempt_id: attempt.id,
      role: 'coder',
      agent: 'slow',
      executor: 'shell',
      fence: null,
      in_state: null,
      state: 'scheduled',
      session_id: null,
      watcher,
    },
    // Long ago, so that nobody has heard of it since.
    { ...by, now: by.now - 3_600_000 },
  );
  return store().moveRun({ id: run.id, to: 'running' }, by);
}

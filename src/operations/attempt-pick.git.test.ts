import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Attempt, AttemptView } from '#contract/attempt.ts';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import { openProjectWork, type ProjectWork } from '../../tests/support/project-work.ts';

let work: ProjectWork;
beforeAll(async () => {
  work = await openProjectWork();
  await work.addAgent('one', 'echo one > one.txt; echo same > both.txt');
  await work.addAgent('two', 'printf "1\\n2\\n" > two.txt; echo same > both.txt');
});
afterAll(() => work[Symbol.asyncDispose]());

const BOTH = ['--agent', 'one', '--agent', 'two', '--attempts', '2'];
const last = (attempts: readonly AttemptView[]): string => attempts.at(-1)?.id ?? '';

describe('several attempts by the command line', () => {
  it('are run, listed, compared, picked and merged', async () => {
    const { project } = work;
    const { id } = await project.create('Side by side');
    const run = await project.run('run', id, ...BOTH, '--json');
    expect(run.exit).toBe(1);
    const [waiting] = JSON.parse(run.stdout) as WorkedTask[];
    expect(waiting).toMatchObject({
      reached: false,
      task: { state: 'in_progress', error_annotation: { code: 'pick_attempt' } },
      attempts: [
        { number: 1, agent: 'one', result: 'green', changes: { files: 2, insertions: 2, deletions: 0 } },
        { number: 2, agent: 'two', result: 'green', changes: { files: 2, insertions: 3, deletions: 0 } },
      ],
    });
    const listed = await project.json<AttemptView[]>('task', 'attempts', id);
    expect(listed).toEqual(waiting?.attempts);
    // Nobody is led to one of them by chance.
    const [first, second] = listed;
    expect((await project.fails('workspace', 'open', id)).error).toMatchObject({
      code: 'state_invalid',
      message: `${id} has 2 open attempts: 1 (one, ${first?.name}), 2 (two, ${second?.name})`,
      hint: `forge workspace open ${id} --attempt 1`,
    });
    const opened = await project.json('workspace', 'open', id, '--attempt', '2');
    expect(opened).toMatchObject({ attempt_id: second?.id, path: second?.path, created: false });
    const none = await project.fails('workspace', 'open', id, '--attempt', '3');
    expect(none.error).toMatchObject({ code: 'not_found', hint: `forge workspace open ${id} --attempt 1` });
    expect((await project.fails('workspace', 'open', '--attempt', '3')).error.code).toBe('usage');
    // Somebody has left the branch of one.
    const { store } = work.ctx.project;
    const writer = { actor: { kind: 'system', name: '', named: true }, now: Date.now() } as const;
    const lost = { id: second?.id ?? '', strayed: 'on \u001b[2Jmain' };
    const back = await store.getAttempt(lost.id);
    await store.changeAttempt(lost, writer);
    const warning = `Its worktree is on \\u001b[2Jmain, not on ${back.branch}`;
    expect((await project.run('task', 'attempts', id)).stdout).toContain(warning);
    const [, run2] = waiting?.runs ?? [];
    expect((await project.run('runs', 'show', run2?.id ?? '')).stdout).toMatch(/^Warning .*not on/m);
    await store.changeAttempt({ ...lost, strayed: null }, writer);
    const compared = await project.json<{ files: unknown[] }>('attempt', 'compare', id);
    const one = { insertions: 1, deletions: 0 };
    expect(compared.files).toEqual([
      {
        path: 'both.txt',
        changed: [
          { number: 1, ...one },
          { number: 2, ...one },
        ],
        same: true,
      },
      { path: 'one.txt', changed: [{ number: 1, ...one }], same: false },
      { path: 'two.txt', changed: [{ number: 2, insertions: 2, deletions: 0 }], same: false },
    ]);
    const text = (await project.run('attempt', 'compare', id)).stdout;
    expect(text).toMatch(/both\.txt +\+1 -0 +\+1 -0 +same/);
    expect(text).toMatch(/one\.txt +\+1 -0 +-/);
    const picked = await project.json<WorkedTask>('attempt', 'pick', last(listed).slice(0, 8), '--merge');
    expect(picked).toMatchObject({ reached: true, task: { state: 'done' }, attempt: { number: 2 } });
    expect(project.git('show', 'main:two.txt')).toBe('1\n2');
    const again = await project.fails('attempt', 'pick', last(listed));
    expect(again).toMatchObject({ exit: 5, error: { code: 'state_invalid' } });
    const archived = await project.json<Attempt[]>('task', 'attempts', id);
    expect(archived.map(({ state }) => state)).toEqual(['archived', 'merged']);
  });

  it('[B6] are not picked by an agent, nor by a rule that an agent names', async () => {
    const { project } = work;
    const { id } = await project.create('Not for agents');
    await project.run('run', id, ...BOTH);
    const [first] = await project.json<AttemptView[]>('task', 'attempts', id);
    for (const name of ['one', 'somebody', 'agent:two']) {
      const refused = await project.fails(
        '--actor',
        name,
        'attempt',
        'pick',
        first?.id ?? '',
        '--reason',
        'mine',
      );
      expect(refused).toMatchObject({ exit: 6, error: { code: 'permission_denied' } });
    }
    const ruled = await project.fails('--actor', 'one', 'run', id, ...BOTH, '--pick', 'first_green');
    expect(ruled).toMatchObject({ exit: 6, error: { code: 'permission_denied' } });
    expect(await project.json<Attempt[]>('task', 'attempts', id)).toMatchObject([
      { state: 'active' },
      { state: 'active' },
    ]);
    expect(await project.json('attempt', 'pick', first?.id ?? '')).toMatchObject({ attempt: { number: 1 } });
  });

  it('are refused where agents and attempts do not fit, or somebody is unknown', async () => {
    const { project } = work;
    const { id } = await project.create('Not so');
    const few = await project.fails('run', id, '--agent', 'one', '--agent', 'two', '--attempts', '1');
    expect(few).toMatchObject({ exit: 2, error: { code: 'invalid_input', hint: '--attempts 2' } });
    const many = await project.fails('run', id, '--agent', 'one', '--attempts', '21');
    expect(many.error.code).toBe('invalid_input');
    const unknown = await project.fails('run', id, '--agent', 'one', '--agent', 'nobody', '--attempts', '2');
    expect(unknown.error.code).toBe('not_found');
    const absent = await project.fails('attempt', 'pick', 'nope');
    expect(absent.error.code).toBe('not_found');
    expect((await project.show(id)).state).toBe('todo');
  });

  it('are picked by a rule that is named later, without being made again', async () => {
    const { project } = work;
    const { id } = await project.create('By rule');
    const { stdout } = await project.run('run', id, ...BOTH);
    // Each line says which of them it is about.
    for (const line of ['#1  one (coder) completed', '#2  two (coder) running', '#1  review passed'])
      expect(stdout).toContain(`\n${id} ${line}`);
    const [done] = await project.json<WorkedTask[]>(
      'run',
      id,
      '--agent',
      'one',
      '--pick',
      'smallest_green',
      '--merge',
    );
    expect(done).toMatchObject({ reached: true, attempt: { number: 1, state: 'merged' } });
  });
});

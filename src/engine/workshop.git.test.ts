import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { DEFAULT_WORKFLOW } from '#domain/default-workflow.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import { ANN, renameWorkflow } from '../../tests/support/temp-engine.ts';
import { assignRole } from './assign-role.ts';
import { claimTask, closeTask } from './change-task.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { transitionTask } from './transition-task.ts';
import { workTask } from './work-task.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

const states = async (id: string): Promise<string[]> =>
  (await shop.engine.temp.store.listTransitions({ id, limit: undefined })).map(({ to_state }) => to_state);

describe('the way of a task', () => {
  it('[S202] [S203] [S204] [S205] [S220] [S348] [S369] goes from todo to a green main', async () => {
    shop.addAgent('w1', 'cat > prompt.txt; echo hello > hello.txt');
    const task = await shop.create('Say hello', { steps: ['test -f hello.txt'], description: 'In a file.' });
    const reviewed = await shop.work(task, 'w1');
    expect(reviewed.state).toBe('review');
    expect(reviewed.review_passed_at).toBeDefined();
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    expect(attempt?.branch).toMatch(/^forge\/[0-9a-f]{4}-say-hello$/);
    expect(existsSync(attempt?.path ?? '')).toBe(true);
    expect(shop.repo.git('show', `${attempt?.branch}:prompt.txt`)).toContain('In a file.');
    expect(shop.repo.git('log', '-1', '--format=%B', attempt?.branch ?? '')).toContain(
      `Forge-Task: ${task.id}`,
    );
    const done = await shop.move(task, 'merging');
    expect(done.state).toBe('done');
    expect(shop.repo.git('show', 'main:hello.txt')).toBe('hello');
    expect(shop.repo.git('log', '-1', '--format=%P', 'main').split(' ')).toHaveLength(2);
    expect(await shop.repo.read('hello.txt')).toBe('hello\n');
    expect(shop.repo.git('status', '--porcelain')).toBe('');
    expect(existsSync(attempt?.path ?? '')).toBe(false);
    const reviews = await shop.place.store.listReviews({ task_id: task.id });
    expect(reviews.map(({ status, attempt_number }) => [status, attempt_number])).toEqual([['passed', 1]]);
    expect(await states(task.id)).toEqual(['in_progress', 'review', 'merging', 'done']);
    shop.repo.git('fsck', '--strict');
  });

  it('[S349] is the same where every state and role has another name', async () => {
    const rename = (name: string): string => `x-${name.replaceAll('_', '-')}`;
    await using renamed = await tempWorkshop({ workflow: renameWorkflow(DEFAULT_WORKFLOW, rename) });
    renamed.addAgent('w1', 'echo x > x');
    const task = await renamed.create('Renamed', { steps: ['test -f x'] });
    expect(await renamed.work(task, 'w1')).toMatchObject({ state: 'x-review' });
    expect(await renamed.place.store.listReviews({ task_id: task.id })).toMatchObject([
      { status: 'passed', step_results: [{ outcome: 'passed' }] },
    ]);
    expect(await renamed.move(task, 'x-merging')).toMatchObject({ state: 'x-done' });
    expect(renamed.repo.git('show', 'main:x')).toBe('x');
  });

  it('[S206] is told event by event', async () => {
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Events', { steps: ['true'] });
    await shop.work(task, 'w1');
    await shop.move(task, 'merging');
    const { events } = await shop.engine.temp.store.readEvents({ after: 0, limit: 1000 });
    const own = events.filter(({ task_id }) => task_id === task.id);
    expect(own.map(({ type }) => type)).toEqual([
      'task.created',
      'task.updated',
      'task.claimed',
      'task.status_changed',
      'attempt.started',
      'run.state_changed',
      'run.state_changed',
      'run.state_changed',
      'run.state_changed',
      'task.status_changed',
      'review.started',
      'review.step_finished',
      'review.finished',
      'task.updated',
      'task.status_changed',
      'merge.queued',
      'merge.started',
      'merge.finished',
      'attempt.finished',
      'task.closed',
      'task.status_changed',
      'attempt.removed',
    ]);
  });

  it('[S375] sends red checks back to the coder with what they said, and takes the green ones', async () => {
    shop.addAgent('w1', 'if grep -q "the check" ; then echo good > v; else echo bad > v; fi');
    const task = await shop.create('Twice', { steps: ['cat v; grep good v'] });
    const reviewed = await shop.work(task, 'w1');
    expect(reviewed.state).toBe('review');
    const reviews = await shop.place.store.listReviews({ task_id: task.id });
    expect(reviews.map(({ status, attempt_number }) => `${attempt_number} ${status}`)).toEqual([
      '1 failed',
      '2 passed',
    ]);
    expect(await states(task.id)).toEqual(['in_progress', 'review', 'in_progress', 'review']);
  });

  it('[S199] ends with a person when the checks stay red', async () => {
    shop.addAgent('w1', 'echo again >> v');
    const task = await shop.create('Never', { steps: ['false'] });
    const blocked = await shop.work(task, 'w1');
    expect(blocked.state).toBe('blocked');
    expect(blocked.error_annotation?.code).toBe('retry_budget');
    expect((await shop.place.store.listReviews({ task_id: task.id })).length).toBe(4);
  });

  it('does not take an agent that changed nothing for one that is done', async () => {
    shop.addAgent('w1', 'true');
    const task = await shop.create('Idle');
    const back = await shop.work(task, 'w1');
    expect(back.state).toBe('todo');
    expect(back.error_annotation?.code).toBe('run_failed');
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    expect(run).toMatchObject({ state: 'failed', outcome: 'no_change' });
  });

  inSoak(() => {
    it('puts a task back whose agent failed, and blocks it when the tries are spent', async () => {
      shop.addAgent('w1', 'echo boom >&2; exit 7');
      const task = await shop.create('Boom');
      expect((await shop.work(task, 'w1')).state).toBe('todo');
      expect((await shop.work(task, 'w1')).state).toBe('todo');
      const blocked = await shop.work(task, 'w1');
      expect(blocked.state).toBe('blocked');
      expect(blocked.error_annotation?.message).toContain('3 tries in a row');
      // One attempt, three runs: what was done stays.
      expect((await shop.place.store.listAttempts({ task_id: task.id })).length).toBe(1);
    });
  });

  it('[S360] [H2] starts nothing while the project is paused, by no way that leads to work', async () => {
    shop.addAgent('w1', 'if [ -f a ]; then echo b > b; else echo a > a; fi');
    const { store } = shop.place;
    const pause = (paused: boolean) => store.pauseProject(paused, shop.as().by);
    const runs = async (id: string): Promise<number> => (await store.listRuns({ task_id: id })).length;
    // Its checks are red while it is paused: the workflow leads it back to its coder, who is not started.
    const red = await shop.create('Red', { steps: ['sleep 1; test -f b'] });
    await claimTask(shop.as(), { id: red.id, assignee: 'w1', force: false });
    await expect.poll(async () => (await store.getTask(red.id)).state, { timeout: 20_000 }).toBe('review');
    await pause(true);
    await shop.workshop.settled();
    expect(await store.getTask(red.id)).toMatchObject({
      state: 'todo',
      assignee: null,
      error_annotation: { code: 'project_paused' },
    });
    expect(await runs(red.id)).toBe(1);
    // A task that is the agent's already, as after a crash.
    const mine = await shop.create('Mine');
    await pause(false);
    await claimTask({ ...shop.as(), follows: false }, { id: mine.id, assignee: 'w1', force: false });
    await pause(true);
    const again = workTask(shop.workshop, shop.as(), { id: mine.id, agent: 'w1', merge: false });
    await expect(again).rejects.toMatchObject({ code: 'project_paused' });
    expect(await runs(mine.id)).toBe(0);
    // And goes on where it was left.
    await pause(false);
    expect((await shop.work(red, 'w1')).review_passed_at).toBeDefined();
    expect(await runs(red.id)).toBe(2);
    expect(await store.listAttempts({ task_id: red.id })).toHaveLength(1);
  });

  it('[S359] starts no agent that is paused, also not beside another', async () => {
    shop.addAgent('w1', 'echo a > a');
    shop.addAgent('w2', 'echo b > b');
    shop.paused.add('w2');
    const task = await shop.create('Both');
    const attempts = { agents: ['w1', 'w2'], count: 2, pick: undefined };
    const claimed = await claimTask(
      { ...shop.as(), attempts },
      { id: task.id, assignee: 'w1', force: false },
    );
    expect(claimed).toMatchObject({ outcome: 'agent_paused', agent: 'w2' });
    expect(await shop.place.store.listRuns({ task_id: task.id })).toEqual([]);
  });

  inSoak(() => {
    it('is not done with a conflict while its marks stand in a file', async () => {
      const marks = '<<<<<<< ours\\nmine\\n=======\\ntheirs\\n>>>>>>> theirs\\n';
      shop.addAgent(
        'marks',
        `if test -e .git/again; then printf '${marks}' > README.md; else touch .git/again; echo mine > README.md; fi`,
      );
      const task = await shop.create('Conflict');
      await shop.work(task, 'marks');
      await shop.repo.write('README.md', 'theirs\n');
      shop.repo.git('commit', '-qam', 'theirs');
      await shop.move(task, 'merging');
      const runs = await shop.place.store.listRuns({ task_id: task.id });
      expect(runs.at(0)).toMatchObject({ outcome: 'completed' });
      expect(runs.at(1)).toMatchObject({
        outcome: 'failed',
        // The commit of the other side may be noticed in the checkout, and told besides.
        message: expect.stringContaining('Conflicts still stand in README.md') as string,
      });
    });
  });

  it.each(shareOf(['<', '=', '>'], 3))(
    'takes no conflict for resolved while a line of %s stands in a file',
    async (mark) => {
      shop.addAgent('w1', 'echo one > README.md');
      const others = '<=>'.replace(mark, '');
      shop.addAgent(
        'w2',
        `if grep -q conflicts; then grep -v "^[${others}]" README.md > x; mv x README.md; else echo two > README.md; fi`,
      );
      const [a, b] = [await shop.create('One'), await shop.create('Two')];
      await shop.work(a, 'w1');
      await shop.work(b, 'w2');
      await shop.move(a, 'merging');
      const failed = await shop.move(b, 'merging');
      expect(failed.error_annotation?.message).toContain('Conflicts still stand in README.md');
      expect(shop.repo.git('show', 'main:README.md')).toBe('one');
    },
  );

  inSoak(() => {
    it('knows the underline of a heading from a line of a conflict', async () => {
      await shop.repo.write('README.md', 'Heading\n=======\n\nbase\n');
      shop.repo.git('commit', '-qam', 'heading');
      shop.addAgent('w1', 'sed -i s/base/one/ README.md');
      shop.addAgent(
        'w2',
        'if grep -q conflicts; then printf "Heading\n=======\n\nboth\n" > README.md; else sed -i s/base/two/ README.md; fi',
      );
      const [a, b] = [await shop.create('One'), await shop.create('Two')];
      await shop.work(a, 'w1');
      await shop.work(b, 'w2');
      await shop.move(a, 'merging');
      expect((await shop.move(b, 'merging')).state).toBe('review');
      expect((await shop.move(b, 'merging')).state).toBe('done');
      expect(shop.repo.git('show', 'main:README.md')).toBe('Heading\n=======\n\nboth');
    });
  });

  it.each(
    shareOf(
      [
        ['moved', 'git mv README.md moved.md; grep -v "^[<=]" moved.md > x; mv x moved.md'],
        [
          'committed as no merge',
          'rm .git/MERGE_HEAD; grep -v "^[<=]" README.md > x; mv x README.md; git commit -qam x',
        ],
      ],
      2,
    ),
  )('finds the lines of a conflict in a file that was %s', async (_, resolve) => {
    shop.addAgent('w1', 'echo one > README.md');
    shop.addAgent('w2', `if grep -q conflicts; then ${resolve}; else echo two > README.md; fi`);
    const [a, b] = [await shop.create('One'), await shop.create('Two')];
    await shop.work(a, 'w1');
    await shop.work(b, 'w2');
    await shop.move(a, 'merging');
    const failed = await shop.move(b, 'merging');
    expect(failed.error_annotation?.message).toMatch(/Conflicts still stand in (README|moved).md/);
    expect(shop.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md');
  });

  it('merges no markers of a merge that the agent made by itself', async () => {
    await shop.repo.write('other.md', 'base\n');
    shop.repo.git('add', 'other.md');
    shop.repo.git('commit', '-qm', 'other');
    shop.addAgent('w1', 'sed -i s/base/one/ other.md');
    const resolve = 'grep -v "^[<>]" other.md > x; mv x other.md; git commit -qam merged';
    // Its own branch is merged with another one of its own: Forge has no part in it.
    const side =
      'git checkout -qb side; sed -i s/base/three/ other.md; git commit -qam three; git checkout -q -';
    shop.addAgent(
      'w2',
      `${side}; sed -i s/base/two/ other.md; git commit -qam two; git merge -q side; ${resolve}`,
    );
    const task = await shop.create('Two');
    await shop.work(task, 'w2');
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    expect(run).toMatchObject({
      outcome: 'failed',
      message: expect.stringContaining('Conflicts still stand in other.md') as string,
    });
  });

  it('[S399] counts attempts, reviews and rejections on the task', async () => {
    shop.addAgent('w1', 'if [ -f a ]; then echo b > b; else echo a > a; fi');
    const task = await shop.create('Counted', { steps: ['test -f b'] });
    const { store } = shop.place;
    expect(await store.getTask(task.id)).toMatchObject({
      counters: { attempts: 0, reviews: 0, rejections: 0 },
    });
    expect(await shop.work(task, 'w1')).toMatchObject({
      state: 'review',
      counters: { attempts: 1, reviews: 2, rejections: 1 },
    });
  });

  it('[S346] tells who conflicts with what, and takes no markers for a solution', async () => {
    shop.addAgent('w1', 'echo one > README.md');
    shop.addAgent('w2', 'if grep -q conflicts; then echo more > other; else echo two > README.md; fi');
    const [a, b] = [await shop.create('One'), await shop.create('Two')];
    await shop.work(a, 'w1');
    await shop.work(b, 'w2');
    expect((await shop.move(a, 'merging')).state).toBe('done');
    const failed = await shop.move(b, 'merging');
    expect(failed.state).toBe('todo');
    expect(failed.error_annotation?.message).toContain('Conflicts still stand in README.md');
    const [merge] = await shop.place.store.listMerges({ task_id: b.id });
    expect(merge).toMatchObject({ state: 'conflict', conflicts: [{ path: 'README.md', kind: 'content' }] });
    expect(shop.repo.git('show', 'main:README.md')).toBe('one');
  });

  inSoak(() => {
    it('leaves a conflict to a person where the one who merges does not stay', async () => {
      shop.addAgent('w1', 'echo one > README.md');
      shop.addAgent('w2', 'echo two > README.md');
      const [a, b] = [await shop.create('One'), await shop.create('Two')];
      await shop.work(a, 'w1');
      await shop.work(b, 'w2');
      await shop.move(a, 'merging');
      await transitionTask({ ...shop.as(), follows: false }, { id: b.id, to: 'merging', reason: null });
      await shop.workshop.settled();
      expect(await shop.place.store.getTask(b.id)).toMatchObject({
        state: 'merge_failed',
        assignee: 'w2',
        error_annotation: { message: expect.stringContaining('conflicts with main in README.md') },
      });
    });
  });

  it('gives the coder one chance to resolve a conflict, with the target in its files', async () => {
    shop.addAgent('w1', 'echo one > README.md');
    shop.addAgent(
      'w2',
      'if grep -q conflicts; then grep -v "^[<=>]" README.md > x; mv x README.md; else echo two > README.md; fi',
    );
    const [a, b] = [await shop.create('One'), await shop.create('Two')];
    await shop.work(a, 'w1');
    await shop.work(b, 'w2');
    await shop.move(a, 'merging');
    const again = await shop.move(b, 'merging');
    expect(again.state).toBe('review');
    expect((await shop.move(b, 'merging')).state).toBe('done');
    expect(shop.repo.git('show', 'main:README.md').split('\n').toSorted()).toEqual(['one', 'two']);
    expect(await states(b.id)).toEqual([
      'in_progress',
      'review',
      'merging',
      'merge_failed',
      'in_progress',
      'review',
      'merging',
      'done',
    ]);
    shop.repo.git('fsck', '--strict');
  });

  it('tests what is merged: two that are green by themselves and red together', async () => {
    shop.addAgent('w1', 'echo a > a');
    shop.addAgent('w2', 'echo b > b');
    const steps = ['! { test -f a && test -f b; }'];
    const [a, b] = [await shop.create('A', { steps }), await shop.create('B', { steps })];
    await shop.work(a, 'w1');
    await shop.work(b, 'w2');
    await shop.move(a, 'merging');
    // The coder gets one chance, and its work is the same as before.
    expect((await shop.move(b, 'merging')).state).not.toBe('done');
    expect(shop.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\na');
    const [failed] = await shop.place.store.listMerges({ task_id: b.id });
    expect(failed).toMatchObject({ state: 'ci_failed' });
  });

  it('[S166] leaves a checkout alone that has changes of its own in the way, and may be blocked then', async () => {
    shop.addAgent('w1', 'echo theirs > README.md');
    const [task, other] = [await shop.create('Dirty'), await shop.create('Dirty too')];
    for (const one of [task, other]) await shop.work(one, 'w1');
    await shop.repo.write('README.md', 'mine\n');
    const failed = await shop.move(task, 'merging');
    expect(failed.state).toBe('merge_failed');
    expect(failed.error_annotation?.message).toContain('README.md');
    expect(await shop.repo.read('README.md')).toBe('mine\n');
    await shop.move(other, 'merging');
    await shop.move(other, 'blocked');
    expect(await states(other.id)).toEqual(['in_progress', 'review', 'merging', 'merge_failed', 'blocked']);
    shop.repo.git('checkout', '--', 'README.md');
    expect((await shop.move(task, 'merging')).state).toBe('done');
  });

  it('[S347] keeps the folder of a cancelled task for a day', async () => {
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Off');
    await shop.work(task, 'w1');
    expect((await shop.move(task, 'cancelled')).state).toBe('cancelled');
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    expect(attempt).toMatchObject({ state: 'archived', removed_at: null });
    const hours = (Date.parse(attempt?.cleanup_at ?? '') - Date.now()) / 3_600_000;
    expect(Math.round(hours)).toBe(24);
    expect(existsSync(attempt?.path ?? '')).toBe(true);
  });

  inSoak(() => {
    it('ends an agent at work when its task is cancelled', async () => {
      shop.addAgent('w1', 'echo begun > x; sleep 600');
      const task = await shop.create('Long');
      const working = shop.work(task, 'w1');
      await expect
        .poll(async () => (await shop.place.store.listRuns({ task_id: task.id }))[0]?.pid ?? null)
        .not.toBeNull();
      await shop.engine.temp.store.readStanding(task.id);
      const cancelled = await shop.move(task, 'cancelled');
      await working;
      expect(cancelled.state).toBe('cancelled');
      const [run] = await shop.place.store.listRuns({ task_id: task.id });
      expect(run).toMatchObject({ state: 'cancelled', outcome: 'stopped' });
    });
  });

  it('[S386] goes on where another role is given in the middle of the work', async () => {
    shop.addAgent('w1', 'echo begun > x; until test -e .git/go; do sleep 0.05; done');
    const task = await shop.create('Reviewed by ann');
    const working = shop.work(task, 'w1');
    await begun(task.id);
    const change = { id: task.id, role: 'reviewer', holder: { user: 'ann' } };
    await assignRole(shop.as(), { ...change, reset_worktree: false, reset_workspace: false });
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    writeFileSync(join(attempt?.path ?? '', '.git/go'), '');
    expect(await working).toMatchObject({
      state: 'review',
      assignee: 'w1',
      roles: { reviewer: { user: 'ann' } },
    });
    expect(await shop.place.store.listRuns({ task_id: task.id })).toMatchObject([{ outcome: 'completed' }]);
  });

  it('[S382] [S383] gives the task to another coder in the middle of the work', async () => {
    shop.addAgent('w1', 'echo begun > x; sleep 600');
    shop.addAgent('w2', 'echo done > y');
    const task = await shop.create('Handed over');
    const working = shop.work(task, 'w1');
    await begun(task.id);
    const change = { id: task.id, role: 'coder', holder: { agent: 'w2' }, reset_worktree: false };
    await assignRole(shop.as(), { ...change, reset_workspace: false });
    await working;
    const back = await shop.engine.temp.store.getTask(task.id);
    expect(back).toMatchObject({ state: 'todo', assignee: null });
    expect((await shop.place.store.listRuns({ task_id: task.id }))[0]).toMatchObject({ outcome: 'stopped' });
    const reviewed = await shop.work(task, 'w2');
    expect(reviewed).toMatchObject({ state: 'review', review_passed_at: expect.any(String) as string });
    const [attempt, ...more] = await shop.place.store.listAttempts({ task_id: task.id });
    expect(more).toEqual([]);
    expect(shop.repo.git('ls-tree', '--name-only', attempt?.branch ?? '')).toBe('README.md\nx\ny');
    // What passed was another's work.
    await assignRole(shop.as(), { ...change, holder: { agent: 'w1' }, reset_workspace: false });
    const again = await shop.engine.temp.store.getTask(task.id);
    expect(again.review_passed_at).toBeUndefined();
  });

  it.each([
    ['[S384] drops what is not committed, with reset_worktree', 'worktree', 'README.md\ny'],
    ['[S135] [S385] begins again from the base branch, with reset_workspace', 'workspace', 'README.md\ny'],
  ])('%s', async (_, reset, files) => {
    shop.addAgent('w1', 'echo begun > x; sleep 600');
    shop.addAgent('w2', 'echo done > y');
    const task = await shop.create('Anew');
    const working = shop.work(task, 'w1');
    await begun(task.id);
    await assignRole(shop.as(), {
      id: task.id,
      role: 'coder',
      holder: { agent: 'w2' },
      reset_worktree: reset === 'worktree',
      reset_workspace: reset === 'workspace',
    });
    await working;
    await shop.work(task, 'w2');
    const attempts = await shop.place.store.listAttempts({ task_id: task.id });
    expect(attempts.length).toBe(reset === 'workspace' ? 2 : 1);
    expect(shop.repo.git('ls-tree', '--name-only', attempts.at(-1)?.branch ?? '')).toBe(files);
  });

  it('[S224] [S338] [S344] [S370] asks the auditor after the checks, in a folder of its own, and the coder again when it says no', async () => {
    shop.addAgent('w1', 'if grep -q "too short" ; then echo longer > v; else echo no > v; fi');
    const seen = join(shop.repo.path, '.git', 'seen');
    const verdict = (word: string, findings: string): string =>
      `{"verdict":"${word}","summary":"it is too short","findings":${findings}}`;
    shop.addAgent(
      'critic',
      `if grep -q longer v; then echo '${verdict('pass', '[]')}'; else echo '${verdict('reject', '[{"severity":"major","file":"v","line":1,"message":"too short"}]')}'; fi; echo mine > v; { pwd; git rev-parse HEAD; cat; } > ${seen}`,
    );
    const task = await shop.create('Audited', { steps: ['test -f v'] });
    const review_config = { ci_steps: ['test -f v'], review_prompt: 'Mind its length.' };
    await shop.place.store.updateTask(
      { id: task.id, workflow_fields: new Map([['review_config', review_config]]) },
      { actor: ANN, now: Date.now() },
    );
    const holder = { agent: 'critic' };
    const resets = { reset_worktree: false, reset_workspace: false };
    await assignRole(shop.as(), { id: task.id, role: 'reviewer', holder, ...resets });
    const reviewed = await shop.work(task, 'w1');
    expect(reviewed.state).toBe('review');
    expect(reviewed.review_passed_at).toBeDefined();
    const reviews = await shop.place.store.listReviews({ task_id: task.id });
    expect(reviews.map(({ status, verdict: one }) => [status, one?.verdict])).toEqual([
      ['failed', 'reject'],
      ['passed', 'pass'],
    ]);
    // What the auditor did to its own copy is nobody's.
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    expect(shop.repo.git('show', `${attempt?.branch}:v`)).toBe('longer');
    expect(await states(task.id)).toEqual(['in_progress', 'review', 'in_progress', 'review']);
    // DESIGN decides on [S224]: the commit that was checked, in another folder than the coder's.
    const [folder, head, ...prompt] = readFileSync(seen, 'utf8').split('\n');
    expect(folder).not.toBe(attempt?.path);
    expect(existsSync(folder ?? '')).toBe(false);
    expect(head).toBe(reviews.at(-1)?.head_commit);
    expect(prompt).toContain('Mind its length.');
  });

  it('stops a loop in which the auditor finds the same twice', async () => {
    shop.addAgent('w1', 'echo again >> v');
    shop.addAgent(
      'critic',
      `echo '{"verdict":"reject","summary":"no","findings":[{"severity":"minor","message":"ugly"}]}'`,
    );
    const task = await shop.create('Loop');
    const resets = { reset_worktree: false, reset_workspace: false };
    await assignRole(shop.as(), { id: task.id, role: 'reviewer', holder: { agent: 'critic' }, ...resets });
    const blocked = await shop.work(task, 'w1');
    expect(blocked.state).toBe('blocked');
    expect(blocked.error_annotation?.code).toBe('same_findings');
  });

  it('[S343] plans first where somebody is there for it', async () => {
    const plan = {
      summary: 'two steps',
      subtasks: [
        { title: 'First', description: 'a', depends_on: [] },
        { title: 'Second', description: 'b', depends_on: [0] },
      ],
      checklist: ['tell somebody'],
    };
    shop.addAgent('thinker', `echo '${JSON.stringify(plan)}'`);
    const task = await shop.create('Large');
    const resets = { reset_worktree: false, reset_workspace: false };
    await assignRole(shop.as(), { id: task.id, role: 'planner', holder: { agent: 'thinker' }, ...resets });
    const planned = await shop.work(task, 'thinker');
    expect(planned.description).toContain('- [ ] tell somebody');
    expect(planned.subtasks.map(({ title }) => title)).toEqual(['First', 'Second']);
    // [A3] It goes on when its subtasks are closed.
    expect(await states(task.id)).toEqual(['planning', 'todo']);
    // Nothing of the folder that it was planned in is left.
    expect(shop.repo.git('for-each-ref', 'refs/heads/forge', 'refs/forge/keep')).toBe('');
  });
});

describe('what a user took out of the target', () => {
  it.each(shareOf(['merge', 'squash', 'rebase'] as const, 3))(
    'does not come back with an attempt that began before: %s',
    async (strategy) => {
      shop.set({ merge: { strategy } });
      const go = join(shop.place.records, '..', 'go');
      shop.addAgent('w1', `touch ${go}.begun; until [ -e ${go} ]; do sleep 0.05; done; echo x > x`);
      await shop.repo.write('secret.txt', 'secret\n');
      await shop.repo.write('wanted.txt', 'wanted\n');
      shop.repo.git('add', '-A');
      shop.repo.git('commit', '-qm', 'oops');
      const oops = shop.repo.git('rev-parse', 'main');
      const task = await shop.create('Amended');
      const working = shop.work(task, 'w1');
      await expect.poll(() => existsSync(`${go}.begun`), PATIENCE).toBe(true);
      shop.repo.git('rm', '-q', 'secret.txt');
      shop.repo.git('commit', '-q', '--amend', '-m', 'wanted');
      writeFileSync(go, '');
      await working;
      expect((await shop.move(task, 'merging')).state).toBe('done');
      expect(shop.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\nwanted.txt\nx');
      expect(shop.repo.git('rev-list', 'main').split('\n')).not.toContain(oops);
      expect(shop.repo.git('status', '--porcelain', '--untracked-files=no')).toBe('');
    },
  );
});

describe('[A1] a merge that somebody takes back at once', () => {
  it('is not called done', async () => {
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('Taken back');
    await shop.work(task, 'w1');
    const before = shop.repo.git('rev-parse', 'main');
    const hook = join(shop.repo.path, '.git', 'hooks', 'reference-transaction');
    // It hears of the landing and undoes it, as a person with quick fingers would.
    const undo = `git -C ${shop.repo.path} reset -q --hard ${before}`;
    mkdirSync(join(shop.repo.path, '.git', 'hooks'), { recursive: true });
    writeFileSync(
      hook,
      `#!/bin/sh\n[ "$1" = committed ] || exit 0\ngrep -q refs/heads/main || exit 0\nrm "$0"; unset GIT_DIR; ${undo}\n`,
      { mode: 0o755 },
    );
    const after = await shop.move(task, 'merging');
    expect(existsSync(hook)).toBe(false);
    expect(shop.repo.git('rev-parse', 'main')).toBe(before);
    expect(after).toMatchObject({ state: 'merge_failed', error_annotation: { code: 'merge_refused' } });
    expect(after.error_annotation?.message).toContain('main was moved back behind the merge');
    expect((await shop.move(task, 'merging')).state).toBe('done');
  });
});

describe('[A1] a task that a person closes', () => {
  const close = (task: Task): Promise<Task> => closeTask(shop.as(), { id: task.id, reason: 'done' });

  it('is done where they have merged its attempt by hand, and not before', async () => {
    shop.addAgent('w1', 'echo x > x');
    const task = await shop.create('By hand', { steps: ['true'] });
    await shop.work(task, 'w1');
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    await expect(close(task)).rejects.toMatchObject({ code: 'state_invalid' });
    shop.repo.git('merge', '--quiet', '--no-edit', '--no-ff', attempt?.branch ?? '');
    expect(await close(task)).toMatchObject({ state: 'done' });
    expect(await shop.place.store.listAttempts({ task_id: task.id })).toMatchObject([
      { state: 'merged', merge_commit: attempt?.head_commit },
    ]);
  });

  it('is not done by an attempt that has no commit of its own, which every target has', async () => {
    shop.addAgent('idle', 'true');
    const task = await shop.create('Idle');
    await shop.work(task, 'idle');
    await expect(close(task)).rejects.toMatchObject({ code: 'state_invalid' });
    expect(await shop.place.store.listAttempts({ task_id: task.id })).toMatchObject([{ state: 'active' }]);
  });
});

describe('[A18] Forge that is told to end', () => {
  it('while a folder is set up gives the task back, and does not block it', async () => {
    shop.addAgent('w1', 'echo x > x');
    const flag = join(shop.place.records, '..', 'begun');
    shop.set({ workspace: { setup: [`touch ${flag}; sleep 600`] } });
    const task = await shop.create('Cut off');
    const working = shop.work(task, 'w1');
    await expect.poll(() => existsSync(flag), PATIENCE).toBe(true);
    await shop.workshop.stop();
    await working;
    expect(await shop.place.store.getTask(task.id)).toMatchObject({
      state: 'todo',
      error_annotation: { code: 'run_failed', message: 'Forge was stopped before its agent was started' },
    });
  });
});

/** On a busy machine. */
const PATIENCE = { timeout: 20_000 };

async function begun(id: string): Promise<void> {
  await expect
    .poll(async () => (await shop.place.store.listRuns({ task_id: id }))[0]?.pid ?? null, PATIENCE)
    .not.toBeNull();
  const attempt = (await shop.place.store.listAttempts({ task_id: id })).at(-1);
  await expect.poll(() => existsSync(`${attempt?.path}/x`), PATIENCE).toBe(true);
}

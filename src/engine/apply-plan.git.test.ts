import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Plan } from '#contract/attempt.ts';
import type { RoleHolder, Task } from '#contract/task.ts';
import { ANN } from '../../tests/support/temp-engine.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { assignRole } from './assign-role.ts';
import { resumeTasks } from './resume-tasks.ts';
import { dispatchTasks } from './dispatch-tasks.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

const PLAN: Plan = {
  summary: 'two steps',
  subtasks: [
    { title: 'First', description: 'a', depends_on: [] },
    { title: 'Second', description: 'b', depends_on: [0] },
  ],
  checklist: [],
};
const NO_SUBTASKS: Plan = { summary: 'one piece', subtasks: [], checklist: ['tell somebody'] };

const seen = (): string => join(shop.repo.path, '.git', 'seen');

/** Says what it was told, writes where it should not, and answers. */
const addPlanner = (plan: Plan): void =>
  shop.addAgent('thinker', `cat > ${seen()}; echo mine > planned.txt; echo '${JSON.stringify(plan)}'`);

const assign = (task: Task, role: string, holder: RoleHolder): Promise<Task> =>
  assignRole(shop.as(), { id: task.id, role, holder, reset_worktree: false, reset_workspace: false });

const states = async (task: Task): Promise<string[]> =>
  (await shop.engine.temp.store.listTransitions({ id: task.id, limit: undefined })).map(
    ({ to_state }) => to_state,
  );

const childrenOf = ({ id }: Task): Promise<Task[]> =>
  shop.place.store.listTasks({ parent_id: id, sort: 'created' });

async function dispatch(): Promise<void> {
  await dispatchTasks(shop.workshop, { merge: true, until_empty: true, tell: () => undefined });
}

describe('[A3] a task that was planned', () => {
  it('gives its gates to its subtasks, and waits for them', async () => {
    addPlanner(PLAN);
    const task = await shop.create('Large', { steps: ['false'] });
    const review_config = { ci_steps: ['false'], review_prompt: 'Mind the tests.' };
    await shop.place.store.updateTask(
      { id: task.id, workflow_fields: new Map([['review_config', review_config]]) },
      { actor: ANN, now: shop.place.clock.now() },
    );
    await assign(task, 'planner', { agent: 'thinker' });
    await assign(task, 'reviewer', { user: 'ann' });
    await assign(task, 'coder', { agent: 'w1' });
    const planned = await shop.work(task, 'thinker');
    const children = await childrenOf(task);
    expect(children.map(({ title }) => title)).toEqual(['First', 'Second']);
    for (const child of children)
      expect(child).toMatchObject({ review_config, roles: { reviewer: { user: 'ann' } } });
    // Whoever works on the whole need not work on its parts.
    expect(children.map(({ roles }) => Object.keys(roles ?? {}))).toEqual([['reviewer'], ['reviewer']]);
    expect(await states(task)).toEqual(['planning', 'todo']);
    expect(planned).toMatchObject({
      state: 'todo',
      assignee: null,
      open_blockers: 2,
      error_annotation: { code: 'waits_for_subtasks' },
    });
    expect((await shop.place.store.listReady({})).map(({ id }) => id)).toEqual([children[0]?.id]);
    expect(planned.roles?.planner).toBeUndefined();
  });

  it('[L13] is told to plan and to change nothing, and what it writes is nobody else’s', async () => {
    addPlanner(NO_SUBTASKS);
    shop.addAgent('w1', 'test ! -f planned.txt && echo x > x');
    const task = await shop.create('One piece', { steps: ['true'] });
    await assign(task, 'planner', { agent: 'thinker' });
    await assign(task, 'coder', { agent: 'w1' });
    const done = await shop.work(task, 'thinker');
    const prompt = readFileSync(seen(), 'utf8');
    expect(prompt).toContain('change no files');
    expect(prompt).not.toContain('what you leave is committed');
    expect(await states(task)).toEqual(['planning', 'in_progress', 'review']);
    expect(done.description).toContain('- [ ] tell somebody');
    const [first, second] = await shop.place.store.listAttempts({ task_id: task.id });
    expect([first?.state, second?.state]).toEqual(['archived', 'active']);
    expect(existsSync(first?.path ?? '')).toBe(false);
    expect(shop.repo.git('ls-tree', '--name-only', second?.branch ?? '')).toBe('README.md\nx');
  });

  it('goes through its own gates when its parts are on the target: one plan, one round, no failure', async () => {
    const told = join(shop.repo.path, '.git', 'told');
    // One agent for all of it: the role says what it does, and a plan is not asked for twice.
    shop.addAgent(
      'w1',
      `cat > ${told}; if grep -q "You plan it" ${told}; then echo '${JSON.stringify(PLAN)}'; elif grep -q "divided into subtasks" ${told}; then true; elif grep -q First ${told}; then echo 1 > first; else echo 2 > second; fi`,
    );
    const task = await shop.create('Large', { steps: ['test -f first'] });
    await assign(task, 'planner', { agent: 'w1' });
    await dispatch();
    const children = await childrenOf(task);
    expect(children.map(({ state }) => state)).toEqual(['done', 'done']);
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'done' });
    expect(await states(task)).toEqual(['planning', 'todo', 'in_progress', 'review', 'merging', 'done']);
    expect(shop.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md\nfirst\nsecond');
    const runs = await shop.place.store.listRuns({ task_id: task.id });
    expect(runs.map(({ role, outcome }) => [role, outcome])).toEqual([
      ['planner', 'completed'],
      ['coder', 'completed'],
    ]);
    expect(runs[1]?.message).toContain('its subtasks are closed');
    expect(readFileSync(told, 'utf8')).toContain(`${children[0]?.id}: First`);
    // The gates looked at the whole, too: its tree is that of the last part, and the review says so.
    const [review] = await shop.place.store.listReviews({ task_id: task.id });
    expect(review?.status).toBe('passed');
    expect(review?.step_results[0]?.reused_from?.review_id).toBe(
      (await shop.place.store.listReviews({ task_id: children[1]?.id ?? '' })).at(-1)?.id,
    );
  });

  it('lands nothing of a part whose checks fail', async () => {
    const plan = { ...PLAN, subtasks: PLAN.subtasks.slice(0, 1) };
    shop.addAgent(
      'w1',
      `if grep -q "You plan it"; then echo '${JSON.stringify(plan)}'; else echo again >> first; fi`,
    );
    const task = await shop.create('Guarded', { steps: ['false'] });
    await assign(task, 'planner', { agent: 'w1' });
    await dispatch();
    const [child] = await childrenOf(task);
    expect(child?.state).toBe('blocked');
    expect(shop.repo.git('ls-tree', '--name-only', 'main')).toBe('README.md');
    expect((await shop.place.store.getTask(task.id)).state).toBe('todo');
  });

  it('waits for its parts also where Forge was killed right after the plan', async () => {
    addPlanner(PLAN);
    const task = await shop.create('Killed', { steps: ['true'] });
    await assign(task, 'planner', { agent: 'thinker' });
    const { store } = shop.place;
    const whole = Object.getOwnPropertyDescriptors(store);
    // As if the process had ended before the task was moved.
    Object.assign(store, { moveTask: () => Promise.reject(new Error('killed')) });
    await shop.work(task, 'thinker').catch(() => undefined);
    Object.defineProperties(store, whole);
    expect((await store.getTask(task.id)).state).toBe('planning');
    await resumeTasks(shop.workshop, { unwatched_ms: 0 });
    await shop.workshop.settled();
    expect(await states(task)).toEqual(['planning', 'todo']);
    expect((await childrenOf(task)).length).toBe(2);
  });
});

describe('[A18] a run that changes nothing', () => {
  /** Another attempt at the task has landed main, as far as the store knows. */
  async function noteLanded(task: Task): Promise<void> {
    const { store, watcher } = shop.place;
    const by = { actor: ANN, now: shop.place.clock.now() };
    const head = shop.repo.git('rev-parse', 'main');
    const attempt = { id: 'landed-before', name: 'landed-before', path: '/gone', target: 'main' };
    await store.startAttempt(
      { ...attempt, task_id: task.id, base_commit: head, agent: null, port: null },
      by,
    );
    const merge = { id: 'merge-before', task_id: task.id, attempt_id: attempt.id, target: 'main', watcher };
    await store.queueMerge({ ...merge, strategy: 'merge', head_commit: head }, by);
    await store.takeMerge({ id: merge.id, watcher }, by);
    await store.finishMerge({ id: merge.id, state: 'landed', candidate: head }, by);
    await store.changeAttempt(
      { id: attempt.id, state: 'merged', merge_commit: head, removed_at: new Date(by.now).toISOString() },
      by,
    );
  }

  it('is right where the target has the work already: no try is spent, and the gates look at it', async () => {
    shop.addAgent('w1', 'true');
    const task = await shop.create('Done before', { steps: ['test -f x'] });
    await shop.repo.write('x', 'x\n');
    shop.repo.git('add', 'x');
    shop.repo.git('commit', '-qm', 'x\n\nForge-Attempt: landed-before');
    await noteLanded(task);
    // What the user has made of it since says so by its trailer.
    shop.repo.git('commit', '--amend', '-q', '-m', 'y\n\nForge-Attempt: landed-before');
    const reviewed = await shop.work(task, 'w1');
    expect(reviewed).toMatchObject({ state: 'review', review_passed_at: expect.any(String) as string });
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    expect(run).toMatchObject({
      outcome: 'completed',
      message: expect.stringContaining('main has it already') as string,
    });
    expect((await shop.move(task, 'merging')).state).toBe('done');
  });

  it.each([
    ['a trailer of its task', (task: Task) => `x\n\nForge-Task: ${task.id}`],
    ['a subject', (task: Task) => `Forge-Task: ${task.id}`],
  ])('[S2-F7] is not right by what a commit says of itself: %s', async (_name, toMessage) => {
    shop.addAgent('w1', 'true');
    const task = await shop.create('Victim');
    shop.repo.git('commit', '--allow-empty', '-qm', toMessage(task));
    expect((await shop.work(task, 'w1')).state).toBe('todo');
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    expect(run?.outcome).toBe('no_change');
    expect(run?.message).toContain(`forge task close ${task.id}`);
  });

  it('is no word about work that was reopened since', async () => {
    shop.addAgent('w1', 'true');
    const task = await shop.create('Again');
    await noteLanded(task);
    const by = { actor: ANN, now: shop.place.clock.now() };
    await shop.place.store.closeTask({ id: task.id, reason: 'done' }, by);
    await shop.place.store.reopenTask({ id: task.id, reason: 'not enough' }, { ...by, now: by.now + 1 });
    expect((await shop.work(task, 'w1')).state).toBe('todo');
    expect((await shop.place.store.listRuns({ task_id: task.id }))[0]?.outcome).toBe('no_change');
  });
});

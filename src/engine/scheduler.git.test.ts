import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { Task } from '#contract/task.ts';
import { ANN } from '../../tests/support/temp-engine.ts';
import { goneProcess } from '../../tests/support/dying-store.ts';
import { killAfter, openDying } from '../../tests/support/killed-work.ts';
import { expectSettledOnce } from '../../tests/support/killed-watcher.ts';
import { inSoak } from '../../tests/support/share-of.ts';
import { findIdentity } from '#process/process-identity.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { inTurns } from './in-turns.ts';
import { dispatchTasks } from './dispatch-tasks.ts';
import { Scheduler, type DispatchWishes } from './scheduler.ts';
import { systemWriter } from './work.ts';
import { workTask } from './work-task.ts';

let shop: TempWorkshop;
let told: string[];
beforeEach(async () => {
  shop = await tempWorkshop();
  told = [];
});
afterEach(() => shop[Symbol.asyncDispose]());

const DO_IT = 'echo "$FORGE_TASK_ID" > "$FORGE_TASK_ID.txt"';
const backoff = { first_ms: 50, last_ms: 200 };

function dispatch(more: Partial<DispatchWishes> = {}): Promise<WorkedTask[]> {
  return dispatchTasks(shop.workshop, { ...wishes(), ...more, until_empty: true });
}

function wishes(): DispatchWishes {
  return { merge: false, tell: (line) => void told.push(line), backoff };
}

const states = async (tasks: readonly Task[]): Promise<string[]> =>
  Promise.all(tasks.map(async ({ id }) => (await shop.place.store.getTask(id)).state));

describe('forge dispatch', () => {
  it('takes a graph from its first task to its last, merged', async () => {
    shop.addAgent('w1', DO_IT);
    shop.addAgent('w2', DO_IT);
    const first = await shop.create('First', { steps: ['true'] });
    const second = await shop.create('Second', { steps: [`test -f ${first.id}.txt`] });
    const beside = await shop.create('Beside');
    const by = { actor: ANN, now: Date.now() };
    await shop.place.store.addDependency({ from_id: second.id, to_id: first.id, type: 'blocks' }, by);
    const worked = await dispatch({ merge: true });
    expect(new Map(worked.map(({ task, reached }) => [task.id, reached]))).toEqual(
      new Map([first, second, beside].map(({ id }) => [id, true])),
    );
    expect(await states([first, second, beside])).toEqual(['done', 'done', 'done']);
    expect(told).toEqual([]);
    const again = await dispatch();
    expect(again).toEqual([]);
  });

  it('does not take again what stays as it is: a merge that another process is at', async () => {
    shop.addAgent('w1', DO_IT);
    const { id } = await shop.create('Elsewhere', { steps: ['true'] });
    const living = findIdentity(process.ppid);
    // It lives, has moved the task into its merge, and does nothing more.
    const { workshop, dying } = openDying(shop, 24, living);
    const engine = { ...shop.as(), store: dying.store, work: async () => workshop };
    workTask(workshop, engine, { id, agent: 'w1', merge: true }).catch(() => undefined);
    await dying.died;
    expect((await shop.place.store.getTask(id)).state).toBe('merging');
    const scheduler = new Scheduler(shop.workshop, { ...wishes(), merge: true });
    expect((await scheduler.tick()).started).toBe(1);
    expect(await scheduler.finish()).toMatchObject([{ task: { id, state: 'merging' }, reached: false }]);
    expect((await scheduler.tick()).started).toBe(0);
  });

  it('keeps to its places, and starts no task twice', async () => {
    shop.addAgent('w1', `${DO_IT}; sleep 0.2`);
    shop.set({ scheduler: { max: 2, per_agent: 9 } });
    const tasks = await inTurns([1, 2, 3, 4, 5], 1, (n) => shop.create(`Task ${n}`));
    let most = 0;
    const looks: Promise<void>[] = [];
    const look = async (): Promise<void> => {
      most = Math.max(most, (await shop.place.store.listRuns({ open: true })).length);
    };
    const off = shop.workshop.listen(() => void looks.push(look()));
    const worked = await dispatch();
    off();
    expect(worked.map(({ reached }) => reached)).toEqual([true, true, true, true, true]);
    expect(most).toBeLessThanOrEqual(2);
    for (const { id } of tasks) expect(await shop.place.store.listRuns({ task_id: id })).toHaveLength(1);
  });

  it('tries again what failed, later each time, until a person has to look', async () => {
    shop.addAgent(
      'w1',
      `test -e "$FORGE_WORKTREE/../tried" && ${DO_IT} || { touch "$FORGE_WORKTREE/../tried"; exit 7; }`,
    );
    const task = await shop.create('Second time lucky');
    const [worked] = await dispatch();
    expect(worked).toMatchObject({ reached: true });
    expect(worked?.runs.map(({ outcome }) => outcome)).toEqual(['failed', 'completed']);
    shop.addAgent('w1', 'exit 7');
    const never = await shop.create('Never');
    const [failed] = await dispatch();
    expect(failed).toMatchObject({ reached: false, task: { state: 'blocked' } });
    const runs = await shop.place.store.listRuns({ task_id: never.id });
    expect(runs).toHaveLength(3);
    const waited = runs
      .slice(1)
      .map((run, at) => Date.parse(run.created_at) - Date.parse(runs[at]?.ended_at ?? ''));
    expect(waited.map((ms, at) => ms >= backoff.first_ms * 2 ** at)).toEqual([true, true]);
    expect(await states([task])).toEqual(['review']);
  });

  it('[O4] one deleted task stops nothing: not one that had passed, nor one whose merge waits', async () => {
    shop.addAgent('w1', DO_IT);
    const by = { actor: ANN, now: Date.now() };
    const passed = await shop.create('Passed', { steps: ['true'] });
    await shop.work(passed, 'w1');
    const taken = await shop.create('Deleted while it waits', { steps: ['true'] });
    await shop.work(taken, 'w1');
    await shop.place.store.deleteTask({ id: passed.id }, by);
    const other = await shop.create('Other', { steps: ['true'] });
    const off = shop.workshop.listen((news) => {
      if (news.kind === 'merge' && news.merge.task_id === taken.id)
        void shop.place.store.deleteTask({ id: taken.id }, by).catch(() => undefined);
    });
    const worked = await dispatch({ merge: true });
    off();
    expect(worked.some(({ task, reached }) => task.id === other.id && reached)).toBe(true);
    expect(await states([other])).toEqual(['done']);
    await shop.workshop.settled();
  });

  inSoak(() => {
    it('[O4] what a killed process left of a deleted task is settled, and the others go on', async () => {
      shop.addAgent('w1', DO_IT);
      const { store } = shop.place;
      const left = await shop.create('Left', { steps: ['true'] });
      await shop.work(left, 'w1');
      const [attempt] = await store.listAttempts({ task_id: left.id });
      const of = {
        task_id: left.id,
        attempt_id: attempt?.id ?? '',
        head_commit: attempt?.head_commit ?? '',
        watcher: goneProcess(),
      };
      const writer = systemWriter(shop.place);
      await store.startReview({ id: crypto.randomUUID(), ...of }, writer);
      await store.queueMerge({ id: crypto.randomUUID(), target: 'main', strategy: 'merge', ...of }, writer);
      await store.deleteTask({ id: left.id }, { actor: ANN, now: Date.now() });
      const other = await shop.create('Other', { steps: ['true'] });
      await dispatch({ merge: true });
      expect(await states([other])).toEqual(['done']);
      expect([await store.listOpenReviews(), await store.listOpenMerges()]).toEqual([[], []]);
    });
  });

  it('[O4] work that ends with its task leaves no trouble behind', async () => {
    const { id } = await shop.create('Deleted');
    shop.workshop.follow(id, async () => {
      await shop.place.store.deleteTask({ id }, { actor: ANN, now: Date.now() });
      await shop.place.store.getTask(id);
    });
    await expect(shop.workshop.settled()).resolves.toBeUndefined();
  });

  it('stops when the budget is spent, and says so once', async () => {
    shop.addAgent('w1', DO_IT);
    shop.set({ scheduler: { budget_minutes: 0 } });
    const task = await shop.create('Too dear');
    expect(await dispatch()).toMatchObject([{ task: { id: task.id }, reached: false }]);
    const scheduler = new Scheduler(shop.workshop, wishes());
    told = [];
    await scheduler.tick();
    await scheduler.tick();
    expect(told).toEqual([
      'The budget is spent (0 of 0 minutes in 24 hours): nothing more is started; to raise it: forge settings set scheduler.budget_minutes 1',
    ]);
    expect(await states([task])).toEqual(['todo']);
  });

  it('starts nothing in a paused project', async () => {
    shop.addAgent('w1', DO_IT);
    const task = await shop.create('Paused');
    await shop.place.store.pauseProject(true, { actor: ANN, now: Date.now() });
    expect(await dispatch()).toMatchObject([{ task: { id: task.id }, reached: false }]);
    expect(told).toEqual(['The project is paused: nothing is started; forge project resume']);
    expect(await states([task])).toEqual(['todo']);
  });

  inSoak(() => {
    it('goes on with what another one left when it was killed, and merges what had passed', async () => {
      shop.addAgent('w1', DO_IT);
      const tasks = await inTurns([5, 10, 14, 19, 22], 1, async (lives) => {
        const task = await shop.create(`Point ${lives}`, { steps: ['true'] });
        await killAfter(shop, lives, { id: task.id, agent: 'w1', merge: true });
        return task;
      });
      await dispatch({ merge: true });
      expect(await states(tasks)).toEqual(tasks.map(() => 'done'));
    });
  });

  it('looks again when something has happened, or what it began has ended, and not before', async () => {
    const flag = join(shop.repo.path, '.git', 'go-on');
    shop.addAgent('w1', `until [ -e ${flag} ]; do sleep 0.05; done; ${DO_IT}`);
    await shop.create('Waited for');
    const scheduler = new Scheduler(shop.workshop, wishes());
    expect(await scheduler.tick()).toMatchObject({ started: 1 });
    const { store } = shop.place;
    const isRunning = async () => (await store.listOpenRuns()).some(({ run }) => run.state === 'running');
    while (!(await isRunning())) await scheduler.pause(600_000);
    // The last of what happened until then.
    await scheduler.pause(300);
    let isOver = false;
    const pausing = scheduler.pause(600_000).then(() => (isOver = true));
    await nextTurn();
    expect([isOver, scheduler.working]).toEqual([false, 1]);
    await shop.create('Something else');
    await pausing;
    writeFileSync(flag, '');
    while (scheduler.working > 0) await scheduler.pause(600_000);
    expect(await store.listOpenRuns()).toEqual([]);
  });

  it('ends when it is told to, and what was at work is ready again', async () => {
    shop.addAgent('w1', 'echo begun > x; sleep 600');
    const task = await shop.create('Long');
    const dispatching = dispatchTasks(shop.workshop, { ...wishes(), until_empty: false });
    await expect
      .poll(async () => (await shop.place.store.listRuns({ task_id: task.id }))[0]?.pid ?? null, {
        timeout: 20_000,
      })
      .not.toBeNull();
    await shop.workshop.stop();
    const [worked] = await dispatching;
    expect(worked).toMatchObject({ reached: false, task: { state: 'todo' } });
    expect(worked?.runs.map(({ outcome }) => outcome)).toEqual(['crashed']);
  });
});

inSoak(() => {
  describe('many at work when their watcher is killed', () => {
    it('are ended, and settled once each, by whoever comes next', () => expectSettledOnce(shop, 18), 120_000);
  });
});

import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { NO_AGENTS } from '#domain/claimer.ts';
import { by, claim, expectCode } from './open-behaviour.ts';
import { newRun, startRun, startWork, type OpenWork, type WorkUnderTest } from './open-work-behaviour.ts';

/** Every change of the port that takes a task from whoever works on it. */
const LOSSES: readonly (readonly [string, (sut: WorkUnderTest, task: Task) => Promise<unknown>, string])[] = [
  ['a release', ({ store }, { id }) => store.releaseTask(release(id), WRITER), 'taken'],
  [
    'status open',
    ({ store }, { id }) => store.updateTask({ id, status: 'open', agents: NO_AGENTS }, WRITER),
    'taken',
  ],
  [
    'another owner',
    ({ store }, { id }) => store.updateTask({ id, assignee: 'bob', agents: NO_AGENTS }, WRITER),
    'taken',
  ],
  ['a claim by force', (sut, { id }) => claim(sut, id, 'bob', true), 'taken'],
  [
    'a transition',
    ({ store }, { id }) => store.moveTask({ id, to: 'blocked', reason: null, agents: NO_AGENTS }, WRITER),
    'moved',
  ],
  [
    'a close by force',
    ({ store }, { id }) => store.closeTask({ id, reason: 'x', force: true }, WRITER),
    'moved',
  ],
  [
    'an archive',
    ({ store }, { id }) =>
      store.updateTask({ id, workflow_fields: new Map([['archived_at', 'now']]) }, WRITER),
    'archived',
  ],
  ['a deletion', ({ store }, { id }) => store.deleteTask({ id }, WRITER), 'deleted'],
];

const WRITER = { actor: { kind: 'user', name: 'ann', named: true }, now: Date.UTC(2026, 1, 10) } as const;

export function describeHolds(open: OpenWork): void {
  describe('[C1] a run and its task', () => {
    it.each(LOSSES)('%s takes the task from it', async (_, lose, code) => {
      await using sut = await open();
      const { task, run } = await startHeld(sut);
      expect(await sut.store.readWishes(run.id)).toEqual({ stop: false, messages: false, loss: undefined });
      expect(await sut.store.listLostRuns({ task_id: task.id })).toEqual([]);
      await sut.store.updateTask({ id: task.id, title: 'Edited' }, by(sut));
      expect((await sut.store.readWishes(run.id)).loss).toBeUndefined();
      await lose(sut, task);
      expect((await sut.store.readWishes(run.id)).loss?.code).toBe(code);
      expect(await sut.store.listLostRuns({ task_id: task.id })).toEqual([run]);
      expect(await sut.store.isWorkedOn(task.id)).toBe(true);
      await sut.store.moveRun({ id: run.id, to: 'cancelled' }, by(sut));
      expect(await sut.store.isWorkedOn(task.id)).toBe(false);
      expect(await sut.store.listLostRuns({ task_id: task.id })).toEqual([]);
    });

    it('nobody starts under a claim that is over, or beside somebody', async () => {
      await using sut = await open();
      const { task, attempt, run, fence } = await startHeld(sut);
      const second = await expectCode(
        startRun(sut, attempt, { fence, in_state: 'in_progress' }),
        'state_invalid',
      );
      expect(second).toMatchObject({ hint: `forge runs stop ${run.id}`, details: { run: run.id } });
      await sut.store.moveRun({ id: run.id, to: 'cancelled' }, by(sut));
      await expectCode(
        startRun(sut, attempt, { fence: fence + 1, in_state: 'in_progress' }),
        'fence_conflict',
      );
      await expectCode(startRun(sut, attempt, { fence, in_state: 'review' }), 'fence_conflict');
      await startRun(sut, attempt, { fence, in_state: 'in_progress' });
      expect(await sut.store.listRuns({ task_id: task.id })).toHaveLength(2);
    });

    it('of ten that start in one folder at once one does', async () => {
      await using sut = await open();
      await using other = await sut.connectAgain();
      const { attempt, run } = await startHeld(sut);
      await sut.store.moveRun({ id: run.id, to: 'cancelled' }, by(sut));
      const started = await Promise.allSettled(
        Array.from({ length: 10 }, (_, at) =>
          (at % 2 === 0 ? sut.store : other).createRun(newRun(attempt, { agent: `w${at}` }), by(sut)),
        ),
      );
      expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });
  });

  describe('[A1] a task is done only if its work is in the target', () => {
    it('whatever path leads there', async () => {
      await using sut = await open();
      const { task, attempt, run } = await startHeld(sut);
      const { store } = sut;
      const { id } = task;
      await store.moveRun({ id: run.id, to: 'cancelled' }, by(sut, 'ann', 'user'));
      for (const to of ['review', 'merging'])
        await store.moveTask({ id, to, reason: null, agents: NO_AGENTS }, by(sut, 'ann', 'user'));
      await store.updateTask(
        { id, workflow_fields: new Map([['review_passed_at', 'now']]) },
        by(sut, 'ann', 'user'),
      );
      await expectCode(
        store.moveTask({ id, to: 'done', reason: null, agents: NO_AGENTS }, by(sut, 'ann', 'user')),
        'state_invalid',
      );
      await expectCode(store.closeTask({ id, reason: 'done' }, by(sut, 'ann', 'user')), 'state_invalid');
      await expectCode(
        store.updateTask({ id, status: 'closed', agents: NO_AGENTS }, by(sut, 'ann', 'user')),
        'state_invalid',
      );
      await expectCode(
        store.changeAttempt({ id: attempt.id, state: 'merged' }, by(sut, 'ann', 'user')),
        'state_invalid',
      );
      expect(await store.getTask(id)).toMatchObject({ state: 'merging', status: 'in_progress' });
      await store.changeAttempt(
        { id: attempt.id, state: 'merged', merge_commit: 'd'.repeat(40) },
        by(sut, 'ann', 'user'),
      );
      await store.moveTask({ id, to: 'done', reason: null, agents: NO_AGENTS }, by(sut, 'ann', 'user'));
      expect(await store.getTask(id)).toMatchObject({ state: 'done', status: 'closed' });
    });

    it('and cancelled whenever somebody wants it', async () => {
      await using sut = await open();
      const { task } = await startHeld(sut);
      await sut.store.moveTask(
        { id: task.id, to: 'cancelled', reason: null, agents: NO_AGENTS },
        by(sut, 'ann', 'user'),
      );
      expect(await sut.store.getTask(task.id)).toMatchObject({ state: 'cancelled', status: 'closed' });
    });
  });
}

async function startHeld(sut: WorkUnderTest) {
  const { task, attempt } = await startWork(sut);
  const claimed = await claim(sut, task.id, 'worker-1');
  if (claimed.outcome !== 'claimed') throw new Error('the claim was lost');
  const { fence } = claimed;
  const run = await startRun(sut, attempt, { fence, in_state: 'in_progress' });
  return { task: claimed.task, attempt, run, fence };
}

function release(id: string) {
  return { id, owner: 'ann', force: true, reason: null };
}

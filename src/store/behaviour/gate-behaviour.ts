import { describe, expect, it } from 'vitest';
import type { Attempt, StepResult, Verdict } from '#contract/attempt.ts';
import { NO_AGENTS } from '#domain/claimer.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { by, create, expectCode } from './open-behaviour.ts';
import {
  newAttempt,
  newMerge,
  startRun,
  startWork,
  toldSince,
  toMark,
  WATCHER,
  type OpenWork,
  type WorkUnderTest,
} from './open-work-behaviour.ts';

const PASSED: StepResult = {
  command: 'npm test',
  exit_code: 0,
  duration_ms: 12,
  output: 'ok\n',
  outcome: 'passed',
};

const REJECTED: Verdict = {
  verdict: 'reject',
  summary: 'Not yet',
  findings: [{ severity: 'major', file: 'a.ts', line: 3, message: 'It does not say why' }],
};

export function describeGates(open: OpenWork): void {
  describe('reviews', () => {
    it('keep the result of every step and the verdict, and tell of each', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const run = await startRun(sut, attempt, { role: 'reviewer' });
      const seen = await sut.store.newestEvent();
      const started = await startReview(sut, attempt);
      expect(started).toMatchObject({
        attempt_number: 1,
        status: 'running',
        step_results: [],
        verdict: null,
      });
      const { id } = started;
      const stepped = await sut.store.addStepResult({ id, result: PASSED }, by(sut));
      const end = { id, status: 'failed', verdict: REJECTED, run_id: run.id } as const;
      const finished = await sut.store.finishReview(end, by(sut));
      expect(finished).toMatchObject({
        status: 'failed',
        step_results: [PASSED],
        verdict: REJECTED,
        run_id: run.id,
      });
      expect(Date.parse(finished.finished_at ?? '')).toBe(sut.clock.now());
      expect((await toldSince(sut, seen)).map(({ type, data }) => [type, data])).toEqual([
        ['review.started', { review: started }],
        ['review.step_finished', { review: stepped, step: PASSED }],
        ['review.finished', { review: finished }],
      ]);
      await sut.reopen();
      expect(await sut.store.listReviews({ task_id: task.id })).toEqual([finished]);
    });

    it('of an attempt run one at a time, and those of its task count on', async () => {
      await using sut = await open();
      await using other = await sut.connectAgain();
      const { task, attempt } = await startWork(sut);
      const starts = await Promise.allSettled(
        [sut.store, other, sut.store, other].map((store) =>
          startReview({ ...sut, store: store as never }, attempt),
        ),
      );
      const [first] = starts.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(await sut.store.listOpenReviews()).toEqual([{ review: first, watcher: WATCHER }]);
      const refused = await expectCode(startReview(sut, attempt), 'state_invalid');
      expect(refused.details).toMatchObject({ id: task.id, review: first?.id });
      await sut.store.finishReview({ id: first?.id ?? '', status: 'void' }, by(sut));
      expect(await sut.store.listOpenReviews()).toEqual([]);
      expect(await startReview(sut, attempt)).toMatchObject({ attempt_number: 2 });
      const beside = await sut.store.startAttempt(newAttempt(task.id), by(sut));
      expect(await startReview(sut, beside)).toMatchObject({ attempt_number: 3, status: 'running' });
    });

    it('that are over change no more', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const { id } = await startReview(sut, attempt);
      await sut.store.finishReview({ id, status: 'passed' }, by(sut));
      await expectCode(sut.store.finishReview({ id, status: 'failed' }, by(sut)), 'state_invalid');
      await expectCode(sut.store.addStepResult({ id, result: PASSED }, by(sut)), 'state_invalid');
    });

    it('of a task that was deleted end as lost where they are of a claim, and else as they are', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const { id } = await startReview(sut, attempt);
      await sut.store.deleteTask({ id: task.id }, by(sut));
      const lost = await expectCode(
        sut.store.finishReview({ id, fence: 1, status: 'passed' }, by(sut)),
        'fence_conflict',
      );
      expect(lost.details).toMatchObject({ id: task.id, review: id });
      expect(await sut.store.finishReview({ id, status: 'void' }, by(sut))).toMatchObject({ status: 'void' });
    });

    it('[H1] may wait for a word, which nobody watches, and end with it', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const { id } = await startReview(sut, attempt);
      expect(await sut.store.askVerdict({ id }, by(sut))).toMatchObject({ status: 'waiting' });
      expect(await sut.store.listOpenReviews()).toEqual([]);
      await expectCode(sut.store.addStepResult({ id, result: PASSED }, by(sut)), 'state_invalid');
      await expectCode(sut.store.askVerdict({ id }, by(sut)), 'state_invalid');
      await sut.reopen();
      const end = { id, status: 'failed', verdict: REJECTED, verdict_by: 'user:ann' } as const;
      const said = await sut.store.finishReview(end, by(sut));
      expect(said).toMatchObject({ status: 'failed', verdict: REJECTED, verdict_by: 'user:ann' });
      // Whoever is asked anew need not answer what was asked before.
      const second = await startReview(sut, attempt);
      await sut.store.askVerdict({ id: second.id }, by(sut));
      const third = await startReview(sut, attempt);
      const all = await sut.store.listReviews({ task_id: task.id });
      expect(all.map(({ status }) => status)).toEqual(['failed', 'void', 'running']);
      expect(all.at(-1)?.id).toBe(third.id);
    });

    it('[M9] that were cleared count no more, and one that runs cannot pass', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const beside = await sut.store.startAttempt(newAttempt(task.id), by(sut));
      const ended = await startReview(sut, attempt);
      await sut.store.finishReview({ id: ended.id, status: 'passed' }, by(sut));
      const running = await startReview(sut, beside);
      const waiting = await startReview(sut, attempt);
      await sut.store.askVerdict({ id: waiting.id }, by(sut));
      const seen = await sut.store.newestEvent();
      const now = sut.clock.now();
      await sut.store.clearReviews({ task_id: task.id }, by(sut));
      await sut.store.clearReviews({ task_id: task.id }, by(sut));
      expect((await toldSince(sut, seen)).map(({ type }) => type)).toEqual(Array(3).fill('review.cleared'));
      const end = { id: running.id, status: 'passed' } as const;
      expect(await sut.store.finishReview(end, by(sut))).toMatchObject({ status: 'void' });
      const all = await sut.store.listReviews({ task_id: task.id });
      expect(all.map(({ status }) => status)).toEqual(['void', 'void', 'void']);
      for (const { cleared_at } of all) expect(Date.parse(cleared_at ?? '')).toBeGreaterThan(now);
      const key = { tree: 'e'.repeat(40), command: 'npm test' };
      await sut.store.keepStep({ ...key, result: PASSED, review_id: ended.id, now });
      expect(await sut.store.findStep(key)).toBeDefined();
      expect(await sut.store.findStep({ ...key, after: all[0]?.cleared_at ?? '' })).toBeUndefined();
    });

    it('[M9] what a review finds out after it was cleared counts as little as what it had before', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const { id } = await startReview(sut, attempt);
      await sut.store.clearReviews({ task_id: task.id }, by(sut));
      const { now } = by(sut);
      const key = { tree: 'e'.repeat(40), command: 'npm test' };
      await sut.store.keepStep({ ...key, result: PASSED, review_id: id, now });
      const { cleared_at } = await sut.store.finishReview({ id, status: 'passed' }, by(sut));
      expect(await sut.store.findStep({ ...key, after: cleared_at ?? '' })).toBeUndefined();
      // Of the very moment of the clearing nobody can say which came first.
      expect(await sut.store.findStep({ ...key, after: toIso(now) })).toBeUndefined();
      expect(await sut.store.findStep({ ...key, after: toIso(now - 1) })).toBeDefined();
    });

    it('[M9] one that was cleared while it ran asks nobody for a word', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const { id } = await startReview(sut, attempt);
      await sut.store.clearReviews({ task_id: task.id }, by(sut));
      expect(await sut.store.askVerdict({ id }, by(sut))).toMatchObject({ status: 'void' });
    });

    it('what a command said of a tree is known until a week is over', async () => {
      await using sut = await open();
      const now = sut.clock.now();
      const key = { tree: 'e'.repeat(40), command: 'npm test' };
      const review_id = 'review-1';
      const known = { ...PASSED, reused_from: { review_id, at: toIso(now) } };
      expect(await sut.store.findStep(key)).toBeUndefined();
      await sut.store.keepStep({ ...key, result: { ...PASSED, outcome: 'failed' }, review_id: null, now });
      await sut.store.keepStep({ ...key, result: PASSED, review_id, now });
      expect(await sut.store.findStep(key)).toEqual(known);
      expect(await sut.store.findStep({ ...key, command: 'npm run lint' })).toBeUndefined();
      const other = { tree: 'f'.repeat(40), command: 'npm test', result: PASSED, review_id };
      await sut.store.keepStep({ ...other, now: now + LIMITS.step_cache_ms - 1 });
      expect(await sut.store.findStep(key)).toEqual(known);
      await sut.store.keepStep({ ...other, now: now + LIMITS.step_cache_ms });
      expect(await sut.store.findStep(key)).toBeUndefined();
    });
  });

  it.each([
    ['checks', 'review_config', { ci_steps: ['npm test'] }],
    ['reviewer', 'role:reviewer', { user: 'ann' }],
  ])('[H1] its %s still count in the write of an agent that takes them away', async (_, name, value) => {
    await using sut = await open();
    const { id } = await create(sut, 'Gated');
    await sut.store.updateTask({ id, workflow_fields: new Map([[name, value]]) }, by(sut, 'ann', 'user'));
    const workflow_fields = new Map([[name, null]]);
    const closing = sut.store.updateTask(
      { id, status: 'closed', agents: NO_AGENTS, workflow_fields },
      by(sut),
    );
    await expectCode(closing, 'permission_denied');
    expect(await sut.store.getTask(id)).toMatchObject({ status: 'open' });
  });

  describe('the queue of a target', () => {
    it('is served one at a time, in the order of arrival, with an event each', async () => {
      await using sut = await open();
      const [first, second] = [(await startWork(sut)).attempt, (await startWork(sut)).attempt];
      const seen = await sut.store.newestEvent();
      const one = await sut.store.queueMerge(newMerge(first), by(sut));
      const two = await sut.store.queueMerge(newMerge(second), by(sut));
      expect(await take(sut, two.id)).toBeUndefined();
      const started = await take(sut, one.id);
      expect(started).toEqual({ ...one, state: 'started' });
      expect(await take(sut, one.id)).toBeUndefined();
      expect(await take(sut, two.id)).toBeUndefined();
      expect(await sut.store.listOpenMerges()).toEqual([
        { merge: started, watcher: toMark(7) },
        { merge: two, watcher: WATCHER },
      ]);
      const conflicts = [{ path: 'a.txt', kind: 'content' }];
      const end = { id: one.id, state: 'conflict', conflicts, message: 'a.txt' } as const;
      const finished = await sut.store.finishMerge(end, by(sut));
      expect(finished).toMatchObject({ state: 'conflict', conflicts, message: 'a.txt', candidate: null });
      const next = await take(sut, two.id);
      const landed = await sut.store.finishMerge({ id: two.id, state: 'landed', candidate: 'c1' }, by(sut));
      expect((await toldSince(sut, seen)).map(({ type, data }) => [type, data['merge']])).toEqual([
        ['merge.queued', one],
        ['merge.queued', two],
        ['merge.started', started],
        ['merge.finished', finished],
        ['merge.started', next],
        ['merge.finished', landed],
      ]);
      expect(await sut.store.listOpenMerges()).toEqual([]);
      await sut.reopen();
      expect(await sut.store.listMerges({ task_id: first.task_id })).toEqual([finished]);
    });

    it('has nothing to do with that of another target', async () => {
      await using sut = await open();
      const [first, second] = [(await startWork(sut)).attempt, (await startWork(sut)).attempt];
      const one = await sut.store.queueMerge(newMerge(first), by(sut));
      const two = await sut.store.queueMerge(newMerge(second, { target: 'release' }), by(sut));
      expect(await take(sut, two.id)).toMatchObject({ state: 'started' });
      expect(await take(sut, one.id)).toMatchObject({ state: 'started' });
    });

    it('takes an attempt once, and again when that is over', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const { id } = await sut.store.queueMerge(newMerge(attempt), by(sut));
      const again = () => sut.store.queueMerge(newMerge(attempt, { target: 'release' }), by(sut));
      expect((await expectCode(again(), 'state_invalid')).details).toMatchObject({
        merge: id,
        state: 'queued',
      });
      await take(sut, id);
      await expectCode(again(), 'state_invalid');
      await sut.store.finishMerge({ id, state: 'ci_failed' }, by(sut));
      expect(await again()).toMatchObject({ state: 'queued' });
    });

    it('lets those that were not begun only be dropped or refused, and the next one comes', async () => {
      await using sut = await open();
      const [first, second] = [(await startWork(sut)).attempt, (await startWork(sut)).attempt];
      const one = await sut.store.queueMerge(newMerge(first), by(sut));
      const two = await sut.store.queueMerge(newMerge(second), by(sut));
      for (const state of ['landed', 'conflict', 'ci_failed'] as const)
        await expectCode(sut.store.finishMerge({ id: one.id, state }, by(sut)), 'state_invalid');
      await sut.store.finishMerge({ id: one.id, state: 'dropped' }, by(sut));
      await expectCode(sut.store.finishMerge({ id: one.id, state: 'refused' }, by(sut)), 'state_invalid');
      await expectCode(take(sut, one.id), 'state_invalid');
      expect(await take(sut, two.id)).toMatchObject({ state: 'started' });
    });

    it('of eight connections that take the same merge exactly one has it', async () => {
      await using sut = await open();
      await using connections = new AsyncDisposableStack();
      const { attempt } = await startWork(sut);
      const { id } = await sut.store.queueMerge(newMerge(attempt), by(sut));
      const stores = await Promise.all(Array.from({ length: 8 }, async () => sut.connectAgain()));
      for (const store of stores) connections.use(store);
      const takes = await Promise.all(
        stores.map(async (store, at) => store.takeMerge({ id, watcher: toMark(at) }, by(sut))),
      );
      expect(takes.filter((merge) => merge !== undefined)).toHaveLength(1);
      const winner = takes.findIndex((merge) => merge !== undefined);
      expect(await sut.store.listOpenMerges()).toMatchObject([{ watcher: toMark(winner) }]);
    });
  });
}

function startReview(sut: WorkUnderTest, attempt: Attempt) {
  const { id: attempt_id, task_id } = attempt;
  const commit = { head_commit: 'b'.repeat(40), watcher: WATCHER };
  return sut.store.startReview({ id: crypto.randomUUID(), task_id, attempt_id, ...commit }, by(sut));
}

function take(sut: WorkUnderTest, id: string) {
  return sut.store.takeMerge({ id, watcher: toMark(7) }, by(sut));
}

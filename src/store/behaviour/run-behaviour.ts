import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '#domain/count-usage.ts';
import { by, expectCode } from './open-behaviour.ts';
import {
  leadRun,
  startRun,
  startWork,
  toldSince,
  toMark,
  WATCHER,
  type OpenWork,
} from './open-work-behaviour.ts';

const USAGE = {
  ...NO_USAGE,
  input_tokens: 10,
  output_tokens: 2,
  cost_usd: 0.25,
  cost_source: 'reported',
  session_cost_usd: 0.5,
} as const;

export function describeRuns(open: OpenWork): void {
  describe('runs', () => {
    it('tell every move with where they came from', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const seen = await sut.store.newestEvent();
      const run = await startRun(sut, attempt);
      expect(run).toMatchObject({
        task_id: task.id,
        attempt_id: attempt.id,
        state: 'scheduled',
        outcome: null,
        pid: null,
        usage: NO_USAGE,
        started_at: null,
        ended_at: null,
      });
      const { id } = run;
      const running = await sut.store.moveRun({ id, from: 'scheduled', to: 'running' }, by(sut));
      const verifying = await sut.store.moveRun({ id, to: 'verifying', usage: USAGE }, by(sut));
      const end = { id, to: 'completed', outcome: 'no_change', message: 'nothing to do' } as const;
      const completed = await sut.store.moveRun(end, by(sut));
      expect(running.started_at).not.toBeNull();
      expect(completed).toMatchObject({
        outcome: 'no_change',
        message: 'nothing to do',
        usage: USAGE,
        started_at: running.started_at,
      });
      expect(Date.parse(completed.ended_at ?? '')).toBe(sut.clock.now());
      const told = await toldSince(sut, seen);
      for (const one of told) expect(one).toMatchObject({ task_id: task.id, triggered_by: 'agent:alice' });
      expect(told.map(({ type, data }) => ({ type, data }))).toEqual(
        [
          { run, from: null },
          { run: running, from: 'scheduled' },
          { run: verifying, from: 'running' },
          { run: completed, from: 'verifying' },
        ].map((data) => ({ type: 'run.state_changed', data })),
      );
      await sut.reopen();
      expect(await sut.store.getRun(id)).toEqual(completed);
    });

    it('[S254] refuse a move that there is no edge for, and one from a state that is past', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const run = await startRun(sut, attempt);
      const { id } = run;
      const seen = await sut.store.newestEvent();
      const wrong = await expectCode(sut.store.moveRun({ id, to: 'completed' }, by(sut)), 'state_invalid');
      expect(wrong.details).toMatchObject({ id, from: 'scheduled', to: 'completed' });
      const stale = sut.store.moveRun({ id, from: 'running', to: 'cancelled' }, by(sut));
      expect((await expectCode(stale, 'state_invalid')).message).toContain('is scheduled, not running');
      expect(await sut.store.newestEvent()).toBe(seen);
      expect(await sut.store.getRun(id)).toEqual(run);
    });

    it('of several moves from the same state one is made', async () => {
      await using sut = await open();
      await using other = await sut.connectAgain();
      const { attempt } = await startWork(sut);
      const { id } = await startRun(sut, attempt, { state: 'running' });
      const moves = await Promise.allSettled(
        Array.from({ length: 8 }, async (_, at) =>
          (at % 2 === 0 ? sut.store : other).moveRun({ id, from: 'running', to: 'failed' }, by(sut)),
        ),
      );
      expect(moves.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('begin anew by a resume, with nothing left of their end', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const run = await startRun(sut, attempt, { state: 'running', session_id: 's-1' });
      await sut.store.askStop({ id: run.id }, by(sut));
      const retry_after = '2026-02-10T12:00:00.000Z';
      const end = { to: 'failed', outcome: 'usage_limit', message: 'wait', retry_after } as const;
      expect(await sut.store.moveRun({ id: run.id, ...end }, by(sut))).toMatchObject({ retry_after });
      const draft = await sut.store.moveRun({ id: run.id, to: 'draft' }, by(sut));
      expect(draft).toMatchObject({ outcome: null, message: null, retry_after: null, started_at: null });
      expect(draft).toMatchObject({ ended_at: null, session_id: 's-1' });
      expect(await sut.store.readWishes(run.id)).toEqual({ stop: false, messages: false });
    });

    it('do not begin anew beside another one in their folder', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const first = await startRun(sut, attempt, { state: 'running' });
      await sut.store.moveRun({ id: first.id, to: 'failed' }, by(sut));
      const second = await startRun(sut, attempt);
      const again = () => sut.store.moveRun({ id: first.id, to: 'draft' }, by(sut));
      expect((await expectCode(again(), 'state_invalid')).details).toMatchObject({ run: second.id });
      await sut.store.moveRun({ id: second.id, to: 'cancelled' }, by(sut));
      expect(await again()).toMatchObject({ state: 'draft' });
    });

    it('keep when they were blocked when they are cancelled later', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const run = await startRun(sut, attempt);
      const blocked = await leadRun(sut, run, ['running', 'blocked']);
      const cancelled = await sut.store.moveRun({ id: run.id, to: 'cancelled' }, by(sut));
      expect(cancelled.ended_at).toBe(blocked.ended_at);
    });

    it('what is noted is shown without an event, and the pid only while it runs', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const { id } = await startRun(sut, attempt);
      const seen = await sut.store.newestEvent();
      await sut.store.noteRun({ id, process: toMark(99), session_id: 's-2' });
      await sut.store.noteRun({ id, beat_at: 1_234, usage: USAGE });
      await sut.store.noteRun({ id });
      expect(await sut.store.newestEvent()).toBe(seen);
      expect(await sut.store.getRun(id)).toMatchObject({ pid: 99, session_id: 's-2', usage: USAGE });
      expect(await sut.store.listOpenRuns()).toEqual([
        { run: await sut.store.getRun(id), watcher: WATCHER, process: toMark(99), beat_at: 1_234 },
      ]);
      await sut.store.noteRun({ id, watcher: toMark(5) });
      expect(await sut.store.listOpenRuns()).toMatchObject([{ watcher: toMark(5) }]);
      await sut.store.moveRun({ id, to: 'cancelled', outcome: 'stopped' }, by(sut));
      expect(await sut.store.getRun(id)).toMatchObject({ pid: null });
      expect(await sut.store.listOpenRuns()).toEqual([]);
      await expectCode(sut.store.noteRun({ id: 'fff', beat_at: 1 }), 'not_found');
    });

    it('are listed the oldest first, and the newest ones under a limit', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const { attempt: elsewhere } = await startWork(sut);
      const first = await startRun(sut, attempt);
      const ended = await sut.store.moveRun({ id: first.id, to: 'cancelled' }, by(sut));
      const second = await startRun(sut, attempt, { agent: 'worker-2' });
      const third = await startRun(sut, elsewhere);
      expect(await sut.store.listRuns({})).toEqual([ended, second, third]);
      expect(await sut.store.listRuns({ limit: 2 })).toEqual([second, third]);
      expect(await sut.store.listRuns({ task_id: task.id })).toEqual([ended, second]);
      expect(await sut.store.listRuns({ attempt_id: elsewhere.id.slice(0, 13) })).toEqual([third]);
      expect(await sut.store.listRuns({ agent: 'worker-2' })).toEqual([second]);
      expect(await sut.store.listRuns({ open: true, attempt_id: attempt.id })).toEqual([second]);
    });

    it('belong to an attempt that is there', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      await expectCode(startRun(sut, { ...attempt, id: 'ffff' }), 'not_found');
    });
  });

  describe('what people want of a run', () => {
    it('a stop is for whoever watches it to find', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const { id } = await startRun(sut, attempt, { state: 'running' });
      expect(await sut.store.readWishes(id)).toEqual({ stop: false, messages: false });
      await sut.store.askStop({ id }, by(sut));
      await sut.store.askStop({ id }, by(sut));
      expect(await sut.store.readWishes(id)).toEqual({ stop: true, messages: false });
      await sut.store.moveRun({ id, to: 'cancelled' }, by(sut));
      await expectCode(sut.store.askStop({ id }, by(sut)), 'state_invalid');
    });

    it('messages wait in their order until somebody has had them', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const { id } = await startRun(sut, attempt, { state: 'running' });
      await sut.store.addMessage({ attempt_id: attempt.id, body: 'first' }, by(sut, 'bob'));
      await sut.store.addMessage({ attempt_id: attempt.id, body: 'second' }, by(sut, 'carol'));
      expect(await sut.store.readWishes(id)).toEqual({ stop: false, messages: true });
      const waiting = await sut.store.listMessages({ attempt_id: attempt.id });
      expect(waiting).toMatchObject([
        { body: 'first', author: 'bob' },
        { body: 'second', author: 'carol' },
      ]);
      const { seq } = waiting[0] ?? { seq: 0 };
      await sut.store.noteDelivered({ seq, now: sut.clock.now() });
      await sut.store.noteDelivered({ seq, now: sut.clock.now() });
      const now = sut.clock.now();
      const takes = await Promise.all([
        sut.store.takeMessages({ attempt_id: attempt.id, now }),
        sut.store.takeMessages({ attempt_id: attempt.id, now }),
      ]);
      expect(takes.flat().map(({ body }) => body)).toEqual(['second']);
      expect(await sut.store.takeMessages({ attempt_id: attempt.id, now })).toEqual([]);
    });
  });

  describe('approvals', () => {
    it('are asked and given, each with its event', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const run = await startRun(sut, attempt, { state: 'running' });
      const seen = await sut.store.newestEvent();
      const wanted = { id: crypto.randomUUID(), run_id: run.id, tool: 'bash', input: { argv: ['ls', '-l'] } };
      const asked = await sut.store.askApproval(wanted, by(sut));
      expect(await sut.store.listApprovals({ pending: true })).toEqual([asked]);
      const answer = { id: asked.id.slice(0, 8), state: 'allowed' } as const;
      const given = await sut.store.answerApproval(answer, by(sut, 'bob', 'user'));
      expect(given).toMatchObject({ ...wanted, state: 'allowed', answered_by: 'user:bob', task_id: task.id });
      expect((await toldSince(sut, seen)).map(({ type, data }) => [type, data])).toEqual([
        ['run.approval_requested', { approval: asked }],
        ['run.approval_given', { approval: given }],
      ]);
      expect(await sut.store.listApprovals({ pending: true })).toEqual([]);
      expect(await sut.store.listApprovals({ run_id: run.id, pending: false })).toEqual([given]);
    });

    it('say what exactly is asked for and why it was refused, and what was allowed for the rest of the task', async () => {
      await using sut = await open();
      const { task, attempt } = await startWork(sut);
      const run = await startRun(sut, attempt, { state: 'running' });
      const ask = async (command: string): Promise<string> => {
        const wanted = {
          id: crypto.randomUUID(),
          run_id: run.id,
          tool: 'Bash',
          input: { command },
          command,
          paths: ['a'],
        };
        return (await sut.store.askApproval(wanted, by(sut))).id;
      };
      const person = by(sut, 'bob', 'user');
      const denied = await sut.store.answerApproval(
        { id: await ask('rm x'), state: 'denied', reason: 'No' },
        person,
      );
      expect(denied).toMatchObject({ command: 'rm x', paths: ['a'], reason: 'No', always: null });
      const always = { kind: 'prefix', text: 'npm test' } as const;
      const first = await sut.store.answerApproval(
        { id: await ask('npm test'), state: 'allowed', always },
        person,
      );
      const line = { kind: 'line', text: 'ls' } as const;
      const second = await sut.store.answerApproval(
        { id: await ask('ls'), state: 'allowed', always: line },
        person,
      );
      const list = () => sut.store.listApprovals({ task_id: task.id, always: true });
      expect(await list()).toEqual([first, second]);
      expect(await sut.store.listApprovals({ task_id: 'fg-none', always: true })).toEqual([]);
      const seen = await sut.store.newestEvent();
      const [gone] = await sut.store.forgetApprovals({ task_id: task.id, id: first.id }, person);
      expect(gone).toMatchObject({ id: first.id, forgotten_at: expect.any(String) });
      expect((await toldSince(sut, seen)).map(({ type }) => type)).toEqual(['run.approval_forgotten']);
      expect(await list()).toEqual([second]);
      expect(await sut.store.forgetApprovals({ task_id: task.id }, person)).toHaveLength(1);
      expect(await sut.store.forgetApprovals({ task_id: task.id }, person)).toEqual([]);
    });

    it('are answered once, however many answer', async () => {
      await using sut = await open();
      await using other = await sut.connectAgain();
      const { attempt } = await startWork(sut);
      const run = await startRun(sut, attempt, { state: 'running' });
      const wanted = { id: crypto.randomUUID(), run_id: run.id, tool: 'edit', input: null };
      const { id } = await sut.store.askApproval(wanted, by(sut));
      const answers = await Promise.allSettled(
        Array.from({ length: 8 }, async (_, at) =>
          (at % 2 === 0 ? sut.store : other).answerApproval(
            { id, state: at % 3 === 0 ? 'denied' : 'allowed' },
            by(sut, `person-${at}`, 'user'),
          ),
        ),
      );
      expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const error = await expectCode(
        sut.store.answerApproval({ id, state: 'allowed' }, by(sut)),
        'state_invalid',
      );
      expect(error.message).toContain('answered already by user:person-');
    });

    it('expire with their run, and are not asked for after it', async () => {
      await using sut = await open();
      const { attempt } = await startWork(sut);
      const run = await startRun(sut, attempt, { state: 'running' });
      const wanted = { run_id: run.id, tool: 'bash', input: { argv: ['rm'] } };
      const asked = await sut.store.askApproval({ id: crypto.randomUUID(), ...wanted }, by(sut));
      const seen = await sut.store.newestEvent();
      await sut.store.moveRun({ id: run.id, to: 'failed', outcome: 'crashed' }, by(sut));
      expect(await sut.store.listApprovals({})).toMatchObject([{ id: asked.id, state: 'expired' }]);
      const told = (await toldSince(sut, seen)).map(({ type }) => type);
      expect(told).toEqual(['run.state_changed', 'run.approval_given']);
      const late = sut.store.askApproval({ id: crypto.randomUUID(), ...wanted }, by(sut));
      await expectCode(late, 'state_invalid');
    });
  });
}

import { describe, expect, it } from 'vitest';
import { RUN_STATES } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import { keptAttempt, keptRun } from '../../tests/support/kept-work.ts';
import {
  beginsAnew,
  decideRunOpen,
  decideRunStart,
  decideRunStep,
  decideStop,
  noteOfRun,
  showRun,
} from './decide-run.ts';
import { isEnded } from './run-states.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const MARK = { host: 'here', boot_id: 'b-1', pid_namespace: 'pid:[1]', pid: 7, start_time: 1 };
const WISH = {
  id: 'r-1',
  role: 'coder',
  agent: 'bot',
  executor: 'shell',
  fence: 3,
  in_state: 'in_progress',
  state: 'scheduled',
  session_id: null,
  watcher: MARK,
} as const;

describe('decideRunStart, the whole table', () => {
  const task = { id: 'fg-a1b2', state: 'in_progress', assignee: 'bot', archived: false, fence: 3 };
  const other = { id: 'r-0', agent: 'old' };
  it.each([
    ['a task that is its own', task, undefined, { outcome: 'save' }],
    ['a second run', task, other, { outcome: 'at_work', run: other }],
    ['a deleted task', undefined, undefined, { outcome: 'task_lost', loss: { code: 'deleted' } }],
    ['an archived task', { ...task, archived: true }, undefined, { loss: { code: 'archived' } }],
    ['a task with another claim', { ...task, fence: 4 }, undefined, { fence: 3, loss: { code: 'taken' } }],
    ['a task in another state', { ...task, state: 'todo' }, undefined, { loss: { code: 'moved' } }],
    ['a lost task with a second run', { ...task, fence: 4 }, other, { outcome: 'task_lost' }],
  ])('%s', (_, now, second, expected) => {
    const facts = { attempt: keptAttempt(), task: now, other: second };
    expect(decideRunStart(facts, WISH, NOW)).toMatchObject(expected);
  });

  it.each([
    ['scheduled', null, null],
    ['running', toIso(NOW), null],
    ['failed', null, toIso(NOW)],
  ] as const)(
    'begins as %s with nothing but what was wished, and tells of it',
    (state, started_at, ended_at) => {
      const run = keptRun({ state, watcher: MARK, created_at: toIso(NOW), started_at, ended_at });
      const { watcher: _watcher, process: _process, beat_at: _beat, stop_asked_at: _stop, ...shown } = run;
      expect(
        decideRunStart({ attempt: keptAttempt(), task, other: undefined }, { ...WISH, state }, NOW),
      ).toEqual({
        outcome: 'save',
        run,
        events: [
          {
            type: 'run.state_changed',
            task_id: 'fg-a1b2',
            data: { run: { ...shown, pid: null }, from: null },
          },
        ],
      });
    },
  );
});

describe('decideRunStep', () => {
  it.each(RUN_STATES.flatMap((state) => RUN_STATES.map((asked) => [state, asked] as const)))(
    'of a run that is %s, thought to be %s',
    (state, asked) => {
      const to = state === 'running' ? 'verifying' : 'draft';
      const { outcome } = decideRunStep(keptRun({ state }), { from: asked, to }, { now: NOW });
      expect(outcome === 'run_moved').toBe(state !== asked);
    },
  );

  it('notes when it began and when it ended, once each', () => {
    const scheduled = keptRun({ state: 'scheduled', started_at: null });
    expect(decideRunStep(scheduled, { to: 'running' }, { now: NOW })).toMatchObject({
      run: { started_at: toIso(NOW), ended_at: null },
      ended: false,
    });
    const running = keptRun();
    expect(decideRunStep(running, { to: 'failed', message: 'red' }, { now: NOW })).toMatchObject({
      run: { started_at: running.started_at, ended_at: toIso(NOW), message: 'red' },
      ended: true,
    });
    const again = keptRun({ state: 'verifying' });
    expect(decideRunStep(again, { to: 'running' }, { now: NOW })).toMatchObject({
      run: { started_at: again.started_at },
    });
  });

  it('tells of the run as it is then, and where it came from', () => {
    const run = showRun(keptRun({ state: 'verifying' }));
    expect(decideRunStep(keptRun(), { to: 'verifying' }, { now: NOW })).toMatchObject({
      events: [{ type: 'run.state_changed', task_id: 'fg-a1b2', data: { run, from: 'running' } }],
    });
  });

  it('forgets the end of a run that is begun anew, and a wish to stop it', () => {
    const over = { outcome: 'failed', message: 'red', retry_after: toIso(1) } as const;
    const ended = keptRun({ state: 'failed', ...over, ended_at: toIso(1), stop_asked_at: toIso(1) });
    expect(decideRunStep(ended, { to: 'draft' }, { now: NOW })).toMatchObject({
      run: {
        outcome: null,
        message: null,
        retry_after: null,
        started_at: null,
        ended_at: null,
        stop_asked_at: null,
      },
      ended: false,
    });
  });

  it('keeps what a step does not speak of', () => {
    const run = keptRun({ message: 'was', stop_asked_at: toIso(1) });
    expect(decideRunStep(run, { to: 'verifying' }, { now: NOW })).toMatchObject({
      run: { ...run, state: 'verifying' },
    });
    expect(decideRunStep(run, { to: 'verifying', message: null }, { now: NOW })).toMatchObject({
      run: { message: null },
    });
  });
});

describe('a run that begins anew', () => {
  it.each(RUN_STATES.flatMap((state) => RUN_STATES.map((to) => [state, to] as const)))(
    'from %s to %s',
    (state, to) => {
      expect(beginsAnew({ state }, { to })).toBe(isEnded(state) && !isEnded(to));
    },
  );

  it.each([
    ['alone', undefined, 'save'],
    ['beside another', { id: 'r-2', agent: 'old' }, 'at_work'],
  ] as const)('%s', (_, other, outcome) => {
    const before = keptRun({ state: 'failed', ended_at: toIso(1) });
    const facts = { now: NOW, beside: { attempt: keptAttempt(), other } };
    expect(decideRunStep(before, { to: 'draft' }, facts).outcome).toBe(outcome);
  });
});

describe('decideRunOpen', () => {
  it.each(RUN_STATES)('%s', (state) => {
    const run = keptRun({ state, ended_at: isEnded(state) ? toIso(1) : null });
    for (const wants of ['stop', 'approval'] as const)
      expect(decideRunOpen(run, wants)).toEqual(
        isEnded(state) ? { outcome: 'run_ended', id: 'r-1', state, wants } : undefined,
      );
  });
});

describe('decideStop', () => {
  const asked = { stop_asked_at: toIso(1) };
  it.each([
    [
      'a run at work',
      {},
      {
        outcome: 'save',
        run: keptRun({ stop_asked_at: toIso(NOW) }),
        events: [
          { type: 'run.stop_asked', task_id: keptRun({}).task_id, data: { run: showRun(keptRun({})) } },
        ],
      },
    ],
    ['one that was told already', asked, { outcome: 'unchanged' }],
    ['one that is over', { state: 'failed', ...asked }, { outcome: 'run_ended', wants: 'stop' }],
  ] as const)('%s', (_, before, expected) => {
    expect(decideStop(keptRun(before), NOW)).toMatchObject(expected);
  });
});

describe('noteOfRun', () => {
  const before = keptRun({ process: MARK, watcher: MARK, session_id: 's-1', beat_at: 1 });
  const other = { ...MARK, pid: 8 };
  it.each([
    ['nothing', {}, false],
    ['its program', { process: other }, true],
    ['who watches it', { watcher: other }, true],
    ['its session', { session_id: 's-2' }, true],
    ['a beat', { beat_at: 2 }, false],
    ['what it used', { usage: { ...before.usage, input_tokens: 3 } }, false],
    ['a beat and its session', { beat_at: 2, session_id: 's-2' }, true],
  ])('%s', (_, known, is_kept) => {
    expect(noteOfRun(before, known)).toEqual({ run: { ...before, ...known }, is_kept });
  });
});

describe('showRun', () => {
  it.each([
    ['the number of its program', { process: MARK }, 7],
    ['none before it has one', {}, null],
    ['none after its end', { process: MARK, state: 'failed', ended_at: toIso(1) }, null],
  ] as const)('%s', (_, more, pid) => {
    const shown = showRun(keptRun(more));
    expect(shown.pid).toBe(pid);
    for (const hidden of ['process', 'watcher', 'beat_at', 'stop_asked_at'])
      expect(shown).not.toHaveProperty(hidden);
  });
});

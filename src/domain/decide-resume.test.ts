import { describe, expect, it } from 'vitest';
import type { Attempt, Merge, Review, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { decideResume, type LostTask } from './decide-resume.ts';
import { DEFAULT_RESOLVED } from './workflow.ts';

const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;

const attempt = (id: string, state: Attempt['state'] = 'active'): Attempt => ({ id, state }) as Attempt;

const run = (attempt_id: string, outcome: Run['outcome'], ended = 3): Run =>
  ({
    id: `run of ${attempt_id}`,
    attempt_id,
    role: 'coder',
    state: outcome === null ? 'running' : outcome === 'completed' ? 'completed' : 'failed',
    outcome,
    created_at: at(2),
    ended_at: outcome === null ? null : at(ended),
  }) as Run;

function decide(more: Partial<LostTask>, annotation?: { code: string; at: string }): object {
  const error_annotation = annotation && { ...annotation, message: '' };
  // Only what is looked at: the rest of a task has no say in it.
  const task = { status: 'in_progress', state: 'in_progress', error_annotation } as Task;
  return decideResume(DEFAULT_RESOLVED, {
    task,
    entered_at: at(1),
    was_starting: true,
    leads_on: false,
    holder: { kind: 'none' },
    attempts: [attempt('a'), attempt('b')],
    runs: [],
    reviews: [],
    merges: [],
    ...more,
  });
}

describe('a task with several attempts that nobody goes on with', () => {
  it('is compared when all runs have ended, or none was begun', () => {
    expect(decide({ runs: [run('a', 'completed'), run('b', 'crashed')] })).toEqual({ step: 'compare' });
    expect(decide({ runs: [run('a', 'completed'), run('b', null)] })).toEqual({ step: 'none' });
    expect(decide({})).toEqual({ step: 'compare' });
    expect(decide({ was_starting: false })).toEqual({ step: 'none' });
    expect(decide({ was_starting: false, runs: [run('a', 'completed')] })).toEqual({ step: 'compare' });
  });

  it('waits for whoever is to choose, unless something was done since', () => {
    const runs = [run('a', 'completed'), run('b', 'failed')];
    for (const code of ['pick_attempt', 'no_green_attempt', 'stopped']) {
      expect(decide({ runs }, { code, at: at(4) })).toEqual({ step: 'none' });
      expect(decide({ runs }, { code, at: at(2) })).toEqual({ step: 'compare' });
    }
    expect(decide({ runs }, { code: 'picked', at: at(4) })).toEqual({ step: 'compare' });
  });

  it('goes on with the run of the one that was picked, whatever became of the others', () => {
    const runs = [run('a', 'completed'), run('b', 'failed')];
    const attempts = [attempt('a'), attempt('b', 'archived')];
    expect(decide({ runs, attempts })).toEqual({ step: 'conclude', run: runs[0] });
  });
});

describe('a task with one attempt that nobody goes on with', () => {
  const attempts = [attempt('a')];
  const stopped = run('a', 'stopped');

  it('waits for whoever stopped its run, and goes on where nobody said so', () => {
    expect(decide({ attempts, runs: [stopped] }, { code: 'stopped', at: at(4) })).toEqual({ step: 'none' });
    expect(decide({ attempts, runs: [stopped] })).toEqual({ step: 'conclude', run: stopped });
  });

  it('is given back where nobody was started, unless it was somebody else’s to start', () => {
    expect(decide({ attempts })).toEqual({ step: 'give_back' });
    expect(decide({ attempts, was_starting: false })).toEqual({ step: 'none' });
  });
});

describe('which runs, merges and reviews count', () => {
  const one = [attempt('a')];
  const other = (more: Partial<Run>): Run => ({ ...run('a', 'completed'), ...more });

  it.each<[string, Partial<LostTask>, object]>([
    ['a run of another role does not', { runs: [other({ role: 'planner' })] }, { step: 'give_back' }],
    [
      'a run of before the task came here does not',
      { runs: [other({ created_at: at(0) })] },
      { step: 'give_back' },
    ],
    ['one of the very moment does', { runs: [other({ created_at: at(1) })] }, { step: 'conclude' }],
    [
      'the last one does, where the attempt has none',
      { runs: [other({ id: 'r1', attempt_id: 'x' }), other({ id: 'r2', attempt_id: 'y' })] },
      { step: 'conclude', run: { id: 'r2' } },
    ],
  ])('%s', (_, more, step) => {
    expect(decide({ attempts: one, ...more })).toMatchObject(step);
  });

  it('a person who stopped a run, or a limit that did, is waited for', () => {
    for (const outcome of ['stopped', 'cap_reached'] as const) {
      const runs = [run('a', outcome)];
      expect(decide({ attempts: one, runs }, { code: 'x', at: at(4) })).toEqual({ step: 'none' });
    }
    const failed = [run('a', 'failed')];
    expect(decide({ attempts: one, runs: failed }, { code: 'x', at: at(4) })).toMatchObject({
      step: 'conclude',
    });
  });

  it('a word that was said when the last run ended is about it', () => {
    const runs = [run('a', 'completed'), run('b', 'failed')];
    expect(decide({ runs }, { code: 'stopped', at: at(3) })).toEqual({ step: 'none' });
  });

  const task = { status: 'in_progress', state: 'merging' } as Task;
  const merge = (more: Partial<Merge>): Merge =>
    ({ attempt_id: 'a', state: 'landed', queued_at: at(2), ...more }) as Merge; // only what is looked at
  it.each<[string, Partial<LostTask>, object]>([
    ['a merge of the attempt', { merges: [merge({})] }, { step: 'land' }],
    [
      'a merge of an attempt that was merged',
      { attempts: [attempt('a', 'merged')], merges: [merge({})] },
      { step: 'land' },
    ],
    [
      'none of an attempt that was given up',
      { attempts: [attempt('a', 'archived')], merges: [merge({})] },
      { step: 'none' },
    ],
    ['none of another attempt', { merges: [merge({ attempt_id: 'b' })] }, { step: 'enter' }],
    ['none of before the task came here', { merges: [merge({ queued_at: at(0) })] }, { step: 'enter' }],
    ['one of the very moment', { merges: [merge({ queued_at: at(1) })] }, { step: 'land' }],
    ['one that waits', { merges: [merge({ state: 'queued' })] }, { step: 'none' }],
    ['one that was dropped', { merges: [merge({ state: 'dropped' })] }, { step: 'enter' }],
    ['one that did not fit', { merges: [merge({ state: 'conflict' })] }, { step: 'set_aside' }],
  ])('%s', (_, more, step) => {
    expect(decide({ task, attempts: one, ...more })).toMatchObject(step);
  });

  const reviewing = { status: 'in_progress', state: 'review' } as Task;
  const suspension = { agent: 'c' } as LostTask['suspension']; // likewise
  const review = (more: Partial<Review>): Review =>
    ({ attempt_id: 'a', status: 'failed', started_at: at(2), step_results: [], ...more }) as Review; // likewise
  it.each<[string, Partial<LostTask>, object]>([
    ['a review of the attempt', { reviews: [review({})] }, { step: 'reject' }],
    ['none of another attempt', { reviews: [review({ attempt_id: 'b' })] }, { step: 'enter' }],
    ['none of before the task came here', { reviews: [review({ started_at: at(0) })] }, { step: 'enter' }],
    ['one of the very moment', { reviews: [review({ started_at: at(1) })] }, { step: 'reject' }],
    ['one that is running', { reviews: [review({ status: 'running' })] }, { step: 'none' }],
    [
      'one whose auditor is left alone',
      { reviews: [review({ status: 'void' })], suspension },
      { step: 'wait' },
    ],
    ['none that is void', { reviews: [review({ status: 'void' })] }, { step: 'enter' }],
    ['one that failed, whoever is left alone', { reviews: [review({})], suspension }, { step: 'reject' }],
  ])('%s', (_, more, step) => {
    expect(decide({ task: reviewing, attempts: one, ...more })).toMatchObject(step);
  });

  it('a repair that began when the merge had ended is one', () => {
    const failed = { attempt_id: 'a', state: 'conflict', queued_at: at(2), finished_at: at(3) } as Merge; // likewise
    const aside = { status: 'in_progress', state: 'merge_failed' } as Task; // likewise
    const runs = [{ ...run('a', 'failed'), created_at: at(3) }];
    expect(decide({ task: aside, attempts: one, merges: [failed], runs })).toEqual({ step: 'none' });
  });
});

describe('a review that nobody goes on with', () => {
  const only = { id: 'a', state: 'active', head_commit: 'c1' } as Attempt; // only what is looked at
  const review = (more: Partial<Review>): Review =>
    ({
      id: 'r',
      attempt_id: 'a',
      status: 'waiting',
      head_commit: 'c1',
      started_at: at(2),
      finished_at: at(3),
      step_results: [],
      verdict: null,
      cleared_at: null,
      ...more,
    }) as Review; // likewise
  const PERSON = { kind: 'person', name: 'ann' } as const;

  it.each([
    ['[H1] waits for a person', {}, PERSON, undefined, 'none'],
    ['[H1] waits for an external agent', {}, { kind: 'external', name: 'ext1' }, undefined, 'none'],
    [
      'is audited where an agent of ours has the role now',
      {},
      { kind: 'managed', name: 'c' },
      undefined,
      'enter',
    ],
    ['passes where the role is free now', {}, { kind: 'none' }, undefined, 'pass'],
    ['is done again on another commit', { head_commit: 'c0' }, PERSON, undefined, 'enter'],
    [
      '[M9] is done again where it was cleared',
      { status: 'void', cleared_at: at(4) },
      PERSON,
      undefined,
      'enter',
    ],
    ['passed, and nobody wrote it down', { status: 'passed' }, PERSON, undefined, 'pass'],
    ['[M9] passed, and another pass is written down', { status: 'passed' }, PERSON, at(1), 'pass'],
    ['passed, and it is written down', { status: 'passed' }, PERSON, at(3), 'none'],
    ['failed', { status: 'failed' }, PERSON, undefined, 'reject'],
  ] as const)('%s', (_, more, holder, review_passed_at, step) => {
    const task = { status: 'in_progress', state: 'review', review_passed_at } as Task; // likewise
    expect(decide({ task, attempts: [only], reviews: [review(more)], holder })).toMatchObject({ step });
  });
});

describe('a task that is over', () => {
  const over = (state: string, attempts: readonly Attempt['state'][]): object =>
    decide({
      task: { status: 'closed', state } as Task,
      attempts: attempts.map((one, n) => ({ ...attempt(`${n}`, one), removed_at: null, cleanup_at: null })),
    });

  it('[B7] keeps work that nobody here gave up; what was merged or cancelled is cleaned up', () => {
    expect(over('done', ['active'])).toEqual({ step: 'look_landed' });
    expect(over('done', ['merged', 'active'])).toEqual({ step: 'look_landed' });
    expect(over('done', ['merged'])).toEqual({ step: 'enter' });
    expect(over('cancelled', ['active'])).toEqual({ step: 'enter' });
  });

  it.each<[string, Partial<Attempt>, string]>([
    ['merged, whose folder nobody was told to remove', { state: 'merged', cleanup_at: null }, 'enter'],
    ['merged, whose folder goes at its time', { state: 'merged', cleanup_at: at(9) }, 'none'],
    ['still active, whatever was noted of its folder', { state: 'active', cleanup_at: at(9) }, 'enter'],
    ['without a folder', { state: 'active', cleanup_at: at(9), removed_at: at(8) }, 'none'],
  ])('is ended once: an attempt that is %s', (_, more, step) => {
    const attempts = [{ ...attempt('a'), removed_at: null, ...more }];
    const task = { status: 'closed', state: 'cancelled' } as Task; // likewise
    expect(decide({ task, attempts })).toEqual({ step });
  });
});

describe('work that did not fit into its target, and that no process goes on with', () => {
  const task = { status: 'in_progress', state: 'merge_failed' } as Task;
  const merge = (state: Merge['state'], attempt_id = 'a'): Merge =>
    ({ attempt_id, state, queued_at: at(2), finished_at: at(3) }) as Merge;
  const before = { ...run('a', 'completed'), created_at: at(2) };
  const since = { ...run('a', 'failed'), created_at: at(4) };

  it.each<[string, Partial<LostTask>, string]>([
    ['is repaired after a conflict', { merges: [merge('conflict')] }, 'repair'],
    ['is repaired after checks that failed', { merges: [merge('ci_failed')], runs: [before] }, 'repair'],
    ['waits where the last merge was refused', { merges: [merge('conflict'), merge('refused')] }, 'none'],
    ['waits where an agent had a go at it since', { merges: [merge('conflict')], runs: [since] }, 'none'],
    ['waits where no agent was to go on', { merges: [merge('conflict')], was_starting: false }, 'none'],
    ['waits where the merge was of another attempt', { merges: [merge('conflict', 'b')] }, 'none'],
    ['waits where nothing was merged', {}, 'none'],
  ])('%s', (_, more, step) => {
    expect(decide({ task, attempts: [attempt('a')], ...more })).toMatchObject({ step });
  });
});

describe('[O3] a task that is archived', () => {
  it('stays where it is, but for what has landed', () => {
    const task = { status: 'in_progress', state: 'review', archived_at: at(5) } as Task;
    expect(decide({ task, attempts: [attempt('a')] })).toEqual({ step: 'none' });
    const merge = { attempt_id: 'a', state: 'landed', queued_at: at(2) } as Merge;
    const merging = { ...task, state: 'merging' };
    expect(decide({ task: merging, attempts: [attempt('a')], merges: [merge] })).toEqual({
      step: 'land',
      merge,
    });
  });
});

import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { keptReview } from '../../tests/support/kept-work.ts';
import {
  clearReview,
  decideReviewEnd,
  decideReviewOpen,
  decideReviewStart,
  decideStepResult,
  decideVerdictAsk,
  refuseGone,
} from './decide-review-end.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const STATUSES = ['running', 'waiting', 'passed', 'failed', 'void'] as const;
const CLEARED = '2026-02-10T08:30:00.000Z';

describe('decideReviewEnd, the whole table', () => {
  const all = STATUSES.flatMap((status) =>
    (['passed', 'failed', 'void'] as const).flatMap((end) =>
      [null, CLEARED].map((cleared_at) => ({ status, end, cleared_at })),
    ),
  );
  it.each(all)('$status, ends as $end, cleared $cleared_at', ({ status, end, cleared_at }) => {
    const before = keptReview({ status, cleared_at });
    const saved = {
      status: end === 'passed' && cleared_at !== null ? 'void' : end,
      cleared_at: cleared_at === null ? null : toIso(NOW),
      finished_at: toIso(NOW),
    };
    const isOpen = status === 'running' || status === 'waiting';
    expect(decideReviewEnd(before, { status: end }, NOW)).toEqual(
      isOpen
        ? {
            outcome: 'save',
            review: { ...before, ...saved },
            events: [told('review.finished', { ...before, ...saved })],
          }
        : { outcome: 'review_over', review: before },
    );
  });

  it('keeps the verdict that was given before, unless a new one comes', () => {
    const before = keptReview({ status: 'waiting', verdict_by: 'agent:critic', run_id: 'r-1' });
    expect(decideReviewEnd(before, { status: 'passed' }, NOW)).toMatchObject({
      review: { verdict_by: 'agent:critic', run_id: 'r-1' },
    });
    expect(
      decideReviewEnd(before, { status: 'passed', verdict_by: 'user:ann', run_id: 'r-2' }, NOW),
    ).toMatchObject({
      review: { verdict_by: 'user:ann', run_id: 'r-2' },
    });
  });
});

describe('a verdict by force', () => {
  it.each([
    [true, { forced: true }],
    [false, {}],
    [undefined, {}],
  ])('%s', (forced, more) => {
    const decision = decideReviewEnd(keptReview(), { status: 'passed', forced }, NOW);
    if (decision.outcome !== 'save') throw new Error(decision.outcome);
    expect(decision.events).toEqual([told('review.finished', decision.review, more)]);
  });
});

describe('reviews that go on and are cleared', () => {
  it.each(STATUSES)('%s', (status) => {
    const review = keptReview({ status });
    expect(decideReviewOpen(review, ['running'])?.outcome).toBe(
      status === 'running' ? undefined : 'review_over',
    );
    // The process of one that is running goes on.
    const isRunning = status === 'running';
    const cleared = {
      ...review,
      status: isRunning ? 'running' : 'void',
      cleared_at: toIso(NOW),
      finished_at: isRunning ? null : toIso(NOW),
    };
    const isOver = status === 'failed' || status === 'void';
    const events = [told('review.cleared', cleared)];
    expect(clearReview(review, NOW)).toEqual(isOver ? undefined : { review: cleared, events });
  });

  it('is cleared once, and not before it ended, also where a clock was set back', () => {
    expect(clearReview(keptReview({ cleared_at: CLEARED }), NOW)).toBeUndefined();
    const later = '2026-02-10T09:30:00.000Z';
    const passed = keptReview({ status: 'passed', finished_at: later });
    expect(clearReview(passed, NOW)).toMatchObject({
      review: { cleared_at: later, finished_at: later },
    });
  });
});

describe('refuseGone', () => {
  it.each([
    ['nothing said, and there', undefined, true, undefined],
    ['nothing said, and deleted', undefined, false, undefined],
    ['a claim, and there', 3, true, undefined],
    ['a claim, and deleted', 3, false, { outcome: 'review_gone', fence: 3 }],
  ])('%s', (_, fence, is_here, expected) => {
    const refusal = refuseGone(keptReview(), { fence, is_here });
    expect({ refusal }).toMatchObject({ refusal: expected });
  });
});

describe('decideReviewStart', () => {
  const facts = { task_id: 'fg-a1b2', attempt_id: 'a-1', running: undefined, waiting: [], newest: 0 };
  const wish = { id: 'v-1', head_commit: 'c0ffee' };

  it('begins with nothing but what was wished, and tells of it', () => {
    const review = keptReview({ started_at: toIso(NOW) });
    expect(decideReviewStart(facts, wish, NOW)).toEqual({
      outcome: 'save',
      review,
      voided: [],
      events: [told('review.started', review)],
    });
  });

  it('counts on, and void is first what waited for a word', () => {
    const waiting = [
      keptReview({ id: 'v-7', status: 'waiting' }),
      keptReview({ id: 'v-8', status: 'waiting' }),
    ];
    const voided = waiting.map((one) => ({ ...one, status: 'void', finished_at: toIso(NOW) }));
    const review = keptReview({ attempt_number: 9, started_at: toIso(NOW) });
    expect(decideReviewStart({ ...facts, waiting, newest: 8 }, wish, NOW)).toEqual({
      outcome: 'save',
      review,
      voided,
      events: [...voided.map((one) => told('review.finished', one)), told('review.started', review)],
    });
  });

  it('one at a time', () => {
    expect(decideReviewStart({ ...facts, running: 'v-0' }, wish, NOW)).toEqual({
      outcome: 'review_running',
      task_id: 'fg-a1b2',
      review: 'v-0',
    });
  });
});

describe('a check of a review, and its word', () => {
  const step = { command: 'make', exit_code: 0, duration_ms: 1, output: '', outcome: 'passed' } as const;
  it.each(STATUSES)('%s', (status) => {
    const before = keptReview({ status });
    const stepped = { ...before, step_results: [step] };
    const asked = { ...before, status: 'waiting' };
    const over = { outcome: 'review_over', review: before };
    expect(decideStepResult(before, step)).toEqual(
      status === 'running'
        ? {
            outcome: 'save',
            review: stepped,
            events: [{ type: 'review.step_finished', task_id: 'fg-a1b2', data: { review: stepped, step } }],
          }
        : over,
    );
    expect(decideVerdictAsk(before, NOW)).toEqual(
      status === 'running'
        ? { outcome: 'save', review: asked, events: [told('review.verdict_asked', asked)] }
        : over,
    );
  });

  it('a check comes behind the others', () => {
    const first = { ...step, command: 'lint' };
    expect(decideStepResult(keptReview({ step_results: [first] }), step)).toMatchObject({
      review: { step_results: [first, step] },
    });
  });

  it('work that was taken away meanwhile waits for no word', () => {
    expect(decideVerdictAsk(keptReview({ cleared_at: CLEARED }), NOW)).toMatchObject({
      review: { status: 'void', finished_at: toIso(NOW), cleared_at: toIso(NOW) },
      events: [{ type: 'review.finished' }],
    });
  });
});

function told(type: string, review: object, more: object = {}) {
  return { type, task_id: 'fg-a1b2', data: { review, ...more } };
}

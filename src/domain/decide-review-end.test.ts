import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { keptReview } from '../../tests/support/kept-work.ts';
import { clearReview, decideReviewEnd, decideReviewOpen, decideReviewStart } from './decide-review-end.ts';

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
        ? { outcome: 'save', review: { ...before, ...saved } }
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

describe('reviews that begin, go on and are cleared', () => {
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
    expect(clearReview(review, NOW)).toEqual(isOver ? undefined : cleared);
  });

  it('is cleared once, and not before it ended, also where a clock was set back', () => {
    expect(clearReview(keptReview({ cleared_at: CLEARED }), NOW)).toBeUndefined();
    const later = '2026-02-10T09:30:00.000Z';
    const passed = keptReview({ status: 'passed', finished_at: later });
    expect(clearReview(passed, NOW)).toMatchObject({ cleared_at: later, finished_at: later });
  });

  it('one at a time', () => {
    expect(decideReviewStart('fg-a1b2', undefined)).toBeUndefined();
    expect(decideReviewStart('fg-a1b2', 'v-0')).toEqual({
      outcome: 'review_running',
      task_id: 'fg-a1b2',
      review: 'v-0',
    });
  });
});

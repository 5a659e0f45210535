import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { deciding, NOW, seenTask } from '../../tests/support/seen-task.ts';
import { decideComment } from './decide-comment.ts';
import { lastStamp } from './task-record.ts';

const COMMENT = { body: 'Seen', reply_to: null, new_id: 'c-1' };

describe('decideComment', () => {
  it('adds it in the name of the one who asks', () => {
    const decision = decideComment(seenTask(), COMMENT, deciding('agent'));
    if (decision.outcome !== 'save') throw new Error(decision.outcome);
    const comment = { id: 'c-1', author: 'me', body: 'Seen', reply_to: null, created_at: toIso(NOW) };
    expect(decision.comment).toEqual(comment);
    expect(decision.after.comments.get('c-1')).toEqual(comment);
    expect(decision.happening).toEqual({ type: 'task.commented', changed: ['comments'], more: { comment } });
  });

  it('comes after what is there, also where the clock stands behind', () => {
    const task = seenTask();
    const decision = decideComment(task, COMMENT, { ...deciding(), now: 1 });
    if (decision.outcome !== 'save') throw new Error(decision.outcome);
    expect(decision.comment.created_at).toBe(toIso(lastStamp(task.record) + 1));
  });

  it('refuses one more than a task may have', () => {
    const task = seenTask();
    const many = Array.from({ length: LIMITS.comments_per_task }, (_, at) => {
      const comment = { id: `c-${at}x`, author: 'me', body: 'x', reply_to: null, created_at: toIso(NOW) };
      return [comment.id, comment] as const;
    });
    const full = { ...task, record: { ...task.record, comments: new Map(many) } };
    expect(() => decideComment(full, COMMENT, deciding())).toThrow(
      `the limit is ${LIMITS.comments_per_task}`,
    );
  });

  it('answers only what is there, and only by the claim that was seen', () => {
    const task = seenTask();
    expect(decideComment(task, { ...COMMENT, reply_to: 'c-0' }, deciding())).toEqual({
      outcome: 'no_comment',
      comment: 'c-0',
    });
    expect(decideComment(task, { ...COMMENT, reply_to: 'c-0', fence: 2 }, deciding()).outcome).toBe(
      'other_claim',
    );
    const first = decideComment(task, { ...COMMENT, new_id: 'c-0' }, deciding());
    if (first.outcome !== 'save') throw new Error(first.outcome);
    const answered = { ...task, record: first.after };
    expect(decideComment(answered, { ...COMMENT, reply_to: 'c-0' }, deciding()).outcome).toBe('save');
  });
});

import type { Comment } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import { checkComments } from './bound-elements.ts';
import { decideSeen, type Seen } from './decide-seen.ts';
import { commentRecord } from './task-changes.ts';
import type { Deciding, SeenTask, TaskPlan } from './task-plan.ts';
import { lastStamp } from './task-record.ts';
import type { TaskRefusal } from './task-refusal.ts';

export interface NewComment extends Pick<Seen, 'fence'> {
  readonly body: string;
  readonly reply_to: string | null;
  /** Drawn at random. */
  readonly new_id: string;
}

/** Throws invalid_input where the task has as many comments as it may. */
export function decideComment(
  task: SeenTask,
  { body, reply_to, new_id, fence }: NewComment,
  { actor, now }: Deciding,
): (TaskPlan & { readonly comment: Comment }) | TaskRefusal {
  const { record } = task;
  const other = decideSeen(task, { fence });
  if (other !== undefined) return other;
  if (reply_to !== null && !record.comments.has(reply_to))
    return { outcome: 'no_comment', comment: reply_to };
  checkComments(record, body);
  // The line's largest stamp is its updated_at, so a comment comes after what is there like any other write.
  const at = Math.max(now, lastStamp(record) + 1);
  const comment = { id: new_id, author: actor.name, body, reply_to, created_at: toIso(at) };
  return {
    outcome: 'save',
    comment,
    after: commentRecord(record, comment),
    happening: { type: 'task.commented', changed: ['comments'], more: { comment } },
  };
}

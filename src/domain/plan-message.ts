import type { Attempt } from '#contract/attempt.ts';
import { toIso } from '#kernel/clock.ts';
import type { SentMessage, WorkEvent } from './work-event.ts';

/** What a person says to the agent of an attempt, at work now or started later. */
export function planMessage(
  { id, task_id }: Pick<Attempt, 'id' | 'task_id'>,
  body: string,
  { author, now }: { readonly author: string; readonly now: number },
): { readonly message: SentMessage & { readonly body: string }; readonly events: readonly WorkEvent[] } {
  const sent = { attempt_id: id, author, created_at: toIso(now) };
  return {
    message: { ...sent, body },
    events: [{ type: 'attempt.message_sent', task_id, data: { message: sent } }],
  };
}

import { expect, it } from 'vitest';
import { planMessage } from './plan-message.ts';

it('tells that something was said, and by whom, but not what', () => {
  const sent = { attempt_id: 'a-1', author: 'ann', created_at: '1970-01-01T00:00:00.005Z' };
  expect(planMessage({ id: 'a-1', task_id: 'fg-1' }, 'Be quick', { author: 'ann', now: 5 })).toEqual({
    message: { ...sent, body: 'Be quick' },
    events: [{ type: 'attempt.message_sent', task_id: 'fg-1', data: { message: sent } }],
  });
});

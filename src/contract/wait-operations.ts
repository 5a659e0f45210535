import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { Comment, Status, TaskRef } from './task.ts';

const HappenedEvent = z.object({
  seq: z.int(),
  type: z.string(),
  at: z.string(),
  triggered_by: z.string(),
  summary: z.string(),
});

export const waitTask = declare({
  name: 'task.wait',
  summary: 'Wait until a task is closed, or has a status, a state or an event',
  about:
    'Answers at once when it is so already. When the time is over it fails with wait_timeout, which only means: ask again. A task that is closed while another state is waited for ends the wait with state_invalid. Events are those after the call, or after the number given with --after, so that a loop of waits misses none: where events behind that number were forgotten, it fails with state_invalid.',
  input: z.object({
    id: TaskRef.describe('Task id'),
    status: Status.optional().describe('Until it has this status (default: closed)'),
    state: z.string().min(1).max(LIMITS.state_name_length).optional().describe('Until it is in this state'),
    event: z
      .string()
      .min(1)
      .max(LIMITS.state_name_length)
      .optional()
      .describe('Until this happens to it, such as task.commented; any for whatever comes'),
    after: z.int().min(0).optional().describe('With --event: only events with a higher number'),
    timeout_seconds: z
      .int()
      .min(0)
      .max(LIMITS.wait_seconds)
      .optional()
      .describe(`At most so long (default ${LIMITS.wait_default_seconds})`),
  }),
  output: z.object({
    id: z.string(),
    status: Status,
    state: z.string(),
    assignee: z.string().nullable(),
    close_reason: z.string().nullable(),
    version: z.int(),
    /** What ended the wait, where an event was waited for. */
    event: HappenedEvent.nullable(),
    /** The number to go on from with `after`. */
    seq: z.int(),
  }),
  errors: ['not_found', 'ambiguous_id', 'usage', 'wait_timeout', 'state_invalid', 'interrupted'],
  access: 'read',
  waits: true,
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}/wait' },
  cli: {
    path: ['task', 'wait'],
    args: ['id'],
    flags: { timeout_seconds: { flag: 'timeout', placeholder: 'seconds' } },
    examples: [
      'forge task wait fg-a3f8',
      'forge task wait fg-a3f8 --state in_progress --timeout 600',
      'forge task wait fg-a3f8 --event task.commented --after 0 --json',
    ],
  },
  mcp: {
    tool: 'forge_wait',
    description: 'Wait until a task is closed (or has the status, state or event). wait_timeout: call again',
  },
});

export const taskResult = declare({
  name: 'task.result',
  summary: 'How a task came out: state, reason, last comments, moves',
  input: z.object({
    id: TaskRef.describe('Task id'),
    limit: z
      .int()
      .min(1)
      .max(LIMITS.result_entries)
      .optional()
      .describe(`At most so many comments and moves, the newest (default ${LIMITS.result_default_entries})`),
  }),
  output: z.object({
    id: z.string(),
    title: z.string(),
    status: Status,
    state: z.string(),
    /** Closed, as nothing before is final. */
    finished: z.boolean(),
    assignee: z.string().nullable(),
    close_reason: z.string().nullable(),
    closed_at: z.string().nullable(),
    version: z.int(),
    comments: z.array(Comment),
    transitions: z.array(
      z.object({
        from_state: z.string().nullable(),
        to_state: z.string(),
        at: z.string(),
        triggered_by: z.string(),
        reason: z.string().nullable(),
      }),
    ),
  }),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}/result' },
  cli: {
    path: ['task', 'result'],
    args: ['id'],
    examples: ['forge task result fg-a3f8', 'forge task result fg-a3f8 --limit 1 --json'],
  },
  mcp: { tool: 'forge_result', aliases: ['forge_get_result'], fields: ['id'] },
});

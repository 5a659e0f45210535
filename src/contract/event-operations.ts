import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { TaskRef } from './task.ts';

export const listEvents = declare({
  name: 'event.list',
  summary: 'The feed of everything that happened in the project, oldest first',
  about:
    'Without --after the newest events. Each carries the row as it was then. Where events behind --after were forgotten, the first that is given is project.changed with reset: read the tasks again. A running server streams the same feed at /api/v1/events.',
  input: z.object({
    after: z.int().min(0).optional().describe('Only events behind the one with this number'),
    task: TaskRef.optional().describe('Only events of this task'),
    type: z
      .array(z.string().min(1).max(LIMITS.label_length))
      .max(50)
      .optional()
      .describe('Only this kind; repeats'),
    limit: z.int().min(1).max(LIMITS.event_list).optional().describe('At most this many (default: 20)'),
  }),
  output: z.array(
    z.object({
      seq: z.int(),
      type: z.string(),
      task_id: z.string().nullable(),
      triggered_by: z.string(),
      created_at: z.string(),
      data: z.unknown(),
    }),
  ),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  cli: {
    path: ['events'],
    flags: { task: { placeholder: 'id' } },
    examples: [
      'forge events',
      'forge events --task fg-a3f8 --type task.claimed',
      'forge events --after 120 --json',
    ],
  },
});

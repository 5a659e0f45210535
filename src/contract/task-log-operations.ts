import * as z from 'zod';
import { LIMITS } from '#kernel/limits.ts';
import { declare } from './declare.ts';
import { Comment, CommentBody, Fence, TaskRef } from './task.ts';

/** What was said about a task, and what happened to it. */

export const commentTask = declare({
  name: 'task.comment',
  summary: 'Add a comment to a task, or answer one',
  input: z.object({
    id: TaskRef.describe('Task id'),
    body: CommentBody.describe('Markdown'),
    reply_to: z.string().min(1).optional().describe('Id of the comment this answers'),
    fence: Fence,
  }),
  output: Comment.extend({ task_id: z.string() }),
  errors: ['not_found', 'ambiguous_id', 'fence_conflict'],
  access: 'task',
  needs: 'project',
  http: { method: 'post', path: '/tasks/{id}/comments', ok: 201 },
  cli: {
    path: ['task', 'comment'],
    args: ['id', 'body'],
    flags: { body: { file_flag: 'body-file' }, reply_to: { placeholder: 'comment' } },
    examples: [
      'forge task comment fg-a3f8 "The parser also drops tabs"',
      'forge task comment fg-a3f8 --body-file - < notes.md',
    ],
  },
  mcp: { tool: 'forge_comment', aliases: ['forge_add_comment'] },
});

export const listComments = declare({
  name: 'task.comments',
  summary: 'List the comments of a task, oldest first; answers name what they answer',
  input: z.object({ id: TaskRef.describe('Task id') }),
  output: z.array(Comment),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}/comments' },
  cli: { path: ['task', 'comments'], args: ['id'], examples: ['forge task comments fg-a3f8'] },
});

export const taskHistory = declare({
  name: 'task.history',
  summary: 'Everything that happened to a task, oldest first',
  input: z.object({
    id: TaskRef.describe('Task id'),
    limit: z.int().min(1).max(LIMITS.list_limit).optional().describe('Only the newest entries'),
    git: z.boolean().optional().describe("Add the commits that changed its line, from git's log"),
  }),
  output: z.array(
    z.object({
      seq: z.int().nullable(),
      type: z.string(),
      at: z.string(),
      triggered_by: z.string(),
      summary: z.string(),
      changed: z.array(z.string()),
      from_state: z.string().nullable(),
      to_state: z.string().nullable(),
      reason: z.string().nullable(),
    }),
  ),
  errors: ['not_found', 'ambiguous_id'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/tasks/{id}/history' },
  cli: {
    path: ['task', 'history'],
    args: ['id'],
    examples: [
      'forge task history fg-a3f8',
      'forge task history fg-a3f8 --limit 5 --json',
      'forge task history fg-a3f8 --git',
    ],
  },
});

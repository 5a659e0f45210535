import * as z from 'zod';
import { declare } from './declare.ts';

/** What can wait for a person, the most urgent first. */
export const INBOX_KINDS = [
  /** An agent at work asks for permission. */
  'approval',
  /** A review waits for the word of the one who holds it. */
  'review',
  /** Several attempts are finished, and one has to be picked. */
  'pick',
  /** The work passed its review and is not merged by itself. */
  'merge',
  /** The task cannot go on by itself. */
  'stuck',
  /** An agent is suspended: it, its provider or the network cannot work. */
  'agent',
  /** A merge waits for changes in the checkout to go away. */
  'postponed',
  /** A merge was cut short in a checkout and could not be put right yet. */
  'landing',
  /** The target was not pushed after a merge. */
  'push',
  /** Tasks that agents created from tasks of agents; they wait for a person to let them go. */
  'proposed',
  /** A value of a task lost a merge. */
  'conflict',
  /** Not all is listed: a server looks at so many tasks only. */
  'more',
] as const;

export const InboxItem = z.object({
  kind: z.enum(INBOX_KINDS),
  /** Null for what belongs to no single task. */
  task_id: z.string().nullable(),
  title: z.string().nullable(),
  /** The run that asks for permission. */
  run_id: z.string().nullable(),
  /** Since when it waits; null where that was not written down. */
  since: z.string().nullable(),
  message: z.string(),
  /** What a person types next. */
  command: z.string(),
});
export type InboxItem = z.output<typeof InboxItem>;

export const listInbox = declare({
  name: 'inbox.list',
  summary: 'List everything that waits for a person, with the command that answers it',
  about:
    'Permissions that agents ask for, reviews that wait for their holder, attempts to pick from, work that passed and is not merged yet, tasks that cannot go on by themselves, agents that cannot work, merges that wait for your checkout, pushes that were rejected, tasks that agents propose, and values that lost a merge. The most urgent first, then the oldest. The last one is `more` where a server has not looked at all tasks that may wait.',
  input: z.object({ kind: z.enum(INBOX_KINDS).optional().describe('Only what waits in this way') }),
  output: z.array(InboxItem),
  errors: [],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/inbox' },
  cli: { path: ['inbox'], examples: ['forge inbox', 'forge inbox --json', 'forge inbox --kind review'] },
});

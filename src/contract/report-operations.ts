import * as z from 'zod';
import { declare } from './declare.ts';
import { SuspendedAgent } from './suspension.ts';

/** What runs have cost. */
export const Cost = z.object({
  runs: z.int(),
  /** Of agents at work. */
  minutes: z.number(),
  /** Null where no program said. */
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  usd: z.number().nullable(),
  /** Part of the money was reckoned from tokens and prices, because the program does not say it. */
  estimated: z.boolean(),
  /** Runs of which the money is not known. */
  unknown: z.int(),
});
export type Cost = z.output<typeof Cost>;

const Landed = z.object({
  task_id: z.string(),
  /** Null where the task was deleted since. */
  title: z.string().nullable(),
  agent: z.string().nullable(),
  merge_commit: z.string().nullable(),
  target: z.string(),
  at: z.string(),
});

/** Why a task that was worked on has not landed. */
export const UNLANDED_KINDS = [
  /** It waits for a person. */
  'waiting',
  /** It is at work now. */
  'at_work',
  /** The last try failed; it is ready, and tried again. */
  'failed',
  /** It is ready, or waits for other tasks or for an agent. */
  'open',
  /** It was closed or cancelled without a merge. */
  'closed',
] as const;

const NotLanded = z.object({
  task_id: z.string(),
  title: z.string().nullable(),
  /** Null where the task was deleted since. */
  state: z.string().nullable(),
  kind: z.enum(UNLANDED_KINDS),
  /** Who worked on it last in that time. */
  agent: z.string().nullable(),
  why: z.string(),
  /** What a person types next. */
  command: z.string(),
});

const Warning = z.object({
  task_id: z.string(),
  run_id: z.string(),
  agent: z.string(),
  message: z.string(),
  /** What a person types next. */
  command: z.string(),
});

export const Report = z.object({
  since: z.string(),
  until: z.string(),
  landed: z.array(Landed),
  not_landed: z.array(NotLanded),
  /** Runs in which something happened that a person should look at. */
  warnings: z.array(Warning),
  /** As it is now, also where the report is about an earlier time. */
  suspended: z.array(SuspendedAgent),
  cost: Cost,
  by_agent: z.array(Cost.extend({ agent: z.string() })),
  /** The dearest first, then the longest. */
  by_task: z.array(Cost.extend({ task_id: z.string(), title: z.string().nullable() })),
});
export type Report = z.output<typeof Report>;

const moment = (what: string): z.ZodOptional<z.ZodString> =>
  z.string().min(1).max(64).optional().describe(`${what}: yesterday, today, 12h, 7d, a date or a time`);

export const projectReport = declare({
  name: 'project.report',
  summary: 'What landed since yesterday, what did not and why, and what it cost',
  about:
    'Merges that landed in that time; tasks that agents worked on in that time, or that wait for a person now, and have not landed, each with the reason and the next command; runs during which your checkout changed; agents that are suspended; and the money, tokens and minutes of the runs that began in that time, by agent and by task. Money that a program does not tell is said to be unknown. Days are those of the machine that answers.',
  input: z.object({
    since: moment('From when on (default: yesterday)'),
    until: moment('Up to when (default: now)'),
  }),
  output: Report,
  errors: ['invalid_input'],
  access: 'read',
  needs: 'project',
  http: { method: 'get', path: '/projects/{project}/report' },
  cli: {
    path: ['report'],
    examples: [
      'forge report',
      'forge report --since 12h',
      'forge report --since yesterday --until today --json',
    ],
  },
});

import * as z from 'zod';
import { Approval, Attempt, Merge, PickRule, Review, Run } from './attempt.ts';

const Mark = z.object({
  host: z.string(),
  boot_id: z.string(),
  pid_namespace: z.string(),
  around: z.array(z.string()).readonly().optional(),
  pid: z.int(),
  start_time: z.number(),
  daemon_id: z.string().optional(),
});

/**
 * `<store>/attempts/<id>/record.json`: an attempt with all that belongs to it, from which its rows are made again when
 * the database was lost. Messages that were delivered stand in the log; only those that wait are here.
 */
export const AttemptRecord = z.object({
  schema: z.literal(1),
  /** Rises with every change; the highest is the newest. */
  revision: z.int().min(0),
  // Those of an older Forge have neither.
  attempt: Attempt.extend({
    pick: PickRule.nullable().default(null),
    strayed: z.string().nullable().default(null),
  }),
  runs: z.array(
    Run.omit({ pid: true }).extend({
      fence: z.int().nullable().default(null),
      in_state: z.string().nullable().default(null),
      process: Mark.nullable(),
      watcher: Mark.nullable(),
      beat_at: z.int().nullable(),
      stop_asked_at: z.string().nullable(),
    }),
  ),
  reviews: z.array(
    Review.extend({
      watcher: Mark,
      verdict_by: z.string().nullable().default(null),
      cleared_at: z.string().nullable().default(null),
    }),
  ),
  merges: z.array(Merge.extend({ watcher: Mark, seq: z.int() })),
  approvals: z.array(Approval),
  messages: z.array(z.object({ body: z.string(), author: z.string(), created_at: z.string() })),
});
export type AttemptRecord = z.output<typeof AttemptRecord>;

import * as z from 'zod';

/** What a project has grown on this machine besides its tasks. */
export const KEPT_KINDS = ['run_logs', 'rescues', 'worktrees', 'events', 'replica'] as const;

/** How much of one of them there is, and how much there may be; null where it is not counted so. */
export const KeptUse = z.object({
  what: z.enum(KEPT_KINDS),
  /** Of worktrees those of attempts that are over; bytes are those of all, as they were measured last. */
  number: z.int().nullable(),
  bytes: z.int().nullable(),
  allowed: z.object({
    number: z.int().nullable(),
    bytes: z.int().nullable(),
    days: z.int().nullable(),
  }),
  /** By what it is more than allowed, and why; null where it is not. */
  exceeded: z.string().nullable(),
  /** What helps then. */
  command: z.string().nullable(),
});
export type KeptUse = z.output<typeof KeptUse>;

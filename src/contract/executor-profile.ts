import * as z from 'zod';

export const PermissionPolicy = z.enum(['ask', 'edits', 'all']);
export const WallsWish = z.enum(['on', 'off']);
export type WallsWish = z.output<typeof WallsWish>;
export type PermissionPolicy = z.output<typeof PermissionPolicy>;

/** How an agent's program is started: what an executor gets of an agent or of a named profile. */
export const ExecutorProfile = z.object({
  executor: z.string(),
  command: z.array(z.string()).optional(),
  model: z.string().optional(),
  effort: z.string().optional(),
  permissions: PermissionPolicy,
  /** Whether its runs are put inside of walls where the machine has them; what the settings say where left out. */
  walls: WallsWish.optional(),
  /** Commands that need no question, by their first words: `npm test`. */
  allow: z.array(z.string()).optional(),
});
export type ExecutorProfile = z.output<typeof ExecutorProfile>;

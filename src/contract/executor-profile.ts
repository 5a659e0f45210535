import * as z from 'zod';

export const PermissionPolicy = z.enum(['ask', 'edits', 'all']);
export type PermissionPolicy = z.output<typeof PermissionPolicy>;

/** How an agent's program is started: what an executor gets of an agent or of a named profile. */
export const ExecutorProfile = z.object({
  executor: z.string(),
  command: z.array(z.string()).optional(),
  model: z.string().optional(),
  effort: z.string().optional(),
  permissions: PermissionPolicy,
  /** Commands that need no question, by their first words: `npm test`. */
  allow: z.array(z.string()).optional(),
});
export type ExecutorProfile = z.output<typeof ExecutorProfile>;

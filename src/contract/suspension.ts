import * as z from 'zod';

/** An agent that Forge does not start for now: it, its provider or the network could not work. */
export const SuspendedAgent = z.object({
  agent: z.string(),
  fault: z.enum(['usage_limit', 'unavailable', 'auth', 'not_installed']),
  /** `by_person`: it is tried again now and then, but a person has to do something first. */
  mends: z.enum(['by_itself', 'by_person']),
  reason: z.string(),
  since: z.string(),
  /** When it is tried again, with one task. */
  until: z.string(),
  /** What ends it at once. */
  command: z.string(),
});
export type SuspendedAgent = z.output<typeof SuspendedAgent>;

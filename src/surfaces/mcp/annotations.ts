import type { Declaration } from '#contract/declare.ts';

/** What a host is told of a tool before it asks its person. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint?: boolean;
  readonly openWorldHint: boolean;
}

/** They stop an agent at work, or may land its work on the main branch. */
const DESTRUCTIVE = ['task.cancel', 'task.transition'];
/** They may start programs, which reach the network. */
const STARTS_PROGRAMS = ['task.claim', 'task.transition', 'attempt.start'];

export function toAnnotations(operation: string, access: Declaration['access']): ToolAnnotations {
  if (access === 'read') return { readOnlyHint: true, openWorldHint: false };
  // Nothing else deletes: a closed task can be reopened, and every change is in the history.
  return {
    readOnlyHint: false,
    destructiveHint: access !== 'task' || DESTRUCTIVE.includes(operation),
    openWorldHint: STARTS_PROGRAMS.includes(operation),
  };
}

import { findOwnRun } from '#process/find-own-run.ts';

/** Whether this process was started by an agent or a check of Forge. */
export function isInsideRun(env: Readonly<Record<string, string | undefined>>): boolean {
  return findOwnRun(env) !== undefined;
}

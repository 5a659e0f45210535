import { ForgeError } from '#kernel/errors.ts';

/** Whether this process was started by a run: whoever works in one decides nothing about what may run. */
export function isInsideRun(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env['FORGE_RUN_ID'] || env['FORGE_ATTEMPT_ID'] || '') !== '';
}

/** Throws permission_denied inside a run: what an agent is started with is not for the agent to say. */
export function refuseInsideRun(env: Readonly<Record<string, string | undefined>>): void {
  if (!isInsideRun(env)) return;
  throw new ForgeError('permission_denied', 'How agents are started is for a person to say, not for a run', {
    hint: 'Do it yourself, in a terminal of your own',
  });
}

/** Whether this process was started by a run: whoever works in one decides nothing about what may run. */
export function isInsideRun(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env['FORGE_RUN_ID'] || env['FORGE_ATTEMPT_ID'] || '') !== '';
}

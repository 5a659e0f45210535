import type { KeptRun } from './decide-run.ts';

/** Of a process that cannot be taken for another one that has its number later. */
type Mark = NonNullable<KeptRun['process']>;

/** The same text for the same process. */
export function writeMark({
  host,
  boot_id,
  pid_namespace,
  around,
  pid,
  start_time,
  daemon_id,
}: Mark): string {
  return JSON.stringify({ host, boot_id, pid_namespace, around, pid, start_time, daemon_id });
}

/** Whether a task may be watched by another process from now on: only if it is still `from` that has it, where that is asked. */
export function mayTakeWatch(has: Mark | null, from: Mark | null | undefined): boolean {
  return from === undefined || writeOrNull(has) === writeOrNull(from);
}

function writeOrNull(mark: Mark | null): string | null {
  return mark === null ? null : writeMark(mark);
}

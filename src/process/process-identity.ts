import { assert } from '#kernel/assert.ts';
import { FIRST_PID_NAMESPACE, listPids, type ProcessPlace, readNamespace, readPlace } from './read-place.ts';
import { openProcessTable, type ProcessTable } from './supervisor/process-table.ts';

/** One process, on one boot of one machine. A pid alone is somebody else's sooner or later. */
export interface ProcessIdentity extends ProcessPlace {
  readonly pid: number;
  readonly start_time: number;
}

/** `unknown`: it is on another machine, or in a namespace that cannot be seen from here. */
export type Liveness = 'alive' | 'gone' | 'unknown';

/** Undefined when there is no such process, or it has ended and only waits to be noticed. */
export function findIdentity(
  pid: number,
  table: ProcessTable = openProcessTable(),
): ProcessIdentity | undefined {
  const row = table.find(pid);
  return row === undefined || row.dead ? undefined : toIdentity(row);
}

export function readOwnIdentity(table: ProcessTable = openProcessTable()): ProcessIdentity {
  const own = findIdentity(process.pid, table);
  assert(own !== undefined, 'this process is not in the table of processes');
  return own;
}

/** This process, also where processes cannot be listed; its start is 0 then. */
export function readSelf(): ProcessIdentity {
  return findIdentity(process.pid) ?? toIdentity({ pid: process.pid, start_time: 0 });
}

export function toIdentity({ pid, start_time }: { pid: number; start_time: number }): ProcessIdentity {
  return { ...readPlace(), pid, start_time };
}

/** Whether it may still be at work. What cannot be known counts as alive: nobody's lock is broken on a guess. */
export function isAlive(identity: ProcessIdentity, table?: ProcessTable): boolean {
  return judgeIdentity(identity, table) !== 'gone';
}

export function isSameProcess(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return (
    a.pid === b.pid &&
    a.start_time === b.start_time &&
    a.pid_namespace === b.pid_namespace &&
    a.boot_id === b.boot_id &&
    a.host === b.host
  );
}

export function judgeIdentity(identity: ProcessIdentity, table: ProcessTable = openProcessTable()): Liveness {
  const here = readPlace();
  if (identity.host !== here.host) return 'unknown';
  if (identity.boot_id !== here.boot_id) return 'gone';
  if (identity.pid_namespace !== here.pid_namespace)
    return judgeElsewhere(identity, here.pid_namespace, table);
  const row = table.find(identity.pid);
  if (row === undefined) return isHidden(identity.pid) ? 'unknown' : 'gone';
  return !row.dead && row.start_time === identity.start_time ? 'alive' : 'gone';
}

/** There is such a process, of another user, and this machine does not show those (`hidepid`). */
function isHidden(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Start times count from boot in every namespace, so a process inside of one can be found from outside. */
function judgeElsewhere(identity: ProcessIdentity, here: string, table: ProcessTable): Liveness {
  const found = listPids().some((pid) => {
    if (readNamespace(String(pid)) !== identity.pid_namespace) return false;
    const row = table.find(pid);
    return row !== undefined && !row.dead && row.start_time === identity.start_time;
  });
  if (found) return 'alive';
  const isSeen = here === FIRST_PID_NAMESPACE || identity.around?.includes(here) === true;
  return isSeen ? 'gone' : 'unknown';
}

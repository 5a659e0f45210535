import type { WritePoint } from './strace-points.ts';
import { exportScenario, foldScenario, gcScenario, type OpenScenario } from './strace-scenarios.ts';
import type { CallFault } from './strace-sweep.ts';

/** Calls that a full disk makes fail. */
const NEEDS_ROOM = /^(write|pwrite64|openat|rename|ftruncate|mkdir)$/;
const SYNCS = /^(fsync|fdatasync)$/;

/** The commands that write the task files. */
export const DISK_SCENARIOS: Readonly<Record<string, (script: string) => Promise<OpenScenario>>> = {
  export: (script) => exportScenario(script, 12),
  fold: (script) => foldScenario(script, 24),
  gc: (script) => gcScenario(script, 6),
};

type Choose = (points: readonly WritePoint[]) => readonly WritePoint[];

/** No space for what writes, and an error for what syncs, each where `full` and `broken` say. */
export function diskFaults(full: Choose, broken: Choose): CallFault[] {
  const isCreation = ({ syscall }: WritePoint): boolean => /^(mkdir|rename)$/.test(syscall);
  return [
    {
      choose: (points) => full(reachable(points, NEEDS_ROOM)),
      error: 'ENOSPC',
      fatal: (point) => isOwn(point) && !isCreation(point),
    },
    // A sync that failed must never be taken for one that worked.
    { choose: (points) => broken(reachable(points, SYNCS)), error: 'EIO', fatal: isOwn },
  ];
}

/** Not those on SQLite's shared memory, which holds nothing that lasts, and none that an error cannot get to. */
function reachable(points: readonly WritePoint[], which: RegExp): WritePoint[] {
  return points.filter(
    ({ syscall, path, behind }) => which.test(syscall) && !path.endsWith('-shm') && !behind,
  );
}

/** Where tasks are; what becomes of SQLite's files is SQLite's to say. */
function isOwn({ path }: WritePoint): boolean {
  return (path.startsWith('.forge/') && path.endsWith('.tmp')) || path === '.git/forge/tasks.jsonl';
}

import { readdirSync, readFileSync } from 'node:fs';
import { shortHash } from '#kernel/checksum.ts';
import { FIRST_PID_NAMESPACE, listPids, readNamespace, readPlace } from './read-place.ts';

/**
 * Beside a file, for what will take its place. The name says which process made it, so that what a kill left can be
 * told from what somebody is at work on: number, start, machine, boot and namespace; the number alone is somebody
 * else's sooner or later.
 */
export function toTemporaryPath(path: string): string {
  const start = readStart('self');
  const mark = start === undefined ? '' : `${Number(start).toString(36)}-${toPlaceMark()}-`;
  return `${path}.${process.pid}-${mark}${process.hrtime.bigint().toString(36)}.tmp`;
}

/** Whether it is the name of such a file whose process is gone. What cannot be known is somebody's. */
export function isLeftBehind(name: string): boolean {
  const [, pid, start, place] = NAME.exec(name) ?? [];
  if (pid === undefined) return false;
  // Where the system does not tell when a process began, and once everywhere, the number has to do.
  if (start === undefined || place === undefined) return isNumberFree(Number(pid));
  const here = toPlaceMark();
  if (place.slice(0, HASH) !== here.slice(0, HASH)) return false;
  if (place.slice(HASH, 2 * HASH) !== here.slice(HASH, 2 * HASH)) return true;
  if (place !== here) return isGoneElsewhere(place.slice(2 * HASH), start);
  return toMark(readStart(pid)) !== start;
}

const HASH = 6;
const NAME = /\.(\d+)-(?:([0-9a-z]+)-([0-9a-z]{18})-)?[0-9a-z]+\.tmp$/;

/**
 * Whether no process that began then is in that namespace; its number is another one there. Only the namespace of the
 * machine itself sees all others.
 */
function isGoneElsewhere(namespace: string, start: string): boolean {
  if (readNamespace('self') !== FIRST_PID_NAMESPACE) return false;
  return !listPids()
    .map(String)
    .some((pid) => toMark(readStart(pid)) === start && shortHash(readNamespace(pid)) === namespace);
}

function toMark(start: string | undefined): string {
  return Number(start ?? Number.NaN).toString(36);
}

/** Machine, boot and namespace. */
function toPlaceMark(): string {
  const { host, boot_id, pid_namespace } = readPlace();
  return [host, boot_id, pid_namespace].map(shortHash).join('');
}

/** When it began, in ticks since boot. Undefined where the system does not say, or there is no such process. */
function readStart(pid: string): string | undefined {
  try {
    // After the name in parentheses, which may hold anything, the twentieth field is the start.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // One that has ended and that its parent has not asked for is gone, unless other threads of it go on.
    const hasEnded = fields[0] === 'Z' && readdirSync(`/proc/${pid}/task`).length < 2;
    return hasEnded ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

function isNumberFree(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

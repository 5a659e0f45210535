import { createHash } from 'node:crypto';
import { isTaskId } from '#kernel/ids.ts';
import { compareText } from '#kernel/text.ts';
import { createdTime, type TrackerTask, type Tracker } from './tracker-task.ts';

const LENGTH = 6;
/** What a record may have for an id at most. */
const LONGEST = 80;

/**
 * Our id of every key: computed from tool and key, so that the same task gets the same id in every import. The
 * oldest is served first, so that a task that came later does not change the id of one that was there.
 */
export function assignIds(
  tool: Tracker,
  tasks: readonly TrackerTask[],
  prefix: string,
): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const used = new Set<string>();
  const waiting: TrackerTask[] = [];
  for (const task of tasks) {
    if (keepsItsId(task, prefix)) {
      ids.set(task.key, task.key);
      used.add(task.key);
    } else waiting.push(task);
  }
  waiting.sort((a, b) => createdTime(a) - createdTime(b) || compareText(a.key, b.key));
  for (const { key } of waiting) {
    const digits = hashBase36(tool, key);
    let length = LENGTH;
    while (used.has(`${prefix}-${digits.slice(0, length)}`)) length += 1;
    const id = `${prefix}-${digits.slice(0, length)}`;
    used.add(id);
    ids.set(key, id);
  }
  return ids;
}

/** 49 digits, the last ones of the number, because the first ones are not evenly spread. */
export function hashBase36(...parts: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return BigInt(`0x${hash}`).toString(36).padStart(50, '0').slice(1);
}

function keepsItsId(task: TrackerTask, prefix: string): boolean {
  return task.key.startsWith(`${prefix}-`) && isTaskId(task.key) && task.key.length <= LONGEST;
}

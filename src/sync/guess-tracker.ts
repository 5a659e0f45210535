import type { Tracker } from './trackers/tracker-task.ts';

/** So much of a file says which tool wrote it. */
const LOOKED_AT = 64 * 1024;

/** The tracker that a file of no tasks of ours most likely comes from; by words that only that tool writes. */
export function guessTracker(bytes: Buffer): Tracker | undefined {
  const text = bytes.subarray(0, LOOKED_AT).toString('utf8');
  const [first = ''] = text.trimStart().split('\n', 1);
  if (/^\{.*"issue_type"\s*:/.test(first)) return 'beads';
  if (/^\s*[{[]/.test(text) && /"tasks"\s*:\s*\[/.test(text)) return 'task-master';
  return /^---\r?\n/.test(text) && /^status:/m.test(text) ? 'backlog-md' : undefined;
}

import { lastStamp, type TaskRecord } from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import { isIdPrefix } from '#kernel/ids.ts';
import { assignIds } from './trackers/tracker-ids.ts';
import {
  UNKNOWN_TIME,
  type AddNote,
  type TrackerNote,
  type TrackerTask,
  type Tracker,
} from './trackers/tracker-task.ts';
import { linkTasks } from './trackers/link-tasks.ts';
import { mergeTwins } from './trackers/merge-twins.ts';
import { readBacklog } from './trackers/read-backlog.ts';
import { readBeads } from './trackers/read-beads.ts';
import { readTaskMaster } from './trackers/read-task-master.ts';
import { toRecord } from './trackers/to-record.ts';

export type { TrackerNote, Tracker } from './trackers/tracker-task.ts';

export interface TrackerTasks {
  /** In the order of their files. */
  readonly records: readonly TaskRecord[];
  readonly notes: readonly TrackerNote[];
  /** Our id of each of theirs. */
  readonly ids: ReadonlyMap<string, string>;
}

const READERS: Readonly<Record<Tracker, (path: string, note: AddNote) => TrackerTask[]>> = {
  beads: readBeads,
  'backlog-md': readBacklog,
  'task-master': readTaskMaster,
};

const UNKNOWN_DAY = toIso(UNKNOWN_TIME).slice(0, 10);

/**
 * The tasks of another tool as records of ours. The same files give the same records, whatever the clock says, so
 * joining them in twice changes nothing; a later export has later stamps and wins where it is later. What cannot
 * be read is noted and the rest comes; throws only where there is nothing of that tool at the path.
 */
export function readTrackerTasks(
  tool: Tracker,
  path: string,
  { idPrefix, now }: { readonly idPrefix: string; readonly now: number },
): TrackerTasks {
  if (!isIdPrefix(idPrefix)) {
    throw new ForgeError('invalid_input', `"${idPrefix}" is no id prefix: two to four of a-z and 0-9`);
  }
  const notes: TrackerNote[] = [];
  const note: AddNote = (one) => void notes.push(one);
  const tasks = mergeTwins(READERS[tool](path, note), note);
  for (const { id, created } of tasks) {
    if (created === undefined)
      note({ where: id, field: 'created_at', what: `is not known; ${UNKNOWN_DAY} stands for it` });
  }
  const ids = assignIds(tool, tasks, idPrefix);
  const records = linkTasks(tasks, note).map((linked) => toRecord(linked, { tool, ids, note }));
  records.forEach((record, at) => {
    if (lastStamp(record) <= now) return;
    note({ where: tasks[at]?.id ?? record.id, field: 'updated_at', what: 'lies in the future' });
  });
  return { records, notes, ids: nameTheirs(tasks, ids) };
}

/**
 * A second task with the same id there stands under its id and title, a third with both under a number too. Of each name
 * the number goes on where it was: names that were tried from the first on, and grew, took 30 s for 2,000 tasks.
 */
function nameTheirs(
  tasks: readonly TrackerTask[],
  ids: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  const counts = new Map<string, number>();
  for (const { id, key, title } of tasks) {
    const full = `${id} (${title})`;
    let name = named.has(id) ? full : id;
    while (named.has(name)) {
      const count = (counts.get(full) ?? 1) + 1;
      counts.set(full, count);
      name = `${full} ${count}`;
    }
    named.set(name, ids.get(key) ?? key);
  }
  return named;
}

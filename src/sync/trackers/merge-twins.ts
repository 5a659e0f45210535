import { createdTime, type AddNote, type TrackerTask } from './tracker-task.ts';

/**
 * One task a key. Entries that are the same task (an appended line, a copy in another folder) become the latest
 * of them; different tasks under one id, as two branches make them, get keys of their own.
 */
export function mergeTwins(tasks: readonly TrackerTask[], note: AddNote): TrackerTask[] {
  const groups = new Map<string, Map<string, TrackerTask>>();
  for (const task of tasks) {
    const twins = groups.get(task.key) ?? new Map<string, TrackerTask>();
    groups.set(task.key, twins);
    const other = twins.get(task.twin);
    if (other === undefined) twins.set(task.twin, task);
    else {
      note({ where: task.id, field: 'id', what: 'is there more than once; the latest one counts' });
      if ((task.updated ?? 0) >= (other.updated ?? 0)) twins.set(task.twin, task);
    }
  }
  return [...groups.values()].flatMap((twins) => {
    const [oldest, ...others] = [...twins.values()].sort((a, b) => createdTime(a) - createdTime(b));
    for (const other of others) {
      note({
        where: other.id,
        field: 'id',
        what: `"${other.title}" has the id of an older task and gets one of its own; links mean the older one`,
      });
    }
    return [
      ...(oldest === undefined ? [] : [oldest]),
      ...others.map((task) => ({ ...task, key: JSON.stringify([task.key, task.twin]) })),
    ];
  });
}

import { lastStamp, MAP_NAMES, type ElementMap, type TaskRecord } from './task-record.ts';

/**
 * Not even the floor of a map says any more that they were there: it would speak of elements, too, that others wrote before
 * `until` and that this store never saw. What values replaced is kept, which is bounded.
 */
export function pruneRecord(record: TaskRecord, until: number): { record: TaskRecord; removals: number } {
  let removals = 0;
  const maps: Partial<Record<(typeof MAP_NAMES)[number], ElementMap>> = {};
  for (const name of MAP_NAMES) {
    if (name === 'conflicts') continue;
    const { floor, elements } = record[name];
    const kept = [...elements].filter(([, { value, stamp }]) => value !== undefined || stamp >= until);
    if (kept.length === elements.size) continue;
    removals += elements.size - kept.length;
    maps[name] = { floor, elements: new Map(kept) };
  }
  return { record: { ...record, ...maps }, removals };
}

/** Whether a deleted task is forgotten too: nothing of it was written since. */
export function isPastDeletion(record: TaskRecord, until: number): boolean {
  return lastStamp(record) < until;
}

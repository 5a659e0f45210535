import { HERE } from '../fold/own-runs.ts';
import type { ShownLine, ShownRows } from '../fold/fold-rows.ts';
import { toKey, type MemoryTables } from './memory-tables.ts';

export function memoryShown({ shown }: MemoryTables): ShownRows {
  return {
    readShown: (place) => shown.get(keyOf(place))?.digests,
    listShown: (path, task_id) =>
      shown.list().filter((line) => line.path === path && line.task_id === task_id),
    writeShown: (line) => shown.set(keyOf(line), line),
    listShownOf: (path) => shown.list().filter((line) => line.path === path),
    forgetShown: (place) => shown.delete(keyOf(place)),
  };
}

/** A task that was told apart from another takes what was written here along. */
export function renameOwnRuns({ shown }: MemoryTables, from: string, to: string): void {
  for (const line of shown.list()) {
    if (line.path !== HERE || line.task_id !== from) continue;
    const renamed = { ...line, task_id: to };
    shown.delete(keyOf(line));
    shown.set(keyOf(renamed), renamed);
  }
}

function keyOf({ path, task_id, seal }: Omit<ShownLine, 'digests'>): string {
  return toKey(path, task_id, seal);
}

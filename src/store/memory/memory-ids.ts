import { FORMER_ID_KEYS, resolveTaskRef, type IdIndex, type IdKind } from '#domain/resolve-task-ref.ts';
import { lowerAscii } from '#domain/text-search.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { compareText } from '#kernel/text.ts';
import type { MemoryTables } from './memory-tables.ts';

/** As `resolveTaskRef` says. */
export function resolveTaskId(tables: MemoryTables, ref: string, kind: IdKind = 'tasks'): string {
  const { tasks, deleted } = tables;
  const ids = {
    tasks: indexOf(tasks, () => tasks.list().map(({ record }) => record.id)),
    deleted: indexOf(deleted, () => deleted.list().map(({ id }) => id)),
    listFormer: (word: string, most: number) =>
      tasks
        .list()
        .filter(({ record }) => ` ${lowerAscii(formerIds(record))} `.includes(` ${word} `))
        .map(({ record }) => record.id)
        .sort(compareText)
        .slice(0, most),
    listKnown: (known: ReadonlySet<string>, most: number) =>
      [...known]
        .filter((id) => tasks.has(id))
        .sort(compareText)
        .slice(0, most),
  };
  return resolveTaskRef(ids, ref, kind);
}

function indexOf(table: { has(id: string): boolean }, list: () => string[]): IdIndex {
  const inOrder = (isOne: (id: string) => boolean): string[] => list().filter(isOne).sort(compareText);
  return {
    has: (id) => table.has(id),
    listBeginning: (beginning, most) => inOrder((id) => id.startsWith(beginning)).slice(0, most),
    findNext: (after) => inOrder((id) => compareText(id, after) > 0)[0],
  };
}

/** The ids that a task had in the tool it was imported from, as one text. */
export function formerIds({ metadata }: TaskRecord): string {
  return FORMER_ID_KEYS.flatMap((key) => {
    const value = metadata.elements.get(key)?.value ?? null;
    if (value === null) return [];
    return [typeof value === 'string' ? value : JSON.stringify(value)];
  }).join(' ');
}

/** Deleted tasks have a history too. */
export function findTask(tables: MemoryTables, ref: string): { id: string; deleted: boolean } {
  const wanted = ref.toLowerCase();
  if (tables.deleted.has(wanted)) return { id: wanted, deleted: true };
  return { id: resolveTaskId(tables, ref), deleted: false };
}

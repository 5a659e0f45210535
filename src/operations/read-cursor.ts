import type { TaskPosition } from '#store/store.ts';

/** Nearly every list begins at its beginning, and a cold one must not load what reads a cursor. */
export async function readCursor(
  text: string | undefined,
  sort: 'priority' | 'created' | 'updated' | 'id' | 'impact' | undefined,
): Promise<TaskPosition | undefined> {
  if (text === undefined) return undefined;
  const { parseTaskCursor } = await import('./task-cursor.ts');
  return parseTaskCursor(text, sort);
}

import { ForgeError } from '#kernel/errors.ts';
import type { TaskPosition } from '#store/store.ts';

/**
 * A cursor says behind which task a list goes on. It holds all that any order compares by, so that it stays good when
 * the task itself is changed, closed or deleted meanwhile. Its text is nobody's business: base64url of JSON.
 */

type Sort = 'priority' | 'created' | 'updated' | 'id' | 'impact';

/** Undefined for a row that has no place in such an order. */
export function toTaskCursor(row: unknown, sort: Sort = 'priority'): string | undefined {
  if (typeof row !== 'object' || row === null) return undefined;
  const { priority, created_at, updated_at, id, impact } = row as Record<string, unknown>; // an object's keys are texts
  const chain = impact as { critical_path: number; unblocks: number } | undefined; // as the store gives it
  if (typeof id !== 'string' || typeof created_at !== 'string' || typeof updated_at !== 'string')
    return undefined;
  const parts = [sort, priority, created_at, updated_at, id, chain?.critical_path ?? 0, chain?.unblocks ?? 0];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** The cursor of a place that no row of the answer stands at. */
export function toPlaceCursor(place: TaskPosition, sort?: Sort): string | undefined {
  const { critical_path, unblocks, ...row } = place;
  return toTaskCursor({ ...row, impact: { critical_path, unblocks } }, sort);
}

/** Throws invalid_input for what is no cursor, and for one of another order. */
export function parseTaskCursor(text: string, sort: Sort = 'priority'): TaskPosition {
  const parts = decode(text);
  const [order, priority, created_at, updated_at, id, critical_path, unblocks] = parts;
  const sound =
    parts.length === 7 &&
    [order, created_at, updated_at, id].every((part) => typeof part === 'string') &&
    [priority, critical_path, unblocks].every((part) => Number.isSafeInteger(part));
  if (!sound) {
    throw new ForgeError('invalid_input', 'The cursor is not one that this list gave', {
      hint: 'Leave it out to begin at the first page',
      details: { field: 'cursor' },
    });
  }
  if (order !== sort) {
    throw new ForgeError(
      'invalid_input',
      `The cursor belongs to a list sorted by ${String(order)}, not by ${sort}`,
      {
        hint: 'Keep every other field as it was on the page before',
        details: { field: 'cursor' },
      },
    );
  }
  // Each part was just checked.
  return { priority, created_at, updated_at, id, critical_path, unblocks } as TaskPosition;
}

function decode(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

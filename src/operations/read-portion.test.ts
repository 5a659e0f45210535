import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import type { Store } from '#store/open-store.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { readPortion } from './read-portion.ts';
import { parseTaskCursor } from './task-cursor.ts';
import { type PagedList, writePage } from './write-answer.ts';

/** Small tasks first, so that those behind them are judged wrong by their number; then large ones. */
async function fill(temp: TempStore, { small, large, bytes }: Record<'small' | 'large' | 'bytes', number>) {
  const at = '2026-01-01T00:00:00.000Z';
  const toLine = (number: number, priority: number, description: string): object => ({
    id: `fg-${String(number).padStart(4, '0')}`,
    title: `Task ${number}`,
    description,
    status: 'open',
    priority,
    created_at: at,
    created_by: 'bob',
    updated_at: at,
  });
  await temp.bring([
    ...Array.from({ length: small }, (_, number) => toLine(number, 0, '')),
    ...Array.from({ length: large }, (_, number) => toLine(small + number, 1, 'x'.repeat(bytes))),
  ]);
}

type Row = Awaited<ReturnType<Store['listTasks']>>[number];

/** Lists as the operations ask for them; tells what was read in each turn. */
function watched(store: Store, { bound }: { readonly bound: boolean }) {
  const turns: number[] = [];
  const ask: PagedList['ask'] = async ({ limit, cursor }, portion) => {
    const after = cursor === undefined ? undefined : parseTaskCursor(cursor);
    const rows = await readPortion<Row>(bound ? portion : undefined, {
      all: () => store.listTasks({ limit, after, open_only: true }),
      page: (max_bytes) => store.pageTasks({ limit, after, open_only: true, max_bytes }),
    });
    turns.push(rows.reduce((sum, { description }) => sum + description.length, 0));
    return rows;
  };
  return { turns, ask };
}

describe('a list of a server', () => {
  it('reads no more than its bytes in one turn, though small tasks come first, and loses none', async () => {
    await using temp = await tempStore();
    await fill(temp, { small: 20, large: 30, bytes: 700_000 });
    const page = { rows: 1_000, most: { bytes: LIMITS.answer_bytes, beyond: 'refuse' } } as const;
    const free = watched(temp.store, { bound: false });
    await expect(writePage({ ask: free.ask, ...page })).rejects.toMatchObject({ code: 'too_large' });
    expect(Math.max(...free.turns)).toBeGreaterThan(LIMITS.list_read_bytes);
    const bound = watched(temp.store, { bound: true });
    await expect(writePage({ ask: bound.ask, ...page })).rejects.toMatchObject({ code: 'too_large' });
    expect(Math.max(...bound.turns)).toBeLessThanOrEqual(LIMITS.list_read_bytes);
    // Where the answer may be larger, it goes on where a portion ended by its bytes, and loses none.
    const whole = watched(temp.store, { bound: true });
    const all = await writePage({ ask: whole.ask, rows: 1_000, most: { bytes: 100_000_000, beyond: 'end' } });
    expect([all.shown.length, all.next]).toEqual([50, undefined]);
    expect(whole.turns.length).toBeGreaterThan(2);
  });
});

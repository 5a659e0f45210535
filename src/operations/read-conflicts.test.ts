import { expect, test } from 'vitest';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import type { ConflictEntry } from '#domain/decide-settlement.ts';
import type { ConflictQuery } from '#store/replication.ts';
import { conflictList } from './conflict-list.ts';
import type { OperationContext } from './operation.ts';
import { readConflicts } from './read-conflicts.ts';

const VIEW = { color: false, columns: 200, now: 0 };
const A_PAGE = 100;

/** A store with so many pages of conflicts, and how many of them were asked for. */
function pagesOf(count: number, bytes: number) {
  const asked: ConflictQuery[] = [];
  const pageConflicts = async (query: ConflictQuery) => {
    asked.push(query);
    const at = asked.length;
    const entries = Array.from({ length: A_PAGE }, (_, n) => entry(`fg-${1_000_000 - at * A_PAGE - n}`));
    return { entries, bytes, ...(at < count && { after: { deleted: false, row: at } }) };
  };
  return { asked, store: { pageConflicts } };
}

function entry(id: string): ConflictEntry {
  return { id, title: 'T', name: 'title', key: 'title@1', lost: 'a', stands: 'b', at: '2026-01-01' };
}

const FULL = SERVED_LIMITS.conflicts / A_PAGE;

test.each([
  ['a command: all', { stays: false, pages: FULL + 5, bytes: 1 }, { asked: FULL + 5, isCut: false }],
  [
    'a server: no more than it may',
    { stays: true, pages: FULL + 5, bytes: 1 },
    { asked: FULL + 1, isCut: true },
  ],
  ['a server: all where they are few', { stays: true, pages: 3, bytes: 1 }, { asked: 3, isCut: false }],
  [
    'a server: no more bytes than it may',
    { stays: true, pages: 5, bytes: SERVED_LIMITS.conflicts_bytes / 2 },
    { asked: 2, isCut: true },
  ],
])('reads for %s', async (_what, { stays, pages, bytes }, { asked, isCut }) => {
  const { store, asked: queries } = pagesOf(pages, bytes);
  const found = await readConflicts(store, { stays });
  expect(queries).toHaveLength(asked);
  expect(found.isCut).toBe(isCut);
  expect(found.entries).toHaveLength(Math.min(asked * A_PAGE, stays ? SERVED_LIMITS.conflicts : Infinity));
  const ids = found.entries.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted());
});

test('the list says that there are more', async () => {
  const { store } = pagesOf(FULL + 5, 1);
  const project = { store, paths: { store_dir: '/nowhere' } };
  const list = await conflictList.run({ project, stays: true } as unknown as OperationContext, {});
  expect(list).toHaveLength(SERVED_LIMITS.conflicts + 1);
  expect(list.at(-1)).toMatchObject({ id: '', name: 'more' });
  expect(conflictList.text(list, VIEW).split('\n').at(-1)).toContain('without --server');
});

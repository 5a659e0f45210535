import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { type PagedList, writeAnswer, writePage } from './write-answer.ts';

const AT = '2026-01-01T00:00:00.000Z';
const row = (at: number, bytes: number): Record<string, unknown> => ({
  id: `fg-${String(at).padStart(5, '0')}`,
  priority: 2,
  created_at: AT,
  updated_at: AT,
  description: 'x'.repeat(bytes),
});

/** A list by id, as the store would answer; tells how many rows were asked for each time. */
function listOf(rows: readonly Record<string, unknown>[]): {
  asked: number[];
  read: () => number;
  ask: PagedList['ask'];
} {
  const asked: number[] = [];
  let read = 0;
  return {
    asked,
    read: () => read,
    ask: async ({ limit, cursor }) => {
      asked.push(limit);
      const parts =
        cursor === undefined ? [] : (JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[]);
      const last = String(parts[4] ?? '');
      const found = rows.filter(({ id }) => String(id) > last).slice(0, limit);
      read += found.length;
      return found;
    },
  };
}

const PAGE = { bytes: LIMITS.answer_page_bytes, beyond: 'end' } as const;
const WHOLE = { bytes: LIMITS.answer_bytes, beyond: 'refuse' } as const;

describe('an answer', () => {
  it.each([
    [null],
    [undefined],
    ['text'],
    [7],
    [[]],
    [{}],
    [[1, undefined, { a: undefined, b: [null] }, 'ü"']],
    [
      {
        a: undefined,
        rows: [{ x: [1, [2]] }, undefined],
        deep: { list: [1, 2] },
        none: null,
        at: new Date(0),
      },
    ],
    [new Date(0)],
  ])('is the text of JSON.stringify: %j', async (value) => {
    expect(await writeAnswer(value)).toBe(JSON.stringify(value ?? null));
  });

  it.each([
    ['a list', (rows: unknown[]) => rows],
    ['a list in an object', (rows: unknown[]) => ({ id: 'fg-1', comments: rows })],
  ])('[A14-3] lets others go on while %s is written', async (_what, toValue) => {
    const rows = Array.from({ length: 100 }, (_, at) => row(at, 100_000));
    let turns = 0;
    const text = await writeAnswer(toValue(rows), { pause: async () => (turns += 1) });
    expect(text).toBe(JSON.stringify(toValue(rows)));
    expect(text.length / (turns + 1)).toBeLessThan(LIMITS.answer_turn_bytes + 110_000);
  });

  it('[A14-3] is refused where it is too large, before all of it is written', async () => {
    let seen = 0;
    const rows = Array.from({ length: 1_000 }, () => ({
      toJSON: () => {
        seen += 1;
        return 'x'.repeat(1_000_000);
      },
    }));
    await expect(writeAnswer(rows)).rejects.toMatchObject({
      code: 'too_large',
      hint: expect.stringContaining('limit') as string,
    });
    expect(seen).toBeLessThanOrEqual(LIMITS.answer_bytes / 1_000_000 + 1);
  });
});

describe('a page', () => {
  it('[A14-3] ends early where its rows are large, and leads on', async () => {
    const rows = Array.from({ length: 40 }, (_, at) => row(at, 1_000_000));
    const list = listOf(rows);
    const seen: unknown[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 40; pages += 1) {
      const page = await writePage({ ask: list.ask, rows: 1_000, most: PAGE, sort: 'id', cursor });
      expect(page.body.length).toBeLessThanOrEqual(LIMITS.answer_page_bytes + 2);
      expect(JSON.parse(page.body)).toEqual(page.shown);
      seen.push(...page.shown);
      cursor = page.next;
      if (cursor === undefined) break;
    }
    expect(seen).toEqual(rows);
    expect(Math.max(...list.asked)).toBeLessThanOrEqual(LIMITS.answer_first_rows);
  });

  it('[A14-3] has one row at least', async () => {
    const list = listOf([row(0, LIMITS.answer_page_bytes + 1), row(1, 10)]);
    const first = await writePage({ ask: list.ask, rows: 50, most: PAGE, sort: 'id' });
    expect(first.shown).toHaveLength(1);
    const second = await writePage({ ask: list.ask, rows: 50, most: PAGE, sort: 'id', cursor: first.next });
    expect([second.shown.length, second.next]).toEqual([1, undefined]);
  });

  it('[A14-3] is never read in many rows at once', async () => {
    const list = listOf(Array.from({ length: 2_000 }, (_, at) => row(at, 10)));
    const page = await writePage({ ask: list.ask, rows: 1_000, most: PAGE, sort: 'id' });
    expect([page.shown.length, page.next]).toEqual([1_000, expect.any(String)]);
    expect(list.asked[0]).toBe(LIMITS.answer_first_rows);
    expect(Math.max(...list.asked)).toBe(LIMITS.answer_page_rows + 1);
    expect(list.read()).toBeLessThan(1_020);
  });

  it.each([1, 15, 16, 17, 50, 51])('has as many rows as there are, or are asked for: %d', async (count) => {
    const rows = Array.from({ length: count }, (_, at) => row(at, 10));
    const all = await writePage({ ask: listOf(rows).ask, rows: count, most: PAGE, sort: 'id' });
    expect([all.shown, all.next]).toEqual([rows, undefined]);
    const more = await writePage({
      ask: listOf([...rows, row(count, 1)]).ask,
      rows: count,
      most: PAGE,
      sort: 'id',
    });
    expect([more.shown, more.next]).toEqual([rows, expect.any(String)]);
  });

  it('[A14-3] of a list that is asked for as a whole is refused, before all of it is read', async () => {
    const list = listOf(Array.from({ length: 500 }, (_, at) => row(at, 1_000_000)));
    const whole = writePage({ ask: list.ask, rows: LIMITS.list_limit, most: WHOLE, sort: 'id' });
    await expect(whole).rejects.toMatchObject({ code: 'too_large' });
    expect(list.read()).toBeLessThan(40);
    expect(LIMITS.answer_list_rows).toBeGreaterThan(LIMITS.answer_page_rows);
  });
});

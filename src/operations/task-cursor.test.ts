import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTaskCursor, toTaskCursor } from './task-cursor.ts';

const ROW = {
  id: 'fg-1',
  priority: 2,
  created_at: '2026-02-10T09:00:00.000Z',
  updated_at: '2026-02-11T09:00:00.000Z',
};

describe('a cursor', () => {
  it('is the place of a row in its order', () => {
    const cursor = toTaskCursor({ ...ROW, title: 'left out' }, 'updated') ?? '';
    expect(cursor).toMatch(/^[\w-]+$/);
    expect(parseTaskCursor(cursor, 'updated')).toEqual({ ...ROW, critical_path: 0, unblocks: 0 });
    const impact = toTaskCursor({ ...ROW, impact: { critical_path: 3, unblocks: 2 } }, 'impact') ?? '';
    expect(parseTaskCursor(impact, 'impact')).toEqual({ ...ROW, critical_path: 3, unblocks: 2 });
  });

  it('is none for a row that has no such place', () => {
    for (const row of [null, undefined, 1, [], {}, { id: 'fg-1', reasons: [] }])
      expect(toTaskCursor(row)).toBeUndefined();
  });

  it('belongs to one order', () => {
    expect(() => parseTaskCursor(toTaskCursor(ROW, 'created') ?? '')).toThrow(
      'The cursor belongs to a list sorted by created, not by priority',
    );
  });

  it('refuses every other text with one error', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json().map((text) => Buffer.from(text).toString('base64url')),
          fc
            .array(fc.jsonValue())
            .map((parts) => Buffer.from(JSON.stringify(['priority', ...parts])).toString('base64url')),
        ),
        (text) => {
          expect(() => parseTaskCursor(text)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
        },
      ),
    );
  });
});

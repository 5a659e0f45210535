import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import type { JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { exportLines, fold } from '../../tests/support/fold-lines.ts';
import { seededRandom } from '../../tests/support/random.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { line } from './behaviour/open-behaviour.ts';

const MANY = LIMITS.fold_events + 400;
const TABLES = ['tasks', 'dependencies', 'unresolved_dependencies', 'unresolved_parents', 'deleted_tasks'];

describe('a fold of very many tasks', () => {
  it.each([1, 2, 3])(
    'leaves the rows that the same tasks one after the other leave (seed %i)',
    async (seed) => {
      await using bulk = await tempStore();
      await using single = await tempStore();
      const lines = sampleLines(seed);
      // Some are there before, with edges and parents that wait for what comes.
      const first = lines.filter((_, at) => at % 9 === 0);
      for (const temp of [bulk, single]) await fold(temp, first, { path: 'first' });
      const { created, deleted } = await fold(bulk, lines);
      expect(created + deleted).toBe(lines.length - first.length);
      for (let at = 0; at < lines.length; at += 200) {
        await fold(single, lines.slice(at, at + 200), { path: `part ${at}` });
      }
      for (const table of TABLES)
        expect([table, rowsOf(bulk, table)]).toEqual([table, rowsOf(single, table)]);
      expect(rowsOf(bulk, 'unresolved_dependencies').length).toBeGreaterThan(0);
      expect(rowsOf(bulk, 'unresolved_parents').length).toBeGreaterThan(0);
      expect(await exportLines(bulk)).toEqual(await exportLines(single));
      const lost = bulk.connect();
      expect(lost.prepare('PRAGMA foreign_key_check').all()).toEqual([]);
      lost[Symbol.dispose]();
    },
  );

  it('keeps the triggers', async () => {
    await using temp = await tempStore();
    const triggers = (): unknown[] => rowsOf(temp, "sqlite_schema WHERE type = 'trigger'");
    const before = triggers();
    expect(before.length).toBeGreaterThan(5);
    await fold(temp, sampleLines(4));
    expect(triggers().map(nameOf).sort()).toEqual(before.map(nameOf).sort());
  });
});

/** Tasks that wait for each other, have parents, are closed, or are not here at all. */
function sampleLines(seed: number): string[] {
  const random = seededRandom(seed);
  const id = (i: number): string => `fg-${i.toString(36).padStart(4, '0')}`;
  return Array.from({ length: MANY }, (_, i) => {
    const other = random.oneIn(20) ? `xx-${random.below(50)}` : id(random.below(MANY));
    const parent = random.oneIn(20) ? 'fg-zzzz' : id(random.below(i + 1));
    const closed = random.oneIn(3);
    const json = line(id(i), {
      title: `Task ${i}`,
      ...(closed && { status: 'closed', close_reason: 'done', closed_at: '2026-01-01T00:00:00.000Z' }),
      ...(random.oneIn(2) && other !== id(i) && { dependencies: [{ id: other, type: 'blocks' }] }),
      ...(random.oneIn(2) && parent !== id(i) && { parent_id: parent }),
      ...(random.oneIn(40) && { deleted_at: '2026-01-01T00:00:00.000Z' }),
    });
    // As Forge writes it, except for a few.
    return random.oneIn(10) ? JSON.stringify(json) : encodeRecord(decodeRecord(json as JsonObject));
  });
}

function rowsOf(temp: TempStore, table: string): unknown[] {
  using db = temp.connect();
  const rows = db.prepare(`SELECT * FROM ${table}`).all() as object[];
  return rows.map((row) => JSON.stringify(row)).sort();
}

function nameOf(row: unknown): string {
  return (JSON.parse(row as string) as { name: string }).name;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord } from '#domain/record-codec.ts';
import type { JsonObject } from '#kernel/json.ts';
import { compareText } from '#kernel/text.ts';
import { exportLines, fold } from '../../tests/support/fold-lines.ts';
import { history, replay } from '../../tests/support/record-steps.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { Database } from './sqlite/database.ts';
import { lineOf } from './sqlite/row-to-line.ts';

/** As many tasks with random lives. Text goes into SQLite as UTF-8, in which half of a pair cannot be written. */
function sampleLines(count: number, seed: number): string[] {
  return fc.sample(history, { numRuns: count, seed }).map((one, at) => {
    const record = replay(one).last;
    const comments = [...record.comments.values()].map((comment) => ({
      ...comment,
      id: `${comment.id}-${at}`,
    }));
    const id = `fg-${at.toString(36).padStart(4, '0')}`;
    const own = { ...record, id, comments: new Map(comments.map((comment) => [comment.id, comment])) };
    const text = encodeRecord(own).replaceAll('\\ud800', '');
    return encodeRecord(decodeRecord(JSON.parse(text) as JsonObject));
  });
}

describe('the lines of an export', () => {
  it('are those of the codec, whatever a task went through', async () => {
    await using temp = await tempStore();
    const lines = sampleLines(400, 7);
    await fold(temp, lines);
    const exported = await exportLines(temp);
    expect(exported).toEqual(lines.sort(compareText));
    const byCodec = await linesByCodec(temp);
    expect(exported.filter((line) => byCodec.has(idOf(line)))).toEqual([...byCodec.values()]);
  });

  it.each([
    ['UPDATE tasks SET labels = \'["z", "a","z"]\'', '"labels":["a","z"]'],
    ['UPDATE tasks SET metadata = \'{"b": {"y":1,"x":2}, "a" : 1}\'', '"metadata":{"a":1,"b":{"x":2,"y":1}}'],
    ['UPDATE tasks SET title = \'By hand "quoted"\'', '"title":"By hand \\"quoted\\""'],
    ["UPDATE tasks SET updated_at = '2026-02-10 10:00:00'", '"updated_at":"2026-'],
    ["UPDATE tasks SET status = 'closed', state = 'done'", '"status":"closed"'],
    ['UPDATE tasks SET digest = NULL', '"id":"fg-'],
    ['UPDATE tasks SET digest = digest + 1', '"id":"fg-'],
    ["INSERT INTO dependencies SELECT min(id), max(id), 'related' FROM tasks", '"type":"related"'],
    [
      "INSERT INTO comments (id, task_id, author, body, created_at) SELECT 'c-0', min(id), 'ann', 'Hi', '2026-02-10T08:00:00.000Z' FROM tasks",
      '"body":"Hi"',
    ],
  ])('are canonical after %s', async (sql, shown) => {
    await using temp = await tempStore();
    await fold(temp, sampleLines(40, 11));
    await temp.reopen(() => {
      using db = temp.connect();
      db.exec(sql);
    });
    const byCodec = await linesByCodec(temp);
    const exported = (await exportLines(temp)).filter((line) => byCodec.has(idOf(line)));
    expect(exported.some((line) => line.includes(shown))).toBe(true);
    expect(exported).toEqual([...byCodec.values()]);
    for (const line of exported)
      expect(encodeRecord(decodeRecord(JSON.parse(line) as JsonObject))).toBe(line);
  });
});

/** Of every task that is not deleted. */
async function linesByCodec(temp: TempStore): Promise<Map<string, string>> {
  const db = new Database(temp.database, { lock_timeout_ms: 1_000 });
  try {
    const ids = db.all('SELECT id FROM tasks ORDER BY id').map((row) => row.id as string);
    return new Map(ids.map((id) => [id, lineOf(db, id)]));
  } finally {
    db.close();
  }
}

function idOf(line: string): string {
  return (JSON.parse(line) as { id: string }).id;
}

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord, listDependencies } from '#domain/record-codec.ts';
import type { TaskRecord } from '#domain/task-record.ts';
import { checkMetadata } from '#domain/metadata.ts';
import type { Json } from '#kernel/json.ts';
import { NOW } from '../../../tests/support/tracker-tasks.ts';
import { tempFolder } from '../../../tests/support/temp-repo.ts';
import { readTrackerTasks, type Tracker } from '../read-tracker-tasks.ts';
import { BACKLOG_FIELDS, BEADS_FIELDS, TASK_MASTER_FIELDS } from './field-tables.ts';

const TIME = '2026-01-01T00:00:00Z';

/** Few ids, so that entries meet; any value in any field, sensible ones as often as not. */
const ID = fc.constantFrom('1', '2', '3', '4', 'fg-aaaa', '__proto__', ' ', 'x y');
const VALUE = fc.oneof(
  ID,
  fc.constantFrom('', 'open', 'done', 'high', TIME, '\u0000', '\ud800', 'a\nb', null, 0, 1e300, []),
  fc.jsonValue(),
);
const EDGES = fc.array(
  fc.oneof(
    ID,
    fc.record({
      depends_on_id: ID,
      type: fc.constantFrom('blocks', 'blocks', 'parent-child', 'related'),
      created_at: VALUE,
    }),
  ),
  { maxLength: 4 },
);

function entry(fields: object): fc.Arbitrary<Record<string, unknown>> {
  const names = fc.constantFrom(...Object.keys(fields), '__proto__', 'constructor', 'other');
  return fc
    .tuple(ID, EDGES, fc.array(fc.tuple(names, VALUE), { maxLength: 6 }))
    .map(([id, dependencies, pairs]) =>
      Object.fromEntries([['dependencies', dependencies], ...pairs, ['id', id]]),
    );
}

/** Reads a file with such entries twice and checks what a store relies on. */
async function check(tool: Tracker, name: string, text: string): Promise<void> {
  await using folder = await tempFolder();
  await folder.write(name, text);
  const read = (): ReturnType<typeof readTrackerTasks> =>
    readTrackerTasks(tool, folder.path, { idPrefix: 'fg', now: NOW });
  const { records } = read();
  const lines = records.map((record) => encodeRecord(record));
  expect(read().records.map((record) => encodeRecord(record))).toEqual(lines);
  expect(lines.map((line) => encodeRecord(decodeRecord(JSON.parse(line) as Json)))).toEqual(lines);
  expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
  for (const record of records) {
    checkMetadata((JSON.parse(encodeRecord(record)) as { metadata: Record<string, unknown> }).metadata);
  }
  expect(hasCycle(records)).toBe(false);
}

function hasCycle(records: readonly TaskRecord[]): boolean {
  const waiting = new Map<string, string[]>(records.map(({ id }) => [id, []]));
  for (const record of records) {
    for (const { id, type } of listDependencies(record))
      if (type === 'blocks') waiting.get(id)?.push(record.id);
  }
  const order = [...waiting.keys()];
  const seen = new Set<string>();
  for (let found = true; found;) {
    found = false;
    for (const id of order) {
      if (seen.has(id) || !(waiting.get(id) ?? []).every((other) => seen.has(other))) continue;
      seen.add(id);
      found = true;
    }
  }
  return seen.size < waiting.size;
}

describe('any input', () => {
  it('sees a cycle where there is one', () => {
    const task = (id: string, by: string): TaskRecord =>
      decodeRecord({
        id,
        created_at: TIME,
        created_by: 'x',
        status: 'open',
        dependencies: [{ id: by, type: 'blocks' }],
      });
    expect(hasCycle([task('fg-aaaa', 'fg-bbbb'), task('fg-bbbb', 'fg-aaaa')])).toBe(true);
    expect(hasCycle([task('fg-aaaa', 'fg-bbbb'), task('fg-bbbb', 'fg-cccc')])).toBe(false);
  });

  it('of beads gives records that hold', async () => {
    const file = fc.array(fc.oneof({ weight: 6, arbitrary: entry(BEADS_FIELDS) }, fc.jsonValue()), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(file, async (lines) => {
        await check('beads', 'issues.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
      }),
      { numRuns: 150 },
    );
  });

  it('of task-master gives records that hold', async () => {
    const task = fc
      .tuple(entry(TASK_MASTER_FIELDS), fc.array(entry(TASK_MASTER_FIELDS), { maxLength: 3 }))
      .map(([one, subtasks]) => ({ ...one, subtasks }));
    const tag = fc.record({
      tasks: fc.array(fc.oneof(task, fc.jsonValue()), { maxLength: 5 }),
      metadata: VALUE,
    });
    await fc.assert(
      fc.asyncProperty(tag, tag, async (master, other) => {
        await check('task-master', 'tasks.json', JSON.stringify({ master, other }));
      }),
      { numRuns: 150 },
    );
  });

  it('of Backlog.md gives records that hold', async () => {
    const text = fc.oneof(ID, fc.constantFrom(`'${TIME}'`, '[1, 2]', '>-', 'high', 'Done'), fc.string());
    const line = fc
      .tuple(fc.constantFrom(...Object.keys(BACKLOG_FIELDS), '__proto__', '- 1'), text)
      .map(([key, value]) => `${key}: ${value}`);
    const file = fc.tuple(ID, fc.array(line, { maxLength: 8 }), fc.string());
    await fc.assert(
      fc.asyncProperty(file, async ([id, lines, body]) => {
        await check('backlog-md', 'tasks/a.md', `---\n${lines.join('\n')}\nid: ${id}\n---\n${body}`);
      }),
      { numRuns: 150 },
    );
  });
});

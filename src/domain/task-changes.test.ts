import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { findDeflations } from '../../tests/support/inflation.ts';
import { emptyRecord } from '../../tests/support/old-deletion.ts';
import {
  carryOut,
  findIllegality,
  history,
  replay,
  type Happening,
} from '../../tests/support/record-steps.ts';
import { compareLives, joinRecords } from './join-records.ts';
import { decodeRecord, encodeRecord, listLabels } from './record-codec.ts';
import {
  claimRecord,
  closeRecord,
  commentRecord,
  deleteRecord,
  editRecord,
  hasContent,
  moveRecord,
  newRecord,
  reopenRecord,
  restoreRecord,
  type Edit,
} from './task-changes.ts';
import { fieldValue, isDeleted, lastStamp, type Life, type TaskRecord } from './task-record.ts';
import { toTask } from './to-task.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
/** Seconds on an idle machine; a busy one must not fail it. */
const LONG = { timeout: 60_000 };

describe('every operation', () => {
  it('gives what it changes a later stamp, leaves every other stamp alone and loses nothing', LONG, () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(history, (story) => {
        const { happenings } = replay(story);
        expect(happenings.flatMap(judge)).toEqual([]);
        for (const { step, before, after } of happenings) if (after !== before) seen.add(step.do);
      }),
      { numRuns: 5_000 },
    );
    // A checker that is fed nothing passes too.
    const all = ['claim', 'close', 'comment', 'delete', 'edit', 'release', 'reopen', 'request', 'restore'];
    expect([...seen].sort()).toEqual(all);
  });

  it('leaves no illegal combination of status, owner and closing behind, in any order', LONG, () => {
    fc.assert(
      fc.property(history, (story) => {
        expect(replay(story).happenings.flatMap(({ after }) => findIllegality(after) ?? [])).toEqual([]);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('an edit', () => {
  const PARTS = {
    fields: new Map<string, Json>([['title', 'y']]),
    labels: new Map([['ui', { value: true }]]),
    dependencies: new Map([['fg-b:blocks', { value: true }]]),
    metadata: new Map([['k', { value: 1 }]]),
    conflicts: new Map([['title@1', { value: 'x' }]]),
  };
  const names = Object.keys(PARTS) as (keyof typeof PARTS)[];
  const pairs = names.flatMap((one) => names.filter((two) => two > one).map((two) => [one, two] as const));

  it.each(pairs)('of one of its %s and one of its %s changes both', (one, two) => {
    const born = newTask();
    const edited = editRecord(born, { [one]: PARTS[one], [two]: PARTS[two] }, NOW + 5);
    for (const name of [one, two]) expect(edited[name]).not.toEqual(born[name]);
  });

  it('that changes nothing leaves the task as it is', () => {
    const born = newTask();
    const fields = new Map([['title', fieldValue(born, 'title')]]);
    expect(editRecord(born, { fields }, NOW + 5)).toBe(born);
  });
});

describe('the checker of stamps', () => {
  const born = newTask();
  const titled = editRecord(born, { fields: new Map([['title', 'y']]) }, NOW + 1);
  const labelled = editRecord(born, { labels: new Map([['ui', { value: true }]]) }, NOW + 5);
  const claimed = claimRecord(born, 'ann', NOW + 5);
  const released = moveRecord(claimed, { status: 'open', state: 'todo', assignee: null }, NOW + 6);
  const takenOver = claimRecord(claimed, 'bob', NOW + 9);
  const closed = closeRecord(claimed, 'done', NOW + 6);
  const said = commentRecord(born, comment('c-1'));
  const life = (record: TaskRecord, change: Partial<Life>): TaskRecord => ({
    ...record,
    life: { ...record.life, ...change },
  });
  const field = (record: TaskRecord, name: string, value: Json, stamp: number): TaskRecord => ({
    ...record,
    fields: new Map([...record.fields, [name, { value, stamp }]]),
  });

  const label = (record: TaskRecord, value: Json | undefined, stamp: number): TaskRecord => ({
    ...record,
    labels: { ...record.labels, elements: new Map([...record.labels.elements, ['ui', { value, stamp }]]) },
  });

  it.each<[string, TaskRecord, TaskRecord]>([
    ['an edit', born, editRecord(born, { fields: new Map([['title', 'y']]) }, NOW)],
    ['a claim', born, claimed],
    ['a release', claimed, released],
    ['a close', claimed, closed],
    ['a comment', born, said],
    ['nothing', born, born],
  ])('passes %s as the code does it', (_name, before, after) => {
    expect(findDeflations(before, after)).toEqual([]);
  });

  it.each<[string, TaskRecord, TaskRecord, string]>([
    ['an edit that reuses the old stamp', born, field(born, 'title', 'y', NOW), 'field title changed, but'],
    ['an edit with an earlier stamp', born, field(born, 'title', 'y', NOW - 1), 'field title changed, but'],
    [
      'an edit that stamps another field',
      titled,
      field(field(titled, 'title', 'z', NOW + 2), 'type', 'task', NOW + 2),
      'field type did not change, but',
    ],
    [
      'a stamp that rises for nothing',
      born,
      field(born, 'title', 'x', NOW + 1),
      'field title did not change, but',
    ],
    ['a stamp that falls', titled, field(titled, 'title', 'y', NOW), 'field title did not change, but'],
    [
      'a field that is forgotten',
      born,
      { ...born, fields: new Map([...born.fields].slice(1)) },
      'field title changed, but',
    ],
    ['an unknown key that vanishes', field(born, 'sprint', 7, NOW + 1), born, 'field sprint changed, but'],
    [
      'a removed label that leaves no trace',
      labelled,
      { ...labelled, labels: born.labels },
      'labels ui changed, but',
    ],
    ['a label added with the stamp of the floor', born, label(born, true, NOW), 'labels ui changed, but'],
    [
      'a label removed with its old stamp',
      labelled,
      label(labelled, undefined, NOW + 5),
      'labels ui changed, but',
    ],
    [
      'a floor that falls',
      born,
      { ...labelled, labels: { ...labelled.labels, floor: NOW - 1 } },
      'labels did not change, but',
    ],
    [
      'a floor that rises for nothing',
      born,
      { ...labelled, metadata: { ...born.metadata, floor: NOW + 5 } },
      'metadata did not change, but',
    ],
    ['a comment that is lost', said, { ...said, comments: new Map() }, 'comment c-1 was lost'],
    [
      'a comment that is rewritten',
      said,
      { ...said, comments: new Map([['c-1', { ...comment('c-1'), body: 'No' }]]) },
      'comment c-1 was lost',
    ],
    ['a claim that does not raise n', born, life(claimed, { n: 0 }), 'a claim took n from 0 to 0'],
    ['a claim that raises n twice', born, life(claimed, { n: 2 }), 'a claim took n from 0 to 2'],
    [
      'a takeover that keeps n',
      claimed,
      life(claimed, { assignee: 'bob', written: NOW + 9 }),
      'a takeover took n from 1 to 1',
    ],
    [
      'a takeover that began when the first claim did',
      claimed,
      life(takenOver, { began: NOW + 5 }),
      'a takeover began before',
    ],
    ['a claim that begins in the future', born, life(claimed, { began: NOW + 6 }), 'a claim began after'],
    [
      'a release that raises n',
      claimed,
      life(released, { n: 2, began: NOW + 6 }),
      'a move took n from 1 to 2',
    ],
    [
      'a release that begins anew',
      claimed,
      life(released, { began: NOW + 6 }),
      'a move took n from 1 to 1 and began',
    ],
    [
      'a release that is written no later',
      claimed,
      life(released, { written: NOW + 5 }),
      'life changed, but was written',
    ],
    [
      'a release that an older copy undoes',
      claimed,
      life(released, { n: 0, began: 0 }),
      'the old one outranks it',
    ],
    ['a close that keeps n', claimed, life(closed, { n: 1, began: NOW + 5 }), 'a close took n from 1 to 1'],
    [
      'a reopen that keeps n',
      closed,
      life(reopenRecord(closed, null, NOW + 9), { n: 2 }),
      'a reopen took n from 2 to 2',
    ],
    [
      'a claim that changes nothing but its stamps',
      claimed,
      life(claimed, { n: 2, began: NOW + 9, written: NOW + 9 }),
      'life did not change, but',
    ],
    ['an identity that changes', born, { ...labelled, created_by: 'bob' }, 'created_by changed'],
    ['a copy without a change', born, { ...born }, 'nothing changed, but'],
  ])('catches %s', (_name, before, after, sentence) => {
    expect(findDeflations(before, after).join('\n')).toContain(sentence);
  });

  it('allows a deletion of earlier versions to write every field, but not with an earlier stamp', () => {
    const deleted = emptyRecord(labelled, NOW);
    expect(findDeflations(labelled, deleted, { writesAll: true })).toEqual([]);
    expect(
      findDeflations(
        labelled,
        { ...deleted, metadata: { ...deleted.metadata, floor: NOW - 1 } },
        { writesAll: true },
      ),
    ).not.toEqual([]);
    expect(
      findDeflations(
        labelled,
        { ...deleted, labels: { ...deleted.labels, floor: NOW + 5 } },
        { writesAll: true },
      ),
    ).not.toEqual([]);
  });
});

describe('the checker of legality', () => {
  it.each<[string, Partial<Life>]>([
    ['in progress without an owner', { status: 'in_progress', assignee: null }],
    ['open with closed_at', { closed_at: toIso(NOW) }],
    ['open with close_reason', { close_reason: 'done' }],
    ['in_progress with closed_at', { status: 'in_progress', assignee: 'ann', closed_at: toIso(NOW) }],
    ['closed without closed_at', { status: 'closed', close_reason: 'done' }],
    ['closed without close_reason', { status: 'closed', closed_at: toIso(NOW) }],
  ])('catches %s', (name, change) => {
    const record = newTask();
    expect(findIllegality({ ...record, life: { ...record.life, ...change } })).toBe(name);
    expect(findIllegality(record)).toBeUndefined();
  });
});

describe('an operation that changes nothing gives back the very same record', () => {
  const record = editRecord(
    newTask(),
    {
      labels: new Map([
        ['ui', { value: true }],
        ['gone', { value: true }],
      ]),
      metadata: new Map([['a', { value: { x: 1, y: [2] } }]]),
    },
    NOW,
  );
  const claimed = claimRecord(record, 'ann', NOW);

  it.each<[string, Edit]>([
    ['no edit at all', {}],
    ['empty maps', { fields: new Map(), labels: new Map(), dependencies: new Map(), metadata: new Map() }],
    ['the title it has', { fields: new Map([['title', 'x']]) }],
    [
      'the default of a field',
      {
        fields: new Map<string, Json>([
          ['priority', 2],
          ['parent_id', null],
        ]),
      },
    ],
    ['null for an unknown key it does not have', { fields: new Map([['sprint', null]]) }],
    ['a label it has', { labels: new Map([['ui', { value: true }]]) }],
    ['removing a label it does not have', { labels: new Map([['constructor', { value: undefined }]]) }],
    [
      'the same metadata in another order of keys',
      { metadata: new Map([['a', { value: { y: [2], x: 1 } }]]) },
    ],
    [
      'removing a dependency it does not have',
      { dependencies: new Map([['fg-b2c1:blocks', { value: undefined }]]) },
    ],
  ])('edit: %s', (_name, edit) => {
    expect(editRecord(record, edit, NOW + 9)).toBe(record);
  });

  it('claim by the owner', () => {
    expect(claimRecord(claimed, 'ann', NOW + 9)).toBe(claimed);
  });

  it('close of a closed task, with whatever reason', () => {
    const closed = closeRecord(claimed, 'done', NOW);
    expect(closeRecord(closed, 'duplicate', NOW + 9)).toBe(closed);
  });

  it('reopen of an open task', () => {
    expect(reopenRecord(record, null, NOW + 9)).toBe(record);
  });

  it('move to where it is', () => {
    expect(
      moveRecord(claimed, { status: 'in_progress', state: 'in_progress', assignee: 'ann' }, NOW + 9),
    ).toBe(claimed);
  });

  it('a comment that is there already', () => {
    const said = commentRecord(record, comment('c-1'));
    expect(commentRecord(said, { ...comment('c-1'), body: 'Something else' })).toBe(said);
  });

  it('restore of what is not deleted and did not change', () => {
    expect(restoreRecord(record, record, NOW + 9)).toBe(record);
  });
});

describe('stamps', () => {
  it('are the clock when it runs ahead, and one more than what they overwrite when it does not', () => {
    const title = (record: TaskRecord, value: string, now: number): TaskRecord =>
      editRecord(record, { fields: new Map([['title', value]]) }, now);
    const stampOf = (record: TaskRecord): number | undefined => record.fields.get('title')?.stamp;
    const ahead = title(newTask(), 'a', NOW + 1_000);
    const still = title(ahead, 'b', NOW + 1_000);
    const back = title(still, 'c', NOW - 86_400_000);
    expect([ahead, still, back].map(stampOf)).toEqual([NOW + 1_000, NOW + 1_001, NOW + 1_002]);
  });

  it('are one for everything that an edit changes', () => {
    const record = editRecord(newTask(), { fields: new Map([['title', 'a']]) }, NOW + 50);
    const edited = editRecord(
      record,
      {
        fields: new Map<string, Json>([
          ['title', 'b'],
          ['priority', 0],
        ]),
        labels: new Map([['ui', { value: true }]]),
      },
      NOW,
    );
    expect(edited.fields.get('title')?.stamp).toBe(NOW + 51);
    expect(edited.fields.get('priority')?.stamp).toBe(NOW + 51);
    expect(edited.labels.elements.get('ui')?.stamp).toBe(NOW + 51);
    expect(edited.fields.get('type')?.stamp).toBe(NOW);
    expect(edited.metadata).toBe(record.metadata);
  });

  it('of a new task are all its creation', () => {
    const record = newTask();
    expect(lastStamp(record)).toBe(NOW);
    expect(record.life).toEqual({
      status: 'open',
      state: 'todo',
      assignee: null,
      close_reason: null,
      closed_at: null,
      n: 0,
      began: 0,
      written: NOW,
    });
  });

  it('of a closing are its closed_at, also when the clock went back', () => {
    const closed = closeRecord(claimRecord(newTask(), 'ann', NOW + 60_000), 'done', NOW - 5);
    expect(closed.life).toMatchObject({ n: 2, written: NOW + 60_001, closed_at: toIso(NOW + 60_001) });
  });
});

describe('a life', () => {
  it('counts claim, takeover, close and reopen, and nothing else', () => {
    let record = newTask();
    const counts: number[] = [];
    const next = (after: TaskRecord): void => {
      expect(compareLives(after.life, record.life)).toBeGreaterThan(0);
      record = after;
      counts.push(record.life.n);
    };
    next(moveRecord(record, { status: 'open', state: 'backlog', assignee: null }, NOW));
    next(moveRecord(record, { status: 'open', state: 'todo', assignee: 'ann' }, NOW));
    next(claimRecord(record, 'ann', NOW));
    next(claimRecord(record, 'bob', NOW));
    next(moveRecord(record, { status: 'in_progress', state: 'review', assignee: 'bob' }, NOW));
    next(moveRecord(record, { status: 'open', state: 'todo', assignee: null }, NOW));
    next(closeRecord(record, 'wontfix', NOW));
    next(moveRecord(record, { status: 'closed', state: 'cancelled', assignee: 'ann' }, NOW));
    next(reopenRecord(record, null, NOW));
    expect(counts).toEqual([0, 0, 1, 2, 2, 2, 3, 3, 4]);
  });

  it('is untouched by edits, and edits are untouched by it', () => {
    const record = newTask();
    expect(editRecord(record, { fields: new Map([['title', 'y']]) }, NOW).life).toBe(record.life);
    expect(claimRecord(record, 'ann', NOW).fields).toBe(record.fields);
  });

  it('ends as cancelled when the reason says so', () => {
    expect(closeRecord(newTask(), 'Duplicate of fg-b2c1', NOW).life.state).toBe('cancelled');
    expect(closeRecord(newTask(), 'Implemented', NOW).life.state).toBe('done');
    expect(closeRecord(newTask(), 'x', NOW).life.assignee).toBeNull();
  });
});

describe('M3 at the last moment that can be counted', () => {
  const last = newRecord(
    {
      id: 'fg-late',
      created_by: 'ann',
      fields: { title: 'Late' },
      assignee: null,
      state: 'todo',
      labels: [],
      dependencies: [],
      metadata: new Map(),
    },
    LIMITS.stamp_max_ms - 1,
  );
  const now = Date.UTC(2026, 1, 10);

  it.each<[string, () => TaskRecord]>([
    ['an edit', () => editRecord(last, { fields: new Map([['title', 'x']]) }, now)],
    ['a label', () => editRecord(last, { labels: new Map([['x', { value: true }]]) }, now)],
    ['a claim', () => claimRecord(last, 'ann', now)],
    ['a close', () => closeRecord(last, 'done', now)],
    ['a move', () => moveRecord(last, { status: 'open', state: 'backlog', assignee: null }, now)],
    ['a deletion', () => deleteRecord(last, now)],
  ])('%s is refused, because no line could hold it', (_, act) => {
    expect(act).toThrow(/last moment that can be counted/);
  });
});

describe('delete and restore', () => {
  const edited = editRecord(
    newTask(),
    {
      fields: new Map<string, Json>([
        ['description', 'Long'],
        ['priority', 0],
        ['sprint', 7],
      ]),
      labels: new Map([
        ['ui', { value: true }],
        ['old', { value: true }],
      ]),
      dependencies: new Map([['fg-b2c1:blocks', { value: true }]]),
      metadata: new Map([['__proto__', { value: 1 }]]),
    },
    NOW + 100,
  );
  const content = commentRecord(
    editRecord(edited, { labels: new Map([['old', { value: undefined }]]) }, NOW),
    comment('c-1'),
  );

  it('says that the task is deleted, later than all that is known, and touches nothing else', () => {
    const deleted = deleteRecord(content, NOW);
    expect(isDeleted(deleted)).toBe(true);
    const stamp = NOW + 102;
    const { fields, ...others } = deleted;
    const { fields: before, ...rest } = content;
    expect(others).toEqual(rest);
    expect([...fields]).toEqual([...before, ['deleted_at', { value: toIso(stamp), stamp }]]);
  });

  it('is taken back by a restore, and nothing else is', () => {
    const restored = restoreRecord(deleteRecord(content, NOW), content, NOW + 900);
    const { fields, ...others } = restored;
    const { fields: before, ...rest } = content;
    expect(others).toEqual(rest);
    expect([...fields]).toEqual([...before, ['deleted_at', { value: null, stamp: NOW + 900 }]]);
  });

  it('leave all that another copy wrote meanwhile, whenever the copies meet', LONG, () => {
    let written = 0;
    fc.assert(
      fc.property(history, history, (past, meanwhile) => {
        const { last } = replay(past);
        const other = meanwhile.steps.reduce(
          (record, step, number) =>
            step.do === 'delete' ? record : carryOut(record, step, { now: NOW + number, undo: last, number }),
          last,
        );
        if (other !== last && !isDeleted(last)) written += 1;
        const start = isDeleted(last) ? restoreRecord(last, last, NOW) : last;
        const deleted = deleteRecord(start, lastStamp(other) + 5);
        const restored = restoreRecord(deleted, start, lastStamp(other) + 9);
        const expected = without(joinRecords(start, other));
        expect(without(joinRecords(restored, other))).toEqual(expected);
        expect(without(joinRecords(other, restored))).toEqual(expected);
        // Also where the other copy heard of the deletion first, and was beneath it for a while.
        expect(without(joinRecords(joinRecords(other, deleted), restored))).toEqual(expected);
        expect(isDeleted(joinRecords(restored, other))).toBe(false);
      }),
    );
    expect(written).toBeGreaterThan(10);
  });

  it('brings back what a deletion of earlier versions emptied, but for what came after it', () => {
    const emptied = emptyRecord(content, NOW);
    const later = editRecord(emptied, { fields: new Map([['title', 'Later']]) }, NOW + 500);
    const restored = restoreRecord(later, content, NOW + 900);
    expect(isDeleted(restored)).toBe(false);
    expect(fieldValue(restored, 'title')).toBe('Later');
    expect(fieldValue(restored, 'description')).toBe('Long');
    expect(fieldValue(restored, 'sprint')).toBe(7);
    expect(listLabels(restored)).toEqual(['ui']);
    expect(findDeflations(later, restored)).toEqual([]);
    expect([hasContent(emptied), hasContent(later), hasContent(deleteRecord(content, NOW))]).toEqual([
      false,
      true,
      true,
    ]);
  });

  it('[T14-1] leaves what was edited after the deletion, and brings the rest back', () => {
    const edits = {
      fields: new Map<string, Json>([['title', 'Edited there']]),
      labels: new Map([
        ['ui', { value: undefined }],
        ['new', { value: true as const }],
      ]),
      metadata: new Map([['__proto__', { value: 2 }]]),
    };
    const later = joinRecords(deleteRecord(content, NOW), editRecord(content, edits, NOW + 500));
    expect(isDeleted(later)).toBe(true);
    const restored = restoreRecord(later, content, NOW + 900);
    expect(isDeleted(restored)).toBe(false);
    expect(fieldValue(restored, 'title')).toBe('Edited there');
    expect(fieldValue(restored, 'description')).toBe('Long');
    expect(fieldValue(restored, 'priority')).toBe(0);
    expect(listLabels(restored)).toEqual(['new']);
    expect(restored.metadata.elements.get('__proto__')?.value).toBe(2);
  });

  it('brings the content back, also through the lines that carry both', () => {
    const through = (record: TaskRecord): TaskRecord =>
      decodeRecord(JSON.parse(encodeRecord(record)) as Json);
    const restored = restoreRecord(through(deleteRecord(content, NOW)), through(content), NOW);
    expect(isDeleted(restored)).toBe(false);
    expect(fieldValue(restored, 'sprint')).toBe(7);
    expect(listLabels(restored)).toEqual(['ui']);
    const { updated_at: _before, ...task } = toTask(content, 1);
    expect(toTask(restored, 1)).toMatchObject(task);
    expect(findDeflations(deleteRecord(content, NOW), restored)).toEqual([]);
  });

  it('can be done again and again while the clock stands still', () => {
    let record = content;
    for (let i = 0; i < 5; i += 1) {
      const deleted = deleteRecord(record, NOW);
      expect(findDeflations(record, deleted)).toEqual([]);
      record = restoreRecord(deleted, content, NOW);
      expect(findDeflations(deleted, record)).toEqual([]);
    }
    expect(listLabels(record)).toEqual(['ui']);
  });
});

describe('a task with very many elements', () => {
  it('is edited and deleted like any other', LONG, () => {
    // Near what 1 MiB of metadata can hold, and removed elements stay as stamps; more than a call takes arguments.
    const edits = new Map(Array.from({ length: 150_000 }, (_, i) => [i.toString(36), { value: 1 }] as const));
    const deleted = deleteRecord(editRecord(newTask(), { metadata: edits }, NOW), NOW);
    expect(deleted.fields.get('deleted_at')?.stamp).toBe(NOW + 2);
    expect(deleted.metadata.elements.size).toBe(150_000);
  });
});

function judge({ before, after }: Happening): string[] {
  return findDeflations(before, after);
}

function without(record: TaskRecord): TaskRecord {
  const fields = new Map(record.fields);
  fields.delete('deleted_at');
  return { ...record, fields: new Map([...fields].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function newTask(): TaskRecord {
  return newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      fields: { title: 'x' },
      assignee: null,
      state: 'todo',
      labels: [],
      dependencies: [],
      metadata: new Map(),
    },
    NOW,
  );
}

function comment(id: string): {
  id: string;
  author: string;
  body: string;
  reply_to: null;
  created_at: string;
} {
  return { id, author: 'ann', body: 'Hello', reply_to: null, created_at: toIso(NOW + 1) };
}

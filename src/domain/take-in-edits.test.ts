import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { lineOf, type Line } from '../../tests/support/foreign-lines.ts';
import { FORGE } from '../../tests/support/join-world.ts';
import { editedLine, writtenLine } from './edited-line.ts';
import { joinCopies } from './join-copies.ts';
import { joinHands, joinRecords } from './join-records.ts';
import { keepLostValues } from './lost-values.ts';
import { decodeRecord, encodeRecord, listDependencies, listLabels } from './record-codec.ts';
import { digestRecord } from './record-digests.ts';
import { findUnseen } from './replaced-values.ts';
import { takeInEdits, type TakenIn } from './take-in-edits.ts';
import { claimRecord, closeRecord, editRecord, newRecord } from './task-changes.ts';
import { fieldValue, type TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const LATER = NOW + 3_600_000;

type Change = (line: Line) => void;

/** Two edits one after the other, and what the task shows before, between and after. */
const TWICE: readonly [string, Change, Change, (task: TaskRecord) => Json, Json][] = [
  ['a title', set({ title: 'two' }), set({ title: 'three' }), field('title'), ['one', 'two', 'three']],
  [
    'a text emptied',
    set({ description: 'x' }),
    set({ description: '' }),
    field('description'),
    ['d', 'x', ''],
  ],
  ['a priority', set({ priority: 0 }), set({ priority: 4 }), field('priority'), [2, 0, 4]],
  ['a type', set({ type: 'bug' }), set({ type: 'epic' }), field('type'), ['task', 'bug', 'epic']],
  [
    'a parent',
    set({ parent_id: 'fg-a' }),
    set({ parent_id: null }),
    field('parent_id'),
    ['fg-p', 'fg-a', null],
  ],
  ['an issue', set({ github_issue: 3 }), set({ github_issue: null }), field('github_issue'), [7, 3, null]],
  ['an unknown key', set({ sprint: 5 }), unset('sprint'), field('sprint'), [4, 5, null]],
  ['a key that came', set({ mood: 1 }), set({ mood: 2 }), field('mood'), [null, 1, 2]],
  ['a key that came and went', set({ mood: 1 }), unset('mood'), field('mood'), [null, 1, null]],
  ['a label', set({ labels: ['a', 'b'] }), set({ labels: ['b'] }), listLabels, [['a'], ['a', 'b'], ['b']]],
  ['a label taken out', set({ labels: [] }), set({ labels: ['z'] }), listLabels, [['a'], [], ['z']]],
  [
    'an edge',
    set({ dependencies: [] }),
    set({ dependencies: [{ id: 'fg-y', type: 'related' }] }),
    listDependencies,
    [[{ id: 'fg-x', type: 'blocks' }], [], [{ id: 'fg-y', type: 'related' }]],
  ],
  ['metadata', set({ metadata: { k: 2 } }), set({ metadata: {} }), metadata, [{ k: 1 }, { k: 2 }, {}]],
  [
    'a status',
    set({ status: 'closed', close_reason: 'done' }),
    set({ status: 'open' }),
    ({ life }) => life.status,
    ['in_progress', 'closed', 'open'],
  ],
  ['an owner', set({ assignee: 'bob' }), set({ assignee: 'cleo' }), owner, ['ann', 'bob', 'cleo']],
];

describe('a line that lost its stamps', () => {
  const shown = (task: TaskRecord): { digests: string; updated: number } => ({
    digests: digestRecord(task),
    updated: NOW,
  });
  const take = (known: TaskRecord, line: Line, more: Partial<Parameters<typeof takeInEdits>[1]>): TakenIn => {
    const text = JSON.stringify(line);
    const record = decodeRecord(line);
    const edited = editedLine(text, line, record);
    if (edited === undefined) throw new Error('it has a seal');
    return takeInEdits(edited, { known, now: LATER, ...more });
  };
  const unstamped = (task: TaskRecord, change: Change): Line => {
    const { _v, ...line } = lineOf(FORGE, task);
    change(line);
    return line;
  };

  it.each(TWICE)(
    'says what differs from what the file showed, and nothing else: %s',
    (...[, change, , look, shows]) => {
      const base = someTask();
      const known = editRecord(base, { fields: new Map([['title', 'meanwhile']]) }, NOW + 500);
      const line = unstamped(base, (one) => {
        change(one);
        one['updated_at'] = toIso(LATER);
      });
      const taken = take(known, line, { shown: shown(base) });
      const joined = joinRecords(known, taken.record);
      const isTitle = look === TWICE[0]?.[3];
      expect(look(joined)).toEqual((shows as Json[])[1]);
      expect(fieldValue(joined, 'title')).toBe(isTitle ? 'two' : 'meanwhile');
      expect(taken.lost.map(({ name }) => name)).toEqual(isTitle ? ['title'] : []);
      expect(taken.is_back).toBe(false);
      // An inflation, as every write.
      expect(encodeRecord(joinRecords(known, joined))).toBe(encodeRecord(joined));
      expect(encodeRecord(joinRecords(joined, known))).toBe(encodeRecord(joined));
    },
  );

  it('asks who wrote it where its time is not newer, and counts from now where it was a person', () => {
    const base = someTask();
    const line = unstamped(base, set({ title: 'two', updated_at: toIso(NOW - 5) }));
    const asked = take(base, line, { shown: shown(base) });
    expect([asked.is_back, encodeRecord(joinRecords(base, asked.record))]).toEqual([
      true,
      encodeRecord(base),
    ]);
    const brought = take(base, line, { shown: shown(base), by_hand: false, past: () => [] });
    expect(fieldValue(joinRecords(base, brought.record), 'title')).toBe('one');
    const edited = take(base, line, { shown: shown(base), by_hand: true });
    expect(edited.record.fields.get('title')).toEqual({ value: 'two', stamp: LATER });
    // The very same line is never taken in twice.
    const again = take(edited.record, line, { shown: shown(base), by_hand: true });
    expect(encodeRecord(joinRecords(edited.record, again.record))).toBe(encodeRecord(edited.record));
  });

  it.each<[string, Parameters<typeof editRecord>[1], Change, (task: TaskRecord) => unknown]>([
    [
      'a title',
      { fields: new Map([['title', 'ahead']]) },
      set({ title: 'two' }),
      ({ fields }) => fields.get('title'),
    ],
    [
      'metadata',
      { metadata: new Map([['k', { value: 'ahead' }]]) },
      set({ metadata: { k: 'two' } }),
      (task) => task.metadata.elements.get('k'),
    ],
  ])(
    'counts from just after what its writer saw, where the clock is behind: %s',
    (_, ahead, change, look) => {
      const known = editRecord(someTask(), ahead, LATER + 50);
      const line = unstamped(known, change);
      const { record, lost } = take(known, line, { shown: shown(known), by_hand: true });
      expect([look(record), lost]).toEqual([{ value: 'two', stamp: LATER + 51 }, []]);
    },
  );

  it('goes by its time where it is not known what the file showed, and what loses is kept', () => {
    const base = someTask();
    const known = claimRecord(
      editRecord(
        base,
        { fields: new Map([['title', 'new']]), labels: new Map([['late', { value: true }]]) },
        NOW + 500,
      ),
      'bob',
      NOW + 600,
    );
    const line = unstamped(base, set({ priority: 0, updated_at: toIso(LATER) }));
    const { record, lost } = take(known, line, { past: () => [digestRecord(base)] });
    const joined = joinRecords(known, record);
    expect([fieldValue(joined, 'title'), fieldValue(joined, 'priority')]).toEqual(['one', 0]);
    expect(joined.life.assignee).toBe('bob');
    expect(listLabels(joined)).toEqual(['a', 'late']);
    expect(encodeRecord(joinRecords(known, joined))).toBe(encodeRecord(joined));
    expect(lost.map(({ name, value }) => [name, value])).toContainEqual(['title', 'new']);
    const late = unstamped(base, set({ title: 'unheard', updated_at: toIso(NOW - 5) }));
    expect(take(known, late, { past: () => [digestRecord(base)] }).lost).toMatchObject([
      { name: 'title', value: 'unheard' },
    ]);
  });
});

describe('[D1] edits of a line by hand', () => {
  it.each(TWICE)('count the first and the second time: %s', (_name, first, second, look, shows) => {
    const base = someTask();
    const one = edit(lineOf(FORGE, base), first);
    const once = fold(base, one, LATER);
    const two = edit(one, second);
    const twice = fold(once, two, LATER + 1, one);
    const back = fold(twice, one, LATER + 2, two);
    expect([base, once, twice, back].map(look)).toEqual([...(shows as Json[]), (shows as Json[])[1]]);
  });

  it.each(TWICE)('count where the clock went back: %s', (_name, first, second, look, shows) => {
    const one = edit(lineOf(FORGE, someTask()), first);
    const twice = fold(fold(someTask(), one, LATER), edit(one, second), NOW - 86_400_000, one);
    expect(look(twice)).toEqual((shows as Json[])[2]);
  });

  it('count in a clone that knows the task by this line alone, where its clock is behind', () => {
    const base = editRecord(someTask(), { fields: new Map([['title', 'zz']]) }, NOW + 20);
    const line = edit(lineOf(FORGE, base), set({ title: 'aa' }));
    const fresh = take(line, undefined, NOW - 86_400_000).record;
    // No later than it has to be, so that it beats nothing that comes after.
    expect(fresh.fields.get('title')?.stamp).toBe(NOW + 21);
    for (const joined of [joinCopies(base, fresh), joinCopies(fresh, base)])
      expect(fieldValue(joined, 'title')).toBe('aa');
  });

  it('count over an earlier edit of the same line, where the clock went back and the line was not seen between', () => {
    const line = lineOf(FORGE, someTask());
    const once = fold(someTask(), edit(line, set({ title: 'zz' })), LATER);
    const twice = fold(once, edit(line, set({ title: 'aa' })), NOW - 86_400_000);
    expect(twice.fields.get('title')).toEqual({ value: 'aa', stamp: LATER + 1 });
  });

  it.each(TWICE)('count to and fro within one millisecond: %s', (_name, first, second, look, shows) => {
    const one = edit(lineOf(FORGE, someTask()), first);
    const two = edit(one, second);
    let [task, last] = [fold(someTask(), one, LATER), one];
    for (const line of [two, one, two, one]) {
      // As a command does: it looks, asks git who wrote the file, and looks again.
      task = foldBack(task, line, { now: LATER, last });
      last = line;
      expect(look(task)).toEqual((shows as Json[])[line === two ? 2 : 1]);
    }
  });

  it.each(TWICE)('are in a copy that was made of the edited line alone: %s', (_n, first, _s, look, shows) => {
    const base = someTask();
    const fresh = take(edit(lineOf(FORGE, base), first), undefined, LATER).record;
    expect(look(fresh)).toEqual((shows as Json[])[1]);
    // What is gone cannot be named by a copy that never had it; all else stands against the copy that was edited.
    const names = (shows as Json[]).map((shown) => JSON.stringify(shown).length);
    const joined = look(joinCopies(base, fresh));
    expect(joined).toEqual((shows as Json[])[(names[1] ?? 0) < (names[0] ?? 0) && isSet(shows) ? 0 : 1]);
  });

  it.each(TWICE)(
    'are not taken in again after a command changed the value: %s',
    (_n, first, second, look) => {
      const base = someTask();
      const one = edit(lineOf(FORGE, base), first);
      const once = fold(base, one, LATER);
      // What a command would write, by way of a line of its own.
      const later = fold(once, edit(lineOf(FORGE, once), second), LATER + 5);
      const again = fold(later, one, LATER + 10);
      expect(look(again)).toEqual(look(later));
      expect(encodeRecord(again)).toBe(encodeRecord(later));
    },
  );

  it('are not told as lost where a command replaced them, though their line is still there', () => {
    const write = (record: TaskRecord, value: Json, now: number): TaskRecord =>
      editRecord(record, { fields: new Map([['title', value]]), metadata: new Map([['k', { value }]]) }, now);
    const base = write(someTask(), 'first', NOW + 20);
    const line = edit(lineOf(FORGE, base), set({ title: 'hand', metadata: { k: 'hand' } }));
    const later = write(fold(base, line, LATER), 'command', LATER + 5);
    const { record } = take(line, later, LATER + 10);
    expect(findUnseen(later, record)).toEqual([]);
    const joined = joinCopies(later, record);
    expect([fieldValue(joined, 'title'), metadata(joined)]).toEqual(['command', { k: 'command' }]);
  });

  it('count as changed at that moment: they stand against what was written before, which is kept', () => {
    const base = someTask();
    const elsewhere = editRecord(base, { fields: new Map([['title', 'elsewhere']]) }, LATER - 1);
    const { record, lost } = take(edit(lineOf(FORGE, base), set({ title: 'hand' })), elsewhere, LATER);
    expect(fieldValue(joinCopies(elsewhere, record), 'title')).toBe('hand');
    expect(lost).toMatchObject([{ name: 'title', value: 'elsewhere' }]);
  });

  it('are kept where a later change stands', () => {
    const base = someTask();
    const ahead = editRecord(base, { fields: new Map([['title', 'ahead']]) }, LATER + 99);
    const { record, lost } = take(edit(lineOf(FORGE, base), set({ title: 'hand' })), ahead, LATER);
    const joined = keepLostValues(joinCopies(ahead, record), lost);
    expect(fieldValue(joined, 'title')).toBe('ahead');
    expect(encodeRecord(joined)).toContain('"hand"');
  });

  it('lose of two owners as two claims do, and are kept', () => {
    const base = newTask();
    const claimed = claimRecord(base, 'cleo', LATER - 5);
    const line = edit(lineOf(FORGE, base), set({ status: 'in_progress', assignee: 'bob' }));
    const { record, lost } = take(line, claimed, LATER);
    expect(joinCopies(claimed, record).life.assignee).toBe('cleo');
    expect(lost).toMatchObject([{ name: 'life', value: { assignee: 'bob' } }]);
  });

  it('take nothing along that was not edited', () => {
    const base = someTask();
    const changed = closeRecord(
      editRecord(
        base,
        { fields: new Map([['description', 'new']]), labels: new Map([['new', { value: true }]]) },
        LATER,
      ),
      'done',
      LATER,
    );
    const after = fold(changed, edit(lineOf(FORGE, base), set({ title: 'hand' })), LATER + 1);
    expect(after.life).toEqual(changed.life);
    expect([fieldValue(after, 'description'), listLabels(after)]).toEqual(['new', ['a', 'new']]);
  });

  it('are none in a line that was only written in another way', () => {
    const base = someTask();
    const text = JSON.stringify(
      Object.fromEntries(Object.entries(lineOf(FORGE, base)).toReversed()),
      null,
      1,
    );
    const line = editedLine(text, JSON.parse(text) as JsonObject, base);
    expect(line).toBeDefined();
    expect(line && takeInEdits(line, { known: undefined, now: LATER })).toEqual({
      record: base,
      lost: [],
      is_back: false,
    });
  });

  it('are older than what was written upon them, also for a copy that saw them later', () => {
    const base = someTask();
    const line = edit(lineOf(FORGE, base), set({ title: 'hand', labels: ['a', 'b'] }));
    const early = fold(base, line, LATER);
    const changes = {
      fields: new Map([['title', 'command']]),
      labels: new Map([['b', { value: undefined }]]),
    };
    const wrote = editRecord(early, changes, LATER + 10);
    const late = fold(base, line, LATER + 500);
    for (const joined of [joinCopies(wrote, late), joinCopies(late, wrote)]) {
      expect([fieldValue(joined, 'title'), listLabels(joined)]).toEqual(['command', ['a']]);
    }
    expect(encodeRecord(joinCopies(late, wrote))).toBe(encodeRecord(joinCopies(wrote, late)));
  });

  it('are older than what was written upon them, also where they are seen later with another edit', () => {
    const base = someTask();
    const line = edit(lineOf(FORGE, base), set({ title: 'hand', labels: ['a', 'b'] }));
    const early = fold(base, line, LATER);
    const changes = {
      fields: new Map([['title', 'command']]),
      labels: new Map([['b', { value: undefined }]]),
    };
    const wrote = editRecord(early, changes, LATER + 10);
    const late = fold(base, edit(line, set({ description: 'more' })), LATER + 500);
    for (const joined of [joinCopies(wrote, late), joinCopies(late, wrote)]) {
      expect([fieldValue(joined, 'title'), listLabels(joined)]).toEqual(['command', ['a']]);
      expect(fieldValue(joined, 'description')).toBe('more');
    }
  });

  it('F18 stand in their order, where a person goes on in one file and changes values back', () => {
    const base = someTask();
    let shown = lineOf(FORGE, base);
    let known = base;
    let last: string | undefined;
    const changes = [
      { priority: 4 },
      { title: 'other' },
      { priority: base.fields.get('priority')?.value },
      { title: base.fields.get('title')?.value },
    ];
    for (const [at, change] of changes.entries()) {
      shown = edit(shown, set(change as JsonObject));
      const record = decodeRecord(shown);
      const text = JSON.stringify(shown);
      const line = editedLine(text, shown, record) ?? writtenLine(text, record, known);
      if (line === undefined) throw new Error('no edit');
      const taken = takeInEdits(line, { known, now: LATER + at, by_hand: true, last: last ?? line.written });
      known = joinCopies(known, taken.record);
      last = digestRecord(record);
      for (const [name, value] of Object.entries(change)) expect(fieldValue(known, name)).toBe(value);
    }
  });

  it('move the time of nothing else that was written, when two copies took them in', () => {
    const base = someTask();
    const line = edit(lineOf(FORGE, base), set({ title: 'hand', labels: ['a', 'b'] }));
    const early = fold(base, line, LATER);
    const late = fold(base, line, LATER + 500);
    const changes = { fields: new Map([['description', 'new']]), labels: new Map([['c', { value: true }]]) };
    const wrote = editRecord(early, changes, LATER + 10);
    const stampsOf = ({ fields, labels }: TaskRecord): (number | undefined)[] => [
      fields.get('title')?.stamp,
      fields.get('description')?.stamp,
      ...['b', 'c'].map((label) => labels.elements.get(label)?.stamp),
    ];
    // A change elsewhere at LATER + 300 must stand against what was written before it.
    for (const joined of [joinCopies(wrote, late), joinCopies(late, wrote)])
      expect(stampsOf(joined)).toEqual([LATER + 500, LATER + 10, LATER + 500, LATER + 10]);
  });

  it.each(TWICE)(
    'stand though an edit elsewhere of the line before is taken in within the same millisecond: %s',
    (_name, first, second, look, shows) => {
      const base = someTask();
      const seen = fold(base, edit(lineOf(FORGE, base), set({ mark: 'ann' })), LATER);
      const once = fold(base, edit(lineOf(FORGE, base), first), LATER + 10);
      const ann = joinCopies(seen, once);
      const bob = fold(once, edit(lineOf(FORGE, once), second), LATER + 20);
      const cleo = fold(base, edit(lineOf(FORGE, base), set({ mark: 'cleo' })), LATER + 20);
      const both = joinCopies(bob, cleo);
      for (const joined of [joinCopies(ann, both), joinCopies(both, ann)]) {
        expect(look(joined)).toEqual((shows as Json[])[2]);
        expect(joinCopies(joined, both)).toBe(joined);
      }
    },
  );

  it.each([
    ['in_progress', 'closed', 'done'],
    ['in_progress', 'open', 'todo'],
    ['open', 'in_progress', 'in_progress'],
    ['open', 'closed', 'done'],
    ['closed', 'open', 'todo'],
    ['closed', 'in_progress', 'in_progress'],
  ] as const)('[S58] of the status %s to %s take the state along', (from, to, state) => {
    const life = { ...someTask().life, status: from, state: `own-${from}` };
    const base = { ...someTask(), life: { ...life, closed_at: from === 'closed' ? toIso(NOW) : null } };
    const line = edit(lineOf(FORGE, base), set({ status: to }));
    const once = fold(base, line, LATER);
    expect(once.life).toMatchObject({ status: to, state });
    // Without the task itself only the digest tells, which a reopened line does not fit.
    const fresh = take(line, undefined, LATER).record.life;
    expect(fresh).toMatchObject({ status: to, state: from === 'closed' ? 'own-closed' : state });
    const again = fold(once, edit(line, set({ status: from })), LATER + 1, line);
    expect(again.life).toMatchObject({ status: from, state: `own-${from}` });
    const both = take(edit(line, set({ state: 'mine' })), base, LATER);
    expect([both.record.life.state, both.lost]).toEqual(['mine', []]);
  });

  it.each(TWICE)(
    'are told from an older file when a person changes them back: %s',
    (_name, first, _second, look, shows) => {
      const base = someTask();
      const line = edit(lineOf(FORGE, base), first);
      const once = fold(base, line, LATER);
      const last = digestRecord(decodeRecord(line));
      const back = writtenLine(encodeRecord(base), base, once);
      if (back === undefined) throw new Error('not known');
      const where = { known: once, now: LATER + 1, last };
      expect(takeInEdits(back, where)).toEqual({ record: base, lost: [], is_back: true });
      const { record } = takeInEdits(back, { ...where, by_hand: true });
      expect(look(joinCopies(once, record))).toEqual((shows as Json[])[0]);
      expect(writtenLine(encodeRecord(base), base, base)).toBeUndefined();
      expect(writtenLine(encodeRecord(once), once, once)).toBeUndefined();
    },
  );

  it.each([
    [false, 'git brought it: its writer saw what Forge wrote', ['ann']],
    [true, 'by hand: its writer saw what stood there', []],
  ])('of a line that another edit stood in, by_hand %s, %s', (by_hand, _, told) => {
    const base = someTask();
    const one = edit(lineOf(FORGE, base), set({ title: 'ann' }));
    const known = fold(base, one, LATER);
    const two = edit(lineOf(FORGE, base), set({ title: 'bob' }));
    const line = editedLine(JSON.stringify(two), two, decodeRecord(two));
    if (line === undefined) throw new Error('not edited');
    const last = digestRecord(decodeRecord(one));
    const { record, lost } = takeInEdits(line, { known, now: LATER + 1, last, by_hand });
    expect(fieldValue(joinCopies(known, record), 'title')).toBe('bob');
    expect(lost.map(({ value }) => value)).toEqual(told);
  });

  it.each([
    ['what Forge wrote', 'one', false],
    ['the same edit', 'two', false],
    ['another edit', 'three', true],
    ['what cannot be read', undefined, true],
  ])('of a line that showed %s before: it is asked who made them, or not', (_, title, asked) => {
    const base = someTask();
    const two = edit(lineOf(FORGE, base), set({ title: 'two' }));
    const line = editedLine(JSON.stringify(two), two, decodeRecord(two));
    if (line === undefined) throw new Error('not edited');
    const last = title === undefined ? '?' : digestRecord(decodeRecord(edit(two, set({ title }))));
    const { record, is_back } = takeInEdits(line, { known: base, now: LATER, last });
    expect([is_back, fieldValue(record, 'title')]).toEqual([asked, asked ? 'one' : 'two']);
  });

  it('of two people in two copies of one line do not undo each other', () => {
    const base = someTask();
    const ann = fold(base, edit(lineOf(FORGE, base), set({ labels: ['a', 'ann'], title: 'ann' })), LATER);
    const line = edit(lineOf(FORGE, base), set({ metadata: { k: 1, bob: 1 } }));
    for (const joined of [fold(ann, line, LATER + 1), joinCopies(ann, fold(base, line, LATER + 1))]) {
      expect([listLabels(joined), fieldValue(joined, 'title')]).toEqual([['a', 'ann'], 'ann']);
      expect(metadata(joined)).toEqual({ k: 1, bob: 1 });
    }
  });

  it('are remembered with the task, the newest few of them', () => {
    const many = new Map(
      Array.from({ length: LIMITS.hand_edits + 3 }, (_, at) => [`s${at}:aaabbbccc2t`, at]),
    );
    const record = { ...someTask(), hand: joinHands(undefined, many) };
    expect(record.hand?.size).toBe(LIMITS.hand_edits);
    const read = decodeRecord(JSON.parse(encodeRecord(record)) as Json);
    expect(read.hand).toEqual(record.hand);
    expect(encodeRecord(joinRecords(someTask(), read))).toBe(encodeRecord(joinRecords(read, someTask())));
    expect(joinRecords(record, read)).toBe(record);
  });

  it('of lines without digests are found by comparison, also the second time', () => {
    const base = newTask();
    const { _v, ...plain } = lineOf(FORGE, base);
    const one = { ...plain, title: 'two' };
    const once = fold(base, one, LATER);
    const twice = fold(once, { ...one, title: 'three' }, LATER + 1, one);
    expect([once, twice].map(field('title'))).toEqual(['two', 'three']);
  });
});

function isSet(shows: Json): boolean {
  return Array.isArray(shows) && Array.isArray(shows[0]);
}

function newTask(): TaskRecord {
  return newRecord(
    {
      id: 'fg-a3f8',
      created_by: 'ann',
      assignee: null,
      state: 'todo',
      fields: { title: 'one', description: 'd', parent_id: 'fg-p', github_issue: 7 },
      labels: ['a'],
      dependencies: ['fg-x:blocks'],
      metadata: new Map<string, Json>([['k', 1]]),
    },
    NOW,
  );
}

function someTask(): TaskRecord {
  const edited = editRecord(newTask(), { fields: new Map<string, Json>([['sprint', 4]]) }, NOW + 5);
  return claimRecord(edited, 'ann', NOW + 10);
}

function edit(line: Line, change: Change): Line {
  const edited = structuredClone({ ...line });
  change(edited);
  return edited;
}

function take(line: Line, known: TaskRecord | undefined, now: number, last?: Line): TakenIn {
  const text = JSON.stringify(line);
  const record = decodeRecord(line);
  const edited = editedLine(text, line, record) ?? writtenLine(text, record, known);
  if (edited === undefined) throw new Error(`${text} is as Forge wrote it at ${toIso(now)}`);
  const shown = last === undefined ? undefined : digestRecord(decodeRecord(last));
  return takeInEdits(edited, { known, now, last: shown, by_hand: last === undefined ? undefined : true });
}

/** `last` is the line as the same file showed it before. */
function fold(known: TaskRecord, line: Line, now: number, last?: Line): TaskRecord {
  return joinCopies(known, take(line, known, now, last).record);
}

function foldBack(known: TaskRecord, line: Line, { now, last }: { now: number; last: Line }): TaskRecord {
  const record = decodeRecord(line);
  const text = JSON.stringify(line);
  const edited = editedLine(text, line, record) ?? writtenLine(text, record, known);
  if (edited === undefined) throw new Error(`${text} is as Forge wrote it`);
  const shown = digestRecord(decodeRecord(last));
  const once = joinCopies(known, takeInEdits(edited, { known, now, last: shown }).record);
  return joinCopies(once, takeInEdits(edited, { known: once, now, last: shown, by_hand: true }).record);
}

function set(values: JsonObject): Change {
  return (line) => void Object.assign(line, values);
}

function unset(key: string): Change {
  return (line) => void delete line[key];
}

function field(name: string): (task: TaskRecord) => Json {
  return (task) => fieldValue(task, name);
}

function metadata(task: TaskRecord): Json {
  return lineOf(FORGE, task).metadata ?? null;
}

function owner({ life }: TaskRecord): Json {
  return life.assignee;
}

import { describe, expect, it } from 'vitest';
import { toIso } from '#kernel/clock.ts';
import type { Json, JsonObject } from '#kernel/json.ts';
import { lineOf, type Line } from '../../tests/support/foreign-lines.ts';
import { FORGE } from '../../tests/support/join-world.ts';
import { editedLine } from './edited-line.ts';
import { joinCopies } from './join-copies.ts';
import { decodeRecord, listLabels } from './record-codec.ts';
import { digestRecord } from './record-digests.ts';
import { hasTaken, takeInForeign, withoutOld } from './take-in-foreign.ts';
import type { EditedLine, TakenIn } from './taken-in.ts';
import { claimRecord, editRecord, newRecord } from './task-changes.ts';
import { fieldValue, type TaskRecord } from './task-record.ts';

const NOW = Date.UTC(2026, 1, 10, 9);
const LATER = NOW + 3_600_000;

const base = newRecord(
  {
    id: 'fg-a3f8',
    created_by: 'ann',
    assignee: null,
    state: 'todo',
    fields: { title: 'one', description: 'd' },
    labels: ['a'],
    dependencies: [],
    metadata: new Map<string, Json>([['k', 1]]),
  },
  NOW,
);

describe('a line without stamps that lacks usual keys', () => {
  it.each<[string, readonly string[]]>([
    ['one', ['description']],
    ['several', ['description', 'labels']],
    ['none', []],
  ])('%s: what it lacks is empty where no task is known, else as it is known', (_, missing) => {
    const line = unstamped(base, {}, missing);
    const look = (record: TaskRecord): Json => [
      fieldValue(record, 'title'),
      fieldValue(record, 'description'),
      listLabels(record),
    ];
    expect(look(take(undefined, line).record)).toEqual([
      'one',
      missing.includes('description') ? '' : 'd',
      missing.includes('labels') ? [] : ['a'],
    ]);
    const known = editRecord(base, { labels: new Map([['b', { value: true }]]) }, NOW);
    const labels = missing.includes('labels') ? ['a', 'b'] : ['a'];
    expect(look(take(known, line).record)).toEqual(['one', 'd', labels]);
  });
});

describe('a line of an older version, with stamps and no digests', () => {
  it('is compared with the task as it is known', () => {
    const line = lineOf(FORGE, base);
    const { updated_at: _digests, _v, ...stamps } = line._v as JsonObject;
    const { record } = take(base, { ...line, _v: stamps, title: 'two' });
    expect(fieldValue(joinCopies(base, record), 'title')).toBe('two');
  });
});

describe('what a line of another tool takes away, where it is known what the task once was', () => {
  const past = (): string[] => [digestRecord(base)];
  const told = (known: TaskRecord, line: Line): Json[] =>
    take(known, line, past).lost.map(({ name, value }) => [name, value]);

  it.each<[string, Parameters<typeof editRecord>[1]]>([
    ['title', { fields: new Map([['title', 'new']]) }],
    ['metadata.k', { metadata: new Map([['k', { value: 'new' }]]) }],
  ])('a value of %s is told, also where the line is later by a millisecond', (name, change) => {
    const known = editRecord(base, change, NOW + 500);
    const at = (moment: number): Line => unstamped(base, { updated_at: toIso(moment) });
    expect(told(known, at(NOW + 501))).toContainEqual([name, 'new']);
    expect(told(known, at(NOW + 499))).toEqual([]);
  });

  it('a claim is told; that nobody had claimed the task is not', () => {
    const line = unstamped(base, { status: 'in_progress', assignee: 'cleo', updated_at: toIso(LATER) });
    const claimed = claimRecord(base, 'ann', NOW + 500);
    const edited = editRecord(base, { fields: new Map([['title', 'new']]) }, NOW + 500);
    expect(told(claimed, line)).toContainEqual(['life', expect.objectContaining({ assignee: 'ann' })]);
    expect(told(edited, line)).toEqual([['title', 'new']]);
  });
});

describe('an older line without stamps', () => {
  it.each<[string, readonly string[], Json]>([
    ['takes nothing back that was written since', [digestRecord(base)], ['new', 'new']],
    ['keeps what it says where the task was never so', [], ['one', 1]],
  ])('%s', (_, past, shows) => {
    const changes = { fields: new Map([['title', 'new']]), metadata: new Map([['k', { value: 'new' }]]) };
    const known = editRecord(base, changes, NOW + 500);
    const where = { known, now: LATER, past: () => past };
    const { record } = withoutOld(toEdited(unstamped(base, {})), where, known);
    expect([fieldValue(record, 'title'), record.metadata.elements.get('k')?.value]).toEqual(shows);
  });
});

describe('whether a copy has taken in an edit', () => {
  it.each<[string, readonly string[] | undefined, boolean]>([
    ['none at all', undefined, false],
    ['this one', [`s:${digestRecord(base)}`], true],
    ['another one of the line', ['s:other'], false],
    ['the same one of another line', [`r:${digestRecord(base)}`], false],
  ])('%s', (_, edits, expected) => {
    const hand = edits && new Map(edits.map((edit) => [edit, NOW]));
    expect(hasTaken({ ...base, hand }, { seal: 's', record: base })).toBe(expected);
  });
});

function unstamped(record: TaskRecord, values: JsonObject, missing: readonly string[] = []): Line {
  const { _v, ...line } = { ...lineOf(FORGE, record), ...values };
  return Object.fromEntries(Object.entries(line).filter(([key]) => !missing.includes(key)));
}

function take(known: TaskRecord | undefined, line: Line, past?: () => readonly string[]): TakenIn {
  const edited = toEdited(line);
  return takeInForeign(edited, { known, now: LATER, past }, digestRecord(edited.record));
}

function toEdited(line: Line): EditedLine {
  const edited = editedLine(JSON.stringify(line), line, decodeRecord(line));
  if (edited === undefined) throw new Error('it has a seal');
  return edited;
}

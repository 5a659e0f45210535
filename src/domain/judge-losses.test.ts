import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { plainRecord, PLAIN_MADE } from '../../tests/support/plain-record.ts';
import { editedLine } from './edited-line.ts';
import { joinCopies } from './join-copies.ts';
import { findEditedLife, judgeLosses, toOwnKey, type LossFacts, type Meeting } from './judge-losses.ts';
import { continueRun, findLifeWrite } from './own-values.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { takeInEdits } from './take-in-edits.ts';
import { claimRecord, editRecord, moveRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';

const NOW = PLAIN_MADE + 60_000;
const BASE = plainRecord('one');
const NOBODY: LossFacts = {
  readRun: () => undefined,
  changes: { events: () => [], exported: () => 0 },
  seen: undefined,
  elsewhere: undefined,
};

/** The line of a record as Forge writes it, or as `edit` changes it, met by the task `known`. */
function meet(
  known: TaskRecord,
  theirs: TaskRecord,
  edit?: (line: string) => string,
  is_side = false,
): Meeting {
  const text = edit === undefined ? encodeRecord(theirs) : edit(encodeRecord(theirs));
  const json = JSON.parse(text) as JsonObject;
  const record = decodeRecord(json);
  const edited = editedLine(text, json, record);
  const taken =
    edited === undefined
      ? { record, lost: [], is_back: false }
      : takeInEdits(edited, { known, now: NOW + 50 });
  return { known, incoming: { record, edited, is_side }, taken };
}

/** What a store remembers that wrote these one after the other. */
function runOf(...records: TaskRecord[]): LossFacts['readRun'] {
  return () => {
    const writes = records.slice(1).flatMap((after, at) => findLifeWrite(records[at] ?? after, after) ?? []);
    return writes.reduce<ReturnType<LossFacts['readRun']>>(continueRun, undefined);
  };
}

const ANN = claimRecord(BASE, 'ann', NOW);
const parked = (at: number): TaskRecord =>
  moveRecord(BASE, { status: 'open', state: 'backlog', assignee: null }, at);
const reserved = (at: number): TaskRecord =>
  moveRecord(BASE, { status: 'open', state: 'todo', assignee: 'bob' }, at);

describe('a life that falls', () => {
  const names = (meeting: Meeting, facts: Partial<LossFacts>) => {
    const { lost, unsure } = judgeLosses(meeting, { ...NOBODY, ...facts });
    return [lost.map(({ name }) => name), unsure?.name, unsure?.is_theirs];
  };
  const met = meet(reserved(NOW), parked(NOW + 9));
  const met_side = meet(reserved(NOW), parked(NOW + 9), undefined, true);
  const run = runOf(BASE, reserved(NOW));

  it.each([
    ['of two claims', meet(ANN, claimRecord(BASE, 'bob', NOW + 1)), {}, [['life'], undefined, undefined]],
    ['is asked about where it was written here', met, { readRun: run }, [['life'], 'life', false]],
    [
      'is not asked about on a side of a conflict',
      met_side,
      { readRun: run },
      [['life'], undefined, undefined],
    ],
    ['of others says nothing', met, {}, [[], undefined, undefined]],
    ['of others is asked about from elsewhere', met, { elsewhere: true }, [['life'], 'life', false]],
    [
      'there is asked about likewise',
      meet(reserved(NOW + 9), parked(NOW)),
      { elsewhere: true },
      [['life'], 'life', true],
    ],
    [
      'is none where both are the same',
      meet(ANN, ANN),
      { readRun: runOf(BASE, ANN) },
      [[], undefined, undefined],
    ],
  ] as const)('%s', (_, meeting, facts, expected) => {
    expect(names(meeting, facts)).toEqual(expected);
  });

  it('is none where the history of the file holds it', () => {
    const { unsure } = judgeLosses(met, { ...NOBODY, readRun: run });
    if (unsure === undefined) throw new Error('it is asked about');
    const seen = new Set([toOwnKey(unsure)]);
    expect(judgeLosses(met, { ...NOBODY, readRun: run, seen })).toEqual({ lost: [], unsure: undefined });
    const other = new Set([toOwnKey({ ...unsure, id: 'fg-other' })]);
    expect(judgeLosses(met, { ...NOBODY, readRun: run, seen: other }).unsure).toEqual(unsure);
  });

  it('is not asked about twice where the line was edited by hand', () => {
    const meeting = meet(reserved(NOW), BASE, (line) => line.replace('"assignee":null', '"assignee":"cleo"'));
    expect(judgeLosses(meeting, { ...NOBODY, readRun: run }).unsure).toBeUndefined();
  });
});

describe('the key of a value', () => {
  it('says what fell against what', () => {
    const mark = { stamp: 36, hash: 'a' };
    expect(toOwnKey({ id: 'fg-1', name: 'life', mark, stands: { stamp: 37, hash: 'b' } })).toBe(
      'fg-1 life@10.a<11.b',
    );
  });
});

describe('the line of another tool', () => {
  const ours = editRecord(BASE, { fields: new Map([['title', 'ours']]) }, NOW + 99);
  const strip = (line: string): string => line.replace(/,"_v":.*$/, '}').replace('"one"', '"theirs"');
  const event = { seq: 1, triggered_by: 'user:ann', data: { changed: ['title'] } };
  const changes = { events: () => [event], exported: () => 0 };

  it('loses against what was written here, or takes its place', () => {
    const { lost } = judgeLosses(meet(ours, BASE, strip), { ...NOBODY, changes });
    expect(lost.map(({ name }) => name)).toContain('title');
    expect(judgeLosses(meet(ours, BASE, strip), NOBODY).lost).toEqual([]);
  });

  it('of a line with stamps what was written here is not asked', () => {
    const events = () => {
      throw new Error('asked');
    };
    expect(
      judgeLosses(meet(ours, BASE), { ...NOBODY, changes: { events, exported: () => 0 } }).unsure,
    ).toBeUndefined();
  });
});

describe('an edit by hand of status, owner or closing', () => {
  const own = (line: string): string => line.replace('"assignee":null', '"assignee":"cleo"');
  const after = ({ known, taken }: Meeting): TaskRecord => joinCopies(known, taken.record);

  it.each([
    ['that stands was written here', meet(BASE, BASE, own), true],
    ['is none where the line is as Forge wrote it', meet(BASE, ANN), false],
    ['of another value is none', meet(BASE, BASE, (line) => line.replace('"one"', '"two"')), false],
    ['of another tool is none', meet(BASE, BASE, (line) => own(line.replace(/,"_v":.*$/, '}'))), false],
  ])('%s', (_, meeting, noted) => {
    expect(findEditedLife(meeting, after(meeting)) !== undefined).toBe(noted);
  });

  it('that does not stand is none', () => {
    expect(findEditedLife(meet(BASE, BASE, own), ANN)).toBeUndefined();
  });
});

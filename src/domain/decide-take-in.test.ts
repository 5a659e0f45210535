import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import { plainRecord, PLAIN_MADE } from '../../tests/support/plain-record.ts';
import { askFirst, decideTakeIn, type IncomingLine, type TakeInFacts } from './decide-take-in.ts';
import { editedLine } from './edited-line.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { digestRecord } from './record-digests.ts';
import { withTaken } from './take-in-foreign.ts';
import { editRecord } from './task-changes.ts';
import { fieldValue, lastStamp, type TaskRecord } from './task-record.ts';

const NOW = PLAIN_MADE + 60_000;
const KNOWN = plainRecord('one');
const WRITTEN = encodeRecord(KNOWN);
const SEAL = /"_v":"([^"]+)"\}\}$/.exec(WRITTEN)?.[1] ?? '';
const EDITED = WRITTEN.replace('"one"', '"two"');
const AGAIN = WRITTEN.replace('"one"', '"three"');
const BARE = WRITTEN.replace(/,"_v":.*$/, '}').replace('"one"', '"two"');

function read(text: string, more: Partial<IncomingLine> = {}): IncomingLine {
  const json = JSON.parse(text) as JsonObject;
  const record = decodeRecord(json);
  return { record, text, is_side: false, edited: editedLine(text, json, record), ...more };
}

const shows = (text: string): string => digestRecord(read(text).record);

/** The task after it took in the edits, in their order. */
function having(...texts: string[]): TaskRecord {
  return texts.reduce((known, text, at) => withTaken(known, `${SEAL}:${shows(text)}`, NOW + at), KNOWN);
}

interface World extends Partial<Omit<TakeInFacts, 'isAgain' | 'findShown' | 'findShownState'>> {
  readonly again?: boolean;
  readonly shown?: string;
  readonly shown_state?: string;
}

function decide(line: IncomingLine, { again = false, shown, shown_state, ...more }: World = {}) {
  return decideTakeIn(line, {
    known: KNOWN,
    now: NOW,
    by_hand: undefined,
    stood: undefined,
    asked: 0,
    isAgain: () => again,
    findShown: (seal) => (seal === SEAL ? shown : undefined),
    findShownState: () => (shown_state === undefined ? undefined : stateOf(shown_state)),
    listPast: () => [],
    ...more,
  });
}

function stateOf(text: string): { digests: string; updated: number } {
  return { digests: shows(text), updated: lastStamp(read(text).record) };
}

const titleOf = ({ taken }: ReturnType<typeof decide>): unknown => fieldValue(taken.record, 'title');

describe('a line as Forge wrote it', () => {
  it('is taken as it is', () => {
    const line = read(WRITTEN);
    expect(decide(line)).toEqual({ taken: { record: line.record, lost: [], is_back: false }, asks: [] });
  });

  const asked = { text: WRITTEN, seal: SEAL, last: shows(EDITED), guessed: 'back', overwritten: true };
  // Written anew elsewhere, by a clone that has not taken in the edit that the task still shows here.
  const shown = editRecord(KNOWN, { fields: new Map([['title', 'two']]) }, NOW);
  const known = withTaken(shown, `old:${shows(EDITED)}`, NOW);
  it.each([
    ['and asked about where another clone wrote over an edit', {}, {}, [{ ...asked, seal: 'old' }]],
    ['and not asked about on a side of a conflict', { is_side: true }, {}, []],
    ['and not asked about a second time', {}, { by_hand: new Set<string>() }, []],
    ['and not asked about where no edit is known', {}, { known: KNOWN }, []],
    ['and not asked about where the task is not known', {}, { known: undefined }, []],
  ])('%s', (_, more, world, asks) => {
    expect(decide(read(WRITTEN, more), { known, ...world }).asks).toEqual(asks);
  });
});

describe('an edited line', () => {
  it('is taken in, and remembered', () => {
    const plan = decide(read(EDITED));
    expect(titleOf(plan)).toBe('two');
    expect(plan).toMatchObject({ asks: [], seal: SEAL, shows: shows(EDITED) });
    expect(plan.taken.record.fields.get('title')?.stamp).toBeGreaterThanOrEqual(NOW);
  });

  it('of a new task is taken in too', () => {
    expect(decide(read(EDITED), { known: undefined })).toMatchObject({ seal: SEAL, shows: shows(EDITED) });
  });

  it('a second copy in the same file says nothing of the first', () => {
    const plan = decide(read(EDITED), { again: true, shown: shows(AGAIN) });
    expect(plan).toMatchObject({ asks: [], taken: { is_back: false } });
    expect(plan.seal).toBeUndefined();
    expect(plan.shows).toBeUndefined();
  });

  it('that others were written upon is not made again', () => {
    const stood = new Map([[EDITED, null]]);
    const known = having(EDITED);
    const plan = decide(read(EDITED), { known, stood });
    expect(plan).toEqual({ taken: { record: known, lost: [], is_back: false }, asks: [] });
    expect(decide(read(EDITED), { known, stood: new Map() }).seal).toBe(SEAL);
    expect(decide(read(EDITED), { stood }).seal).toBe(SEAL);
  });

  const asks = { text: WRITTEN, seal: SEAL, last: shows(EDITED), guessed: undefined };
  const known = having(EDITED);
  const back = read(WRITTEN);
  it.each([
    ['asks who changed it back', { known, shown: shows(EDITED) }, [asks]],
    ['asks nobody where that is told', { known, shown: shows(EDITED), by_hand: new Set([WRITTEN]) }, []],
    [
      'asks who changed it back, where what it showed is only guessed',
      { known },
      [{ ...asks, guessed: 'back' }],
    ],
    ['asks nobody where it showed the same', { known, shown: shows(WRITTEN) }, []],
  ])('that is as Forge wrote it again %s', (_, world, expected) => {
    const plan = decide(back, world);
    expect(plan.asks).toEqual(expected);
    expect(plan.seal).toBe(SEAL);
    expect(plan.shows).toBe(expected.length > 0 ? undefined : shows(WRITTEN));
  });

  it.each([
    ['knows that it was taken in once', having(EDITED), true],
    ['knows it not where it was never taken in', having(AGAIN), undefined],
    ['knows it not where what it showed was taken in too', having(EDITED, AGAIN), undefined],
  ])('that shows what it once showed %s', (_, world, isKnown) => {
    const [ask] = decide(read(EDITED), { known: world, shown: shows(AGAIN) }).asks;
    expect(ask).toMatchObject({ text: EDITED, seal: SEAL, last: shows(AGAIN) });
    expect(ask?.known).toBe(isKnown);
  });

  it('that shows an edit again, of which only that is known, is guessed to be an edit', () => {
    const [ask] = decide(read(EDITED), { known: having(EDITED, AGAIN) }).asks;
    expect(ask).toMatchObject({ last: shows(WRITTEN), guessed: 'edit', known: true });
    expect(decide(read(EDITED), { known: having(AGAIN) }).asks).toEqual([]);
    expect(decide(read(EDITED, { is_side: true }), { known: having(EDITED, AGAIN) }).asks).toEqual([]);
  });
});

describe('a line whose values cannot all be read', () => {
  it('leaves those as they are known', () => {
    const bad = new Set(['title']);
    expect(titleOf(decide(read(EDITED, { bad })))).toBe('one');
    expect(titleOf(decide(read(EDITED, { bad: new Set(['priority']) })))).toBe('two');
    expect(titleOf(decide(read(EDITED, { bad }), { known: undefined }))).toBe('two');
  });
});

describe('a line without stamps', () => {
  const bare = read(BARE);
  const question = { text: BARE, seal: KNOWN.id, last: '', stood: [] };

  it.each([
    ['asks commits first', {}, [{ ...question, is_shown: undefined }], undefined],
    [
      'says where the store knows what the file showed',
      { shown_state: WRITTEN },
      [{ ...question, is_shown: true }],
      stateOf(WRITTEN),
    ],
  ])('%s', (_, world, asks, shows_state) => {
    const plan = decide(bare, world);
    expect(plan).toMatchObject({ asks, taken: { record: KNOWN, is_back: true } });
    expect(plan.shows_state).toEqual(shows_state);
  });

  it.each([
    ['a former line of the task', { is_former: true }, {}],
    ['on a side of a conflict', { is_side: true }, {}],
    ['with so many asked already', {}, { asked: LIMITS.asked_lines }],
    ['with an answer', {}, { by_hand: new Set<string>() }],
  ])('is taken in at once: %s', (_, more, world) => {
    const plan = decide(read(BARE, more), world);
    expect(plan.asks).toEqual([]);
    const isLast = Object.keys(more).length === 0;
    expect(plan.shows_state?.digests).toEqual(isLast ? shows(BARE) : undefined);
  });

  it('of a task that is not known is an edit as any other', () => {
    expect(decide(bare, { known: undefined }).asks).toEqual([]);
  });

  const seal = bare.edited?.seal ?? '';
  const taken = withTaken(KNOWN, `${seal}:${shows(BARE)}`, NOW);
  it('that stood there before the last look says nothing new', () => {
    const plan = decide(bare, { known: taken, stood: new Map([[BARE, null]]), shown_state: WRITTEN });
    expect(plan).toEqual({ taken: { record: taken, lost: [], is_back: false }, asks: [] });
  });

  it('that was taken in says no more than then, unless a person wrote it', () => {
    expect(decide(bare, { known: taken }).taken).toEqual({ record: taken, lost: [], is_back: false });
    const by_hand = new Set([BARE]);
    expect(decide(bare, { known: taken, by_hand, shown_state: WRITTEN }).taken.record).not.toBe(taken);
    expect(decide(bare, { known: taken, by_hand }).taken.record).not.toBe(taken);
  });

  it.each([
    ['once taken in, and not what the file showed', having(), true],
    ['once taken in, as what the file showed', withTaken(KNOWN, `${seal}:${shows(WRITTEN)}`, NOW), undefined],
  ])('that shows again what it showed asks who wrote it: %s', (_, world, isKnown) => {
    const known = withTaken(world, `${seal}:${shows(BARE)}`, NOW);
    const plan = decide(bare, { known, shown_state: WRITTEN });
    expect(plan.asks).toEqual([
      { text: BARE, seal: KNOWN.id, last: shows(WRITTEN), ...(isKnown && { known: isKnown }) },
    ]);
    expect(plan.shows_state).toEqual(stateOf(WRITTEN));
  });

  it('takes what commits tell that stood there', () => {
    const stood = new Map([[BARE, stateOf(WRITTEN)]]);
    const plan = decide(bare, { stood, by_hand: new Set<string>() });
    expect(titleOf(plan)).toBe('two');
    expect(plan.shows_state?.digests).toBe(shows(BARE));
  });
});

describe('askFirst: a task that only a line without stamps tells of', () => {
  const asks = { text: BARE, seal: KNOWN.id, last: '', stood: [] };
  it.each([
    [{}, {}, asks],
    [{}, { answers: false }, undefined],
    [{ is_side: true }, {}, undefined],
    [{}, { by_hand: new Set<string>() }, undefined],
    [{}, { asked: LIMITS.asked_lines - 1 }, asks],
    [{}, { asked: LIMITS.asked_lines }, undefined],
  ])('%j, %j', (more, facts, expected) => {
    const given = { answers: true, by_hand: undefined, asked: 0, ...facts };
    expect(askFirst(read(BARE, more), given)).toEqual(expected);
  });
});

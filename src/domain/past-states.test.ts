import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/json.ts';
import { NOW, seenTask } from '../../tests/support/seen-task.ts';
import { listPastStates, type TaskEvent } from './past-states.ts';
import { digestRecord } from './record-digests.ts';
import { claimRecord, editRecord } from './task-changes.ts';
import type { TaskRecord } from './task-record.ts';
import { toTask } from './to-task.ts';

const FIRST = editRecord(seenTask().record, { metadata: new Map([['key', { value: 'a' }]]) }, NOW);
const SECOND = editRecord(FIRST, { fields: new Map([['title', 'Two']]) }, NOW + 1);
const KNOWN = editRecord(SECOND, { fields: new Map([['other', 'x']]) }, NOW + 2);

const tell = (record: TaskRecord): JsonObject => ({ ...toTask(record, 1) }) as unknown as JsonObject;
const event = (seq: number, data: TaskEvent['data']): TaskEvent => ({ seq, data });

function digestsOf(...events: TaskEvent[]): (string | undefined)[] {
  return listPastStates(KNOWN, events).map(({ record }) => record && digestRecord(record));
}

describe('listPastStates', () => {
  it('gives the state after each event, keys of others as they are known', () => {
    const withOther = editRecord(FIRST, { fields: new Map([['other', 'x']]) }, NOW);
    expect(digestsOf(event(1, { task: tell(FIRST) }), event(2, { task: tell(SECOND) }))).toEqual([
      digestRecord(withOther),
      digestRecord(KNOWN),
    ]);
  });

  it('takes what an event leaves out from one before', () => {
    const { title, ...rest } = tell(SECOND);
    const first = event(1, { task: tell(SECOND) });
    const states = digestsOf(first, event(2, { task: rest, left_out: ['title'] }));
    expect(states[1]).toBe(states[0]);
    expect(title).toBe('Two');
  });

  it('tells nothing where none before has it, and where metadata is left out', () => {
    const { title: _, ...rest } = tell(SECOND);
    expect(digestsOf(event(2, { task: rest, left_out: ['title'] }))).toEqual([undefined]);
    const first = event(1, { task: tell(SECOND) });
    expect(digestsOf(first, event(2, { task: tell(SECOND), left_out: ['metadata'] }))[1]).toBeUndefined();
  });

  it('takes metadata that is not told for none', () => {
    const { metadata: _, ...rest } = tell(SECOND);
    const none = editRecord(KNOWN, { metadata: new Map([['key', { value: undefined }]]) }, NOW + 3);
    expect(digestsOf(event(1, { task: rest }))).toEqual([digestRecord(none)]);
  });

  it('leaves out events that tell no row', () => {
    expect(digestsOf(event(1, {}), event(2, { changed: ['title'] }))).toEqual([]);
  });

  it.each([
    [['other'], true],
    [['title', 'other'], true],
    [['title'], false],
    [['unknown'], false],
    [undefined, false],
  ])('knows a key of others: %j', (changed, has_foreign) => {
    const [state] = listPastStates(KNOWN, [event(1, { task: tell(SECOND), ...(changed && { changed }) })]);
    expect(state?.has_foreign).toBe(has_foreign);
  });

  it('takes the state of the same life from the line, of another from the event', () => {
    const claimed = claimRecord(KNOWN, 'ann', NOW + 5, 'strange');
    const told = (state: string, more = {}) => event(1, { task: { ...tell(claimed), state, ...more } });
    const states = (...events: TaskEvent[]) =>
      listPastStates(claimed, events).map(({ record }) => record?.life.state);
    expect(states(told('in_progress'))).toEqual(['strange']);
    expect(states(told('review', { assignee: 'bob' }))).toEqual(['review']);
  });

  it('gives nothing of a row that is none', () => {
    expect(digestsOf(event(1, { task: { ...tell(SECOND), priority: 'high' } }))).toEqual([undefined]);
  });
});

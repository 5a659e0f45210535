import { describe, expect, it } from 'vitest';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, close, create } from './behaviour/open-behaviour.ts';

describe('the moves of a task', () => {
  it('are asked for one fact, whatever their number', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Task');
    move(temp, id, [
      ['todo', 'in_progress', 'agent:bot'],
      ['in_progress', 'in_progress', 'user:ann'],
      ['in_progress', 'review', 'agent:bot'],
      ['review', 'in_progress', 'system', 1],
      ['in_progress', 'review', 'agent:other'],
      ['review', 'review', 'user:bea'],
    ]);
    const { store } = temp;
    expect(await store.findMove({ id })).toMatchObject({ triggered_by: 'user:bea' });
    expect(await store.findMove({ id, to_state: 'review', changes_state: true })).toMatchObject({
      triggered_by: 'agent:other',
    });
    expect(await store.findMove({ id, from_status: 'open', to_status: 'in_progress' })).toMatchObject({
      triggered_by: 'agent:bot',
    });
    expect(await store.findMove({ id, triggered_by: 'user:carl' })).toBeUndefined();
    expect(await store.listTransitions({ id, limit: 2, changes_state: true })).toMatchObject([
      { from_state: 'review', rejection: true },
      { to_state: 'review', triggered_by: 'agent:other' },
    ]);
  });

  it.each([
    ['nothing', [], {}, undefined],
    ['what was said since a person unblocked it', 'user:ann', { review: 1 }, 2],
    ['all where an agent unblocked it', 'agent:bot', { review: 2, merging: 1 }, undefined],
    ['all where Forge unblocked it', 'system', { review: 2, merging: 1 }, undefined],
  ])('count %s against the budget of a gate', async (_what, who, counted, granted) => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Task');
    if (typeof who === 'string')
      move(temp, id, [
        ['review', 'in_progress', 'system', 1],
        ['merging', 'blocked', 'system', 1],
        ['blocked', 'todo', who],
        ['review', 'in_progress', 'user:ann'],
        ['review', 'in_progress', 'system', 1],
      ]);
    const { rejections } = await temp.store.readStanding(id);
    expect(Object.fromEntries(rejections)).toEqual(counted);
    const grant = await temp.store.findGrant({ id, blocked: 'blocked' });
    expect(grant?.created_at).toBe(granted === undefined ? undefined : at(granted));
    expect(await temp.store.findGrant({ id, blocked: undefined })).toBeUndefined();
  });
});

describe('the history of a task', () => {
  it('ends early where its events are large, but not before its newest entry', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Task');
    const comment = (body: string) => temp.store.addComment({ id, body, reply_to: null }, by(temp));
    for (const letter of ['a', 'b', 'c']) await comment(letter.repeat(3_000));
    const told = async (max_bytes: number) =>
      (await temp.store.readHistory({ id, limit: 3, max_bytes })).map(({ summary }) => summary.slice(0, 10));
    expect(await told(1)).toEqual(['comment: c']);
    expect(await told(9_000)).toEqual(['comment: b', 'comment: c']);
    expect(await told(100_000)).toEqual(['comment: a', 'comment: b', 'comment: c']);
    const newest = await temp.store.listNewestComments({ id, limit: 2 });
    expect(newest.map(({ body }) => body.slice(0, 1))).toEqual(['b', 'c']);
  });

  it('is asked for its next entry of a type, and knows no entry twice', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Task');
    await close(temp, id);
    const { store } = temp;
    const closed = await store.findEntry({ id, type: 'task.closed', after: 0 });
    expect(closed).toMatchObject({ summary: 'closed: done', from_state: 'todo', to_state: 'done' });
    expect(await store.findEntry({ id, after: 0 })).toMatchObject({ type: 'task.created' });
    expect(await store.findEntry({ id, after: closed?.seq ?? 0 })).toBeUndefined();
    expect(await store.newestEntryOf(id)).toBe(closed?.seq);
    expect(await store.newestEntryOf('fg-none')).toBe(0);
  });
});

type Moved = readonly [from: string, to: string, by: string, rejection?: number];

/** As a history file brings them. */
function move(temp: TempStore, id: string, moves: readonly Moved[]): void {
  using db = temp.connect();
  const insert = db.prepare(`INSERT INTO transitions
    (task_id, created_at, from_state, to_state, triggered_by, from_status, to_status, rejection) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const statusOf = (state: string): string => (state === 'todo' ? 'open' : 'in_progress');
  for (const [second, [from, to, who, rejection = 0]] of moves.entries())
    insert.run(id, at(second), from, to, who, statusOf(from), statusOf(to), rejection);
}

function at(second: number): string {
  return `2026-03-01T00:00:0${second}.000Z`;
}

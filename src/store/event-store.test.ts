import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, test } from 'vitest';
import { tempStore } from '../../tests/support/temp-store.ts';
import { newTask } from './behaviour/open-behaviour.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';

const by = { actor: { kind: 'agent', name: 'worker-1', named: true }, now: 1_790_000_000_000 } as const;

describe('the feed of events of a database', () => {
  test('[M6] forgets old events, keeps the moves, and gives the space back', async () => {
    await using feed = await feedOf(Array.from({ length: 50 }, () => 'x'.repeat(400)));
    const { store } = feed;
    const [id = ''] = feed.ids;
    const day = 86_400_000;
    await store.claimTask({ id, assignee: 'worker-1', force: false, agents: NO_AGENTS }, by);
    for (let n = 0; n < 200; n += 1)
      await store.updateTask({ id, description: `${n}`.padEnd(20_000, 'z') }, by);
    const late = { ...by, now: by.now + 100 * day };
    await store.updateTask({ id, title: 'late' }, late);
    const { events, database } = await store.pruneEvents(late.now - 90 * day);
    expect(events).toBe(252);
    expect(database.after).toBeLessThan(database.before / 2);
    expect((await store.readEvents({ after: 0, limit: 10 })).events.map(({ seq }) => seq)).toEqual([253]);
    expect(await store.readFeed()).toMatchObject({ oldest: 253, newest: 253 });
    const history = await store.readHistory({ id, limit: undefined });
    expect(history.map(({ type, to_state }) => [type, to_state])).toEqual([
      ['task.status_changed', 'in_progress'],
      ['task.updated', null],
    ]);
    // The newest stays at any age: numbers go on from it.
    expect(await store.pruneEvents(late.now + day)).toMatchObject({ events: 0 });
    expect(await store.readChangedTasks('x', 1)).toBeUndefined();
  });

  test('looks at some thousand rows at most, and says how far it came', async () => {
    await using feed = await feedOf(['a']);
    using db = feed.temp.connect();
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
      INSERT INTO events (seq, type, triggered_by, created_at, data) SELECT i, 'task.updated', 'user:x', '', '{}' FROM n`);
    const first = await feed.store.readEvents({ after: 1, limit: 10, types: ['task.created'] });
    expect(first).toEqual({ events: [], upto: 5_001, newest: 12_000 });
    const last = await feed.store.readEvents({ after: 10_002, limit: 10, types: ['task.created'] });
    expect(last).toEqual({ events: [], upto: 12_000, newest: 12_000 });
  });

  test('a database made anew is another feed', async () => {
    await using feed = await feedOf(['a']);
    const before = await feed.store.readFeed();
    expect(before.newest).toBe(1);
    feed.temp.clock.advance(1000);
    await feed.temp.rebuild();
    const { database, replica, clock } = feed.temp;
    await using anew = await openSqliteStore({ database, replica, clock });
    expect((await anew.readFeed()).epoch).not.toBe(before.epoch);
  });
});

async function feedOf(titles: readonly string[]) {
  const temp = await tempStore();
  const { database, replica, clock } = temp;
  const store = await openSqliteStore({ database, replica, clock });
  const ids: string[] = [];
  for (const title of titles) {
    const task = await store.createTask(newTask(title), by);
    ids.push(task.id);
  }
  return {
    temp,
    store,
    ids,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await temp[Symbol.asyncDispose]();
    },
  };
}

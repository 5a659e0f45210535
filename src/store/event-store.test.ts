import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, test } from 'vitest';
import { tempStore } from '../../tests/support/temp-store.ts';
import { newTask } from './behaviour/open-behaviour.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';

const by = { actor: { kind: 'agent', name: 'worker-1', named: true }, now: 1_790_000_000_000 } as const;

describe('the feed of events', () => {
  test('[S161] [S181] gives every change as a row with the new task, in the order of commits', async () => {
    await using feed = await feedOf(['a', 'b']);
    const { events, upto, newest } = await feed.store.readEvents({ after: 0, limit: 10 });
    expect(events.map(({ seq, type, triggered_by }) => [seq, type, triggered_by])).toEqual([
      [1, 'task.created', 'agent:worker-1'],
      [2, 'task.created', 'agent:worker-1'],
    ]);
    expect({ upto, newest }).toEqual({ upto: 2, newest: 2 });
    expect(JSON.parse(events[1]?.data ?? '')).toMatchObject({ task: { id: feed.ids[1], title: 'b' } });
  });

  test('pages without a gap or a duplicate', async () => {
    await using feed = await feedOf(Array.from({ length: 25 }, (_, at) => `task ${at}`));
    const seen: number[] = [];
    for (let after = 0; ;) {
      const page = await feed.store.readEvents({ after, limit: 10 });
      seen.push(...page.events.map(({ seq }) => seq));
      after = page.upto;
      if (after === page.newest) break;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, at) => at + 1));
  });

  test('filters by task and by type', async () => {
    await using feed = await feedOf(['a', 'b', 'c']);
    const [, id = ''] = feed.ids;
    await feed.store.claimTask({ id, assignee: 'worker-1', force: false, agents: NO_AGENTS }, by);
    const of = async (more: object) =>
      (await feed.store.readEvents({ after: 0, limit: 10, ...more })).events.map(({ seq }) => seq);
    expect(await of({ task_id: id })).toEqual([2, 4, 5]);
    expect(await of({ types: ['task.claimed'] })).toEqual([4]);
    expect(await of({ types: ['task.status_changed'] })).toEqual([5]);
    expect(await of({ types: ['task.claimed', 'task.created'] })).toEqual([1, 2, 3, 4]);
    expect(await of({ task_id: id, types: ['task.created'] })).toEqual([2]);
    expect(await of({ types: ["x' OR 1=1 --"] })).toEqual([]);
  });

  test('[S162] [S397] claims, releases, closes and reopenings are changes of status too, beside their finer names', async () => {
    await using feed = await feedOf(['a']);
    const [id = ''] = feed.ids;
    const { store } = feed;
    await store.claimTask({ id, assignee: 'worker-1', force: false, agents: NO_AGENTS }, by);
    await store.releaseTask({ id, owner: 'worker-1', force: false, reason: null }, by);
    await store.closeTask({ id, reason: 'done' }, by);
    await store.reopenTask({ id, reason: null }, by);
    const { events } = await store.readEvents({ after: 1, limit: 20 });
    expect(
      events.map(({ type, data }) => {
        const { beside, from_state, to_state } = JSON.parse(data) as Record<string, string>;
        return beside === undefined ? type : `${type} ${beside} ${from_state} ${to_state}`;
      }),
    ).toEqual([
      'task.claimed',
      'task.status_changed task.claimed todo in_progress',
      'task.released',
      'task.status_changed task.released in_progress todo',
      'task.closed',
      'task.status_changed task.closed todo done',
      'task.reopened',
      'task.status_changed task.reopened done todo',
    ]);
    // A person who reads the history wants each of them once.
    const history = await store.readHistory({ id, limit: undefined });
    expect(history.map(({ type }) => type)).toEqual([
      'task.created',
      'task.claimed',
      'task.released',
      'task.closed',
      'task.reopened',
    ]);
  });

  test('[M6] [D13] does not copy what is long and did not change', async () => {
    await using feed = await feedOf([]);
    const { store } = feed;
    const long = 'x'.repeat(134_000);
    const metadata = new Map(Object.entries({ big: long, n: 0 }));
    const { id } = await store.createTask(newTask('large', { description: long, metadata }), by);
    const size = async (): Promise<number> => {
      const { events } = await store.readEvents({ after: 1, limit: 1_000 });
      return events.reduce((sum, { data }) => sum + data.length, 0);
    };
    for (let n = 1; n <= 30; n += 1) await store.updateTask({ id, metadata_set: new Map([['n', n]]) }, by);
    expect(await size()).toBeLessThan(30 * 2_000);
    const { events } = await store.readEvents({ after: 30, limit: 1 });
    expect(JSON.parse(events[0]?.data ?? '')).toMatchObject({
      task: { id, title: 'large', metadata: { n: 30 } },
      left_out: ['description', 'metadata'],
    });
    await store.updateTask({ id, description: `${long}y` }, by);
    expect(await size()).toBeGreaterThan(134_000);
  });

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

  test('stops at a size, but gives one event whatever its size', async () => {
    await using feed = await feedOf(['a', 'b'.repeat(400), 'c', 'd']);
    const sizes: number[] = [];
    for (let after = 0; after < 4;) {
      const { events, upto } = await feed.store.readEvents({ after, limit: 10, max_bytes: 1_000 });
      sizes.push(events.length);
      expect(upto).toBe(events.at(-1)?.seq);
      after = upto;
    }
    expect(sizes.reduce((sum, count) => sum + count, 0)).toBe(4);
    expect(sizes.length).toBeGreaterThan(1);
    const tiny = await feed.store.readEvents({ after: 0, limit: 10, max_bytes: 1 });
    expect(tiny.events.map(({ seq }) => seq)).toEqual([1]);
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

  test('a position beyond the newest gives nothing and does not go back', async () => {
    await using feed = await feedOf(['a']);
    expect(await feed.store.readEvents({ after: 99, limit: 10 })).toEqual({
      events: [],
      upto: 99,
      newest: 1,
    });
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

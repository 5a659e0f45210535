import { describe, expect, test } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { newTask, type OpenStore } from './open-behaviour.ts';

const by = { actor: { kind: 'agent', name: 'worker-1', named: true }, now: 1_790_000_000_000 } as const;

/** The durable change feed. */
export function describeEvents(open: OpenStore): void {
  describe('the feed of events', () => {
    test('[S161] [S181] gives every change as a row with the new task, in the order of commits', async () => {
      await using feed = await feedOf(open, ['a', 'b']);
      const { events, upto, newest } = await feed.store.readEvents({ after: 0, limit: 10 });
      expect(events.map(({ seq, type, triggered_by }) => [seq, type, triggered_by])).toEqual([
        [1, 'task.created', 'agent:worker-1'],
        [2, 'task.created', 'agent:worker-1'],
      ]);
      expect({ upto, newest }).toEqual({ upto: 2, newest: 2 });
      expect(JSON.parse(events[1]?.data ?? '')).toMatchObject({ task: { id: feed.ids[1], title: 'b' } });
    });

    test('pages without a gap or a duplicate', async () => {
      await using feed = await feedOf(
        open,
        Array.from({ length: 25 }, (_, at) => `task ${at}`),
      );
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
      await using feed = await feedOf(open, ['a', 'b', 'c']);
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
      await using feed = await feedOf(open, ['a']);
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
      await using feed = await feedOf(open, []);
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

    test('stops at a size, but gives one event whatever its size', async () => {
      await using feed = await feedOf(open, ['a', 'b'.repeat(400), 'c', 'd']);
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

    test('a position beyond the newest gives nothing and does not go back', async () => {
      await using feed = await feedOf(open, ['a']);
      expect(await feed.store.readEvents({ after: 99, limit: 10 })).toEqual({
        events: [],
        upto: 99,
        newest: 1,
      });
    });

    test('keeps what an event carries as the bytes of its JSON: names in the order in which they were told', async () => {
      await using feed = await feedOf(open, []);
      const { store } = feed;
      const data = {
        b: 1,
        a: { '2': [1.5, null, 'é \u0001 \u{1f98a} "'], '10': true },
        __proto__: undefined,
      };
      await store.noteEvent({ type: 'project.noted', data }, by);
      const { events } = await store.readEvents({ after: 0, limit: 10 });
      expect(events.map((event) => event.data)).toEqual([JSON.stringify(data)]);
    });

    test('counts bytes, not characters', async () => {
      await using feed = await feedOf(open, []);
      for (const text of ['x'.repeat(100), 'é'.repeat(100), '🦊'.repeat(100)])
        await feed.store.noteEvent({ type: 'project.noted', data: { text } }, by);
      const read = async (max_bytes: number) =>
        (await feed.store.readEvents({ after: 0, limit: 10, max_bytes })).events.length;
      // 111, 211 and 411 bytes.
      expect([await read(321), await read(322), await read(732), await read(733)]).toEqual([1, 2, 2, 3]);
    });
  });
}

async function feedOf(open: OpenStore, titles: readonly string[]) {
  const sut = await open();
  const { store } = sut;
  const ids: string[] = [];
  for (const title of titles) {
    const task = await store.createTask(newTask(title), by);
    ids.push(task.id);
  }
  return { store, ids, [Symbol.asyncDispose]: () => sut[Symbol.asyncDispose]() };
}

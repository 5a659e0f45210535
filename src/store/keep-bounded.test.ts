import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { newTask } from './behaviour/open-behaviour.ts';

const DAY_MS = 86_400_000;

const writer = ({ clock }: TempStore) =>
  ({ actor: { kind: 'agent', name: 'worker-1', named: true }, now: clock.now() }) as const;

describe.each(shareOf(['block', 'await'] as const, 2))('a store whose locks are met with %s', (lock) => {
  it('[M6] forgets the events of which there are too many, a portion at a time, and no more', async () => {
    await using temp = await tempStore({ lock });
    const { store } = temp;
    const by = writer(temp);
    const { id } = await store.createTask(newTask('bounded'), by);
    await store.claimTask({ id, assignee: 'worker-1', force: false, agents: NO_AGENTS }, by);
    addEvents(temp, KEPT_LIMITS.events + KEPT_LIMITS.events_over - 10);
    // Some more than the bound may stand.
    expect(await store.keepBounded(by.now)).toEqual({ events: 0, replica: false });
    addEvents(temp, 2 * KEPT_LIMITS.events_at_once);
    const { newest } = await store.readFeed();
    const forgotten: number[] = [];
    for (let rest = 1; rest > 0;) {
      rest = (await store.keepBounded(by.now)).events;
      forgotten.push(rest);
    }
    expect(Math.max(...forgotten)).toBe(KEPT_LIMITS.events_at_once);
    const feed = await store.readFeed();
    expect(feed.newest).toBe(newest);
    const kept = feed.newest - feed.oldest + 1;
    expect(kept).toBeGreaterThanOrEqual(KEPT_LIMITS.events);
    expect(kept).toBeLessThanOrEqual(KEPT_LIMITS.events + KEPT_LIMITS.events_over);
    // The task's own move is told without its event.
    const history = await store.readHistory({ id, limit: undefined });
    expect(history.map(({ type, to_state }) => [type, to_state])).toEqual([
      ['task.status_changed', 'in_progress'],
    ]);
    expect(await store.readChangedTasks('x', 1)).toBeUndefined();
  });

  it('[M6] forgets the events that are too old, and keeps the newest at any age', async () => {
    await using temp = await tempStore({ lock });
    const { store, clock } = temp;
    await store.createTask(newTask('old'), writer(temp));
    await store.createTask(newTask('old too'), writer(temp));
    clock.advance((KEPT_LIMITS.event_days - 1) * DAY_MS);
    await store.createTask(newTask('young'), writer(temp));
    expect(await store.keepBounded(clock.now())).toMatchObject({ events: 0 });
    clock.advance(2 * DAY_MS);
    expect(await store.keepBounded(clock.now())).toMatchObject({ events: 2 });
    expect(await store.readFeed()).toMatchObject({ oldest: 3, newest: 3 });
    clock.advance(1_000 * DAY_MS);
    expect(await store.keepBounded(clock.now())).toMatchObject({ events: 0 });
    expect(await store.readFeed()).toMatchObject({ oldest: 3, newest: 3 });
  });

  it('writes the replica anew where it is several times as long as it must be, and loses nothing', async () => {
    await using temp = await tempStore({ lock });
    const { store } = temp;
    const by = writer(temp);
    const { id } = await store.createTask(newTask('long'), by);
    const size = (): number => statSync(temp.replica).size;
    for (let n = 0; size() <= KEPT_LIMITS.replica_bytes; n += 1) {
      expect((await store.keepBounded(by.now)).replica).toBe(false);
      await store.updateTask({ id, description: `${n}`.padEnd(250_000, 'z') }, by);
    }
    const before = await store.getTask(id);
    expect((await store.keepBounded(by.now)).replica).toBe(true);
    expect(size()).toBeLessThan(2_000_000);
    expect((await store.keepBounded(by.now)).replica).toBe(false);
    await store.addComment({ id, body: 'afterwards', reply_to: null }, by);
    await temp.rebuild();
    expect(await temp.store.getTask(id)).toMatchObject({
      description: before.description,
      comments: [{ body: 'afterwards' }],
    });
    await temp.reopen();
    expect(await temp.store.diagnose(by.now)).toMatchObject({ replica_complete: true });
  });
});

it('joins in first what a crash left in the replica', async () => {
  await using temp = await tempStore();
  const by = writer(temp);
  const { id } = await temp.store.createTask(newTask('crashed'), by);
  await growReplica(temp, id);
  await temp.store.updateTask({ id, description: 'short' }, by);
  // As after a crash between the replica's sync and the commit.
  using db = temp.connect();
  db.exec("UPDATE store_facts SET value = value - 10 WHERE name = 'replica_bytes'");
  expect((await temp.store.keepBounded(by.now)).replica).toBe(false);
  expect((await temp.store.keepBounded(by.now)).replica).toBe(true);
  expect(await temp.store.getTask(id)).toMatchObject({ description: 'short' });
});

it('keeps no writer from its work where the replica cannot be written anew', async () => {
  await using temp = await tempStore();
  const by = writer(temp);
  const { id } = await temp.store.createTask(newTask('large'), by);
  await growReplica(temp, id);
  // The name that the new file would have.
  const blocked = `${temp.replica}.${process.pid}.tmp`;
  mkdirSync(blocked);
  expect(await temp.store.keepBounded(by.now)).toEqual({ events: 0, replica: false });
  await temp.store.updateTask({ id, description: 'written all the same' }, by);
  rmSync(blocked, { recursive: true });
  expect((await temp.store.keepBounded(by.now)).replica).toBe(true);
  expect(await temp.store.getTask(id)).toMatchObject({ description: 'written all the same' });
});

it('leaves a replica alone that would keep other writers waiting', async () => {
  await using temp = await tempStore();
  const by = writer(temp);
  const size = (): number => statSync(temp.replica, { throwIfNoEntry: false })?.size ?? 0;
  while (size() <= KEPT_LIMITS.replica_whole_bytes)
    await temp.store.createTask({ ...newTask('large'), description: 'y'.repeat(1_000_000) }, by);
  const before = size();
  for (const _ of ['begun', 'not begun again'])
    expect(await temp.store.keepBounded(by.now)).toEqual({ events: 0, replica: false });
  expect([size(), readdirSync(temp.folder).filter((name) => name.endsWith('.tmp'))]).toEqual([before, []]);
  await temp.store.createTask(newTask('afterwards'), by);
  expect(await temp.store.compactReplica(by)).toMatchObject({ before: size() });
  expect(await temp.store.diagnose(by.now)).toMatchObject({ replica_complete: true });
});

/** Until the replica is to be written anew. */
async function growReplica(temp: TempStore, id: string): Promise<void> {
  for (let n = 0; statSync(temp.replica).size <= KEPT_LIMITS.replica_bytes; n += 1)
    await temp.store.updateTask({ id, description: `${n}`.padEnd(250_000, 'z') }, writer(temp));
}

/** Events of a project that is long in use, without the hours that it took to write them. */
function addEvents(temp: TempStore, count: number): void {
  using db = temp.connect();
  db.prepare(
    `INSERT INTO events (type, task_id, triggered_by, created_at, data)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     SELECT 'project.changed', NULL, 'user:ann', ?, '{"changed":[]}' FROM n`,
  ).run(count, new Date(temp.clock.now()).toISOString());
}

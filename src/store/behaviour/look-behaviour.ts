import { describe, expect, it } from 'vitest';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { toRequest } from '../../../tests/support/fold-lines.ts';
import { by, close, create, line, type OpenStore, type StoreUnderTest } from './open-behaviour.ts';

const { shown, blockers_shown } = NEIGHBOUR_LIMITS;

/** Looks that read a part of what hangs on a task. */
export function describeLooks(open: OpenStore): void {
  describe('the neighbours of a task', () => {
    it('a deletion changes each neighbour once, with any number of ties, and so does the restore', async () => {
      await using sut = await open();
      const hub = await create(sut, 'Hub');
      const both = await create(sut, 'Both', { parent_id: hub.id, depends_on: [hub.id] });
      await sut.store.addDependency({ from_id: both.id, to_id: hub.id, type: 'related' }, by(sut));
      const before = await sut.store.newestEvent();
      await sut.store.deleteTask({ id: hub.id }, by(sut));
      expect(await told(sut, before)).toEqual([
        ['task.updated', both.id, ['parent_id', 'dependencies']],
        ['task.deleted', hub.id, []],
      ]);
      const after = await sut.store.newestEvent();
      await sut.store.restoreTask({ id: hub.id }, by(sut));
      expect(await told(sut, after)).toEqual([
        ['task.created', hub.id, []],
        ['task.updated', both.id, ['parent_id', 'dependencies']],
      ]);
      expect(await sut.store.getTask(both.id)).toMatchObject({
        parent_id: hub.id,
        version: both.version + 3,
        dependencies: [{ type: 'blocks' }, { type: 'related' }],
      });
    });

    it('lists of neighbours are bounded, and what is left out is counted', async () => {
      await using sut = await open();
      const hub = await create(sut, 'Hub');
      await fill(sut, hub.id, { count: shown + 2, ties: 'dependents', prefix: 'd' });
      await fill(sut, hub.id, { count: shown + 3, ties: 'children', prefix: 'c' });
      const view = await sut.store.getTask(hub.id);
      expect(view).toMatchObject({ dependents_more: 2, subtasks_more: 3, child_count: shown + 3 });
      expect([view.dependents.length, view.subtasks.length]).toEqual([shown, shown]);
      const [first] = await sut.store.listBlocked({ limit: 1 });
      expect(first).toMatchObject({ blockers: [{ id: hub.id }] });
      expect(first).not.toHaveProperty('blockers_more');
      const closed = await close(sut, hub.id);
      expect(closed.unblocked).toHaveLength(shown);
      expect(closed.unblocked_more).toBe(2);
    });

    it('of what a task waits for some are listed, and the others counted', async () => {
      await using sut = await open();
      const waiting = { id: 'fg-wait' };
      await fill(sut, 'fg-wait', { count: blockers_shown + 5, ties: 'blockers' });
      const [listed] = await sut.store.listBlocked({ limit: undefined });
      expect(listed).toMatchObject({ id: waiting.id, blockers_more: 5 });
      expect(listed?.blockers).toHaveLength(blockers_shown);
      const [explained] = (await sut.store.explainReady({})).filter(({ id }) => id === waiting.id);
      expect(explained).toMatchObject({ blockers_more: 5 });
      expect(explained?.reasons.at(-1)).toBe('waits for 5 more');
    });

    it('a tree and a graph around a task are read only as far as they may be large', async () => {
      await using sut = await open();
      const hub = { id: 'fg-wait' };
      await fill(sut, 'fg-wait', { count: 2_000, ties: 'blockers' });
      const tree = (most: number) => sut.store.readTree({ id: hub.id, depth: 9, most });
      expect((await tree(2_000)).children).toHaveLength(2_000);
      expect(await tree(1_999)).toMatchObject({ id: hub.id, children: [], too_many: true });
      const graph = (edges: number) =>
        sut.store.readGraph({ id: hub.id, all: false, most: { nodes: 3_000, edges } });
      expect((await graph(2_000)).edges).toHaveLength(2_000);
      expect(await graph(1_999)).toEqual({ nodes: [], edges: [], too_many: 'edges' });
    });
  });

  describe('the moves of a task', () => {
    it('are asked for one fact, whatever their number', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Task');
      await move(sut, id, [
        ['todo', 'in_progress', 'agent:bot'],
        ['in_progress', 'in_progress', 'user:ann'],
        ['in_progress', 'review', 'agent:bot'],
        ['review', 'in_progress', 'system', 1],
        ['in_progress', 'review', 'agent:other'],
        ['review', 'review', 'user:bea'],
      ]);
      const { store } = sut;
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
      await using sut = await open();
      const { id } = await create(sut, 'Task');
      if (typeof who === 'string')
        await move(sut, id, [
          ['review', 'in_progress', 'system', 1],
          ['merging', 'blocked', 'system', 1],
          ['blocked', 'todo', who],
          ['review', 'in_progress', 'user:ann'],
          ['review', 'in_progress', 'system', 1],
        ]);
      const { rejections } = await sut.store.readStanding(id);
      expect(Object.fromEntries(rejections)).toEqual(counted);
      const grant = await sut.store.findGrant({ id, blocked: 'blocked' });
      expect(grant?.created_at).toBe(granted === undefined ? undefined : at(granted));
      expect(await sut.store.findGrant({ id, blocked: undefined })).toBeUndefined();
    });
  });

  describe('the history of a task', () => {
    it('ends early where its events are large, but not before its newest entry', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Task');
      const comment = (body: string) => sut.store.addComment({ id, body, reply_to: null }, by(sut));
      for (const letter of ['a', 'b', 'c']) await comment(letter.repeat(3_000));
      const told = async (max_bytes: number) =>
        (await sut.store.readHistory({ id, limit: 3, max_bytes })).map(({ summary }) => summary.slice(0, 10));
      expect(await told(1)).toEqual(['comment: c']);
      expect(await told(9_000)).toEqual(['comment: b', 'comment: c']);
      expect(await told(100_000)).toEqual(['comment: a', 'comment: b', 'comment: c']);
      const newest = await sut.store.listNewestComments({ id, limit: 2 });
      expect(newest.map(({ body }) => body.slice(0, 1))).toEqual(['b', 'c']);
    });

    it('is asked for its next entry of a type, and knows no entry twice', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Task');
      await close(sut, id);
      const { store } = sut;
      const closed = await store.findEntry({ id, type: 'task.closed', after: 0 });
      expect(closed).toMatchObject({ summary: 'closed: done', from_state: 'todo', to_state: 'done' });
      expect(await store.findEntry({ id, after: 0 })).toMatchObject({ type: 'task.created' });
      expect(await store.findEntry({ id, after: closed?.seq ?? 0 })).toBeUndefined();
      expect(await store.newestEntryOf(id)).toBe(closed?.seq);
      expect(await store.newestEntryOf('fg-none')).toBe(0);
    });
  });
}

/** Tasks that are tied to one, as another store has written them. */
function fill(
  sut: StoreUnderTest,
  id: string,
  {
    count,
    ties,
    prefix = 'n',
  }: { count: number; ties: 'children' | 'dependents' | 'blockers'; prefix?: string },
): Promise<void> {
  const ids = Array.from({ length: count }, (_, at) => `fg-${prefix}${at + 1}`);
  const dependencies = [{ id, type: 'blocks' }];
  const tie = { children: { parent_id: id }, dependents: { dependencies }, blockers: {} }[ties];
  const blocked = ids.map((one) => ({ id: one, type: 'blocks' }));
  const waiting = { ...line('fg-wait', { dependencies: blocked }) };
  return sut.bring([...ids.map((one) => line(one, tie)), ...(ties === 'blockers' ? [waiting] : [])]);
}

async function told(sut: StoreUnderTest, after: number): Promise<unknown[]> {
  const { events } = await sut.store.readEvents({ after, limit: 100 });
  return events.map(({ type, task_id, data }) => [
    type,
    task_id,
    (JSON.parse(data) as { changed: unknown }).changed,
  ]);
}

type Moved = readonly [from: string, to: string, by: string, rejection?: number];

/** As a history file brings them. */
async function move(sut: StoreUnderTest, task: string, moves: readonly Moved[]): Promise<void> {
  const statusOf = (state: string): string => (state === 'todo' ? 'open' : 'in_progress');
  const lines = moves.map(([from, to, who, rejection], second) => ({
    task,
    at: at(second),
    from,
    to,
    by: who,
    rejection: rejection === 1,
    from_status: statusOf(from),
    to_status: statusOf(to),
  }));
  await sut.store.foldHistory(
    toRequest(lines, { path: '/somewhere/history.jsonl' }),
    by(sut, 'store', 'system'),
  );
}

function at(second: number): string {
  return `2026-03-01T00:00:0${second}.000Z`;
}

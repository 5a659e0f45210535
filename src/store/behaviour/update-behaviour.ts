import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { toIso } from '#kernel/clock.ts';
import type { Json } from '#kernel/json.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { TaskUpdate } from '../store.ts';
import {
  by,
  claim,
  close,
  create,
  depend,
  everything,
  expectCode,
  type OpenStore,
  type StoreUnderTest,
} from './open-behaviour.ts';

type Change = Omit<TaskUpdate, 'id'>;

export function describeUpdate(open: OpenStore): void {
  describe('updateTask', () => {
    it.each<[string, Change, Partial<Task>]>([
      ['title', { title: 'New' }, { title: 'New' }],
      ['description', { description: 'More\n' }, { description: 'More\n' }],
      ['description', { description: '' }, { description: '' }],
      ['priority', { priority: 4 }, { priority: 4 }],
      ['type', { type: 'message' }, { type: 'message' }],
      ['github_issue', { github_issue: 47 }, { github_issue: 47 }],
      ['github_issue', { github_issue: null }, { github_issue: null }],
      ['parent_id', { parent_id: null }, { parent_id: null }],
      ['labels', { labels_add: ['b', 'a', 'c'] }, { labels: ['a', 'b', 'c', 'kept', 'old'] }],
      ['labels', { labels_remove: ['old', 'never there'] }, { labels: ['kept'] }],
      ['labels', { labels_add: ['new'], labels_remove: ['new', 'old'] }, { labels: ['kept', 'new'] }],
      ['metadata', { metadata_set: json({ n: 2, list: [1] }) }, { metadata: { n: 2, list: [1], k: 'v' } }],
      ['metadata', { metadata_unset: ['k', 'never there'] }, { metadata: { n: 1 } }],
      [
        'metadata',
        { metadata_set: json({ k: null }), metadata_unset: ['k', 'n'] },
        { metadata: { k: null } },
      ],
    ])('changes %s and nothing else: %j', async (name, change, expected) => {
      await using sut = await open();
      const task = await fullTask(sut);
      const writer = by(sut, 'bob');
      const updated = await sut.store.updateTask({ id: task.id, ...change, agents: NO_AGENTS }, writer);
      expect(updated).toStrictEqual({
        ...task,
        ...expected,
        version: task.version + 1,
        updated_at: toIso(writer.now),
      });
      await sut.reopen();
      expect((await sut.store.listTasks({})).find(({ id }) => id === task.id)).toStrictEqual(updated);
      const last = (await sut.store.readHistory({ id: task.id, limit: 1 })).at(0);
      expect(last).toMatchObject({ type: 'task.updated', triggered_by: 'agent:bob', changed: [name] });
    });

    it('changes everything at once in one step', async () => {
      await using sut = await open();
      const task = await fullTask(sut);
      const epic = await create(sut, 'Other epic', { type: 'epic' });
      const change: Change = {
        title: 'All',
        description: 'of it',
        priority: 0,
        type: 'feature',
        github_issue: 8,
        parent_id: epic.id,
        status: 'in_progress',
        assignee: 'bob',
        labels_add: ['x'],
        labels_remove: ['old'],
        metadata_set: json({ deep: { er: true } }),
        metadata_unset: ['n'],
        version: task.version,
      };
      const updated = await sut.store.updateTask(
        { id: task.id, ...change, agents: NO_AGENTS },
        by(sut, 'bob'),
      );
      expect(updated).toMatchObject({
        title: 'All',
        description: 'of it',
        priority: 0,
        type: 'feature',
        github_issue: 8,
        parent_id: epic.id,
        status: 'in_progress',
        state: 'in_progress',
        assignee: 'bob',
        labels: ['kept', 'x'],
        metadata: { deep: { er: true }, k: 'v' },
        version: task.version + 1,
        claimed: true,
        fence: 1,
      });
      const [entry] = await sut.store.readHistory({ id: task.id, limit: 1 });
      expect(entry).toMatchObject({ type: 'task.claimed', from_state: 'todo', to_state: 'in_progress' });
    });

    it.each<[string, Change]>([
      ['nothing', {}],
      [
        'the same values',
        { title: 'Full', priority: 1, labels_add: ['kept'], metadata_set: json({ k: 'v' }) },
      ],
      ['what is not there taken away', { labels_remove: ['none'], metadata_unset: ['none'] }],
      ['the same state', { status: 'open', state: 'todo' }],
    ])('changes nothing when asked for %s', async (_what, change) => {
      await using sut = await open();
      const task = await fullTask(sut);
      const before = await everything(sut);
      expect(
        await sut.store.updateTask({ id: task.id, ...change, agents: NO_AGENTS }, by(sut)),
      ).toStrictEqual(task);
      expect(await everything(sut)).toEqual(before);
    });

    it('keeps labels, dependencies, comments and metadata through scalar updates and every status', async () => {
      await using sut = await open();
      const task = await fullTask(sut);
      const blocker = await create(sut, 'Blocker');
      await close(sut, blocker.id);
      await depend(sut, task.id, blocker.id);
      const { id: comment } = await sut.store.addComment(
        { id: task.id, body: 'Hm', reply_to: null },
        by(sut),
      );
      const steps: Change[] = [
        { title: 'Scalar' },
        { priority: 3 },
        { status: 'in_progress' },
        { status: 'closed', reason: 'tried' },
        { status: 'open' },
        { state: 'backlog' },
        { state: 'todo' },
      ];
      for (const step of steps) {
        await sut.store.updateTask({ id: task.id, ...step, agents: NO_AGENTS }, by(sut, 'ann', 'user'));
        const shown = await sut.store.getTask(task.id);
        expect(shown).toMatchObject({
          labels: ['kept', 'old'],
          metadata: { k: 'v', n: 1 },
          comments: [{ id: comment }],
        });
        expect(shown.dependencies.map(({ resolved }) => resolved?.title)).toEqual(['Blocker']);
      }
    });

    it('refuses an old version, says the current one and changes nothing', async () => {
      await using sut = await open();
      const task = await fullTask(sut);
      await sut.store.updateTask({ id: task.id, title: 'Second', version: 1 }, by(sut));
      const before = await everything(sut);
      const error = await expectCode(
        sut.store.updateTask({ id: task.id, title: 'Third', version: 1 }, by(sut)),
        'version_conflict',
      );
      expect(error.details).toMatchObject({ id: task.id, version: 2 });
      expect(await everything(sut)).toEqual(before);
    });

    it('refuses the fence of a claim that is over', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Contested');
      const first = await claim(sut, id, 'alice');
      const second = await claim(sut, id, 'bob', true);
      if (first.outcome !== 'claimed' || second.outcome !== 'claimed') throw new Error('not claimed');
      expect(second.fence).toBeGreaterThan(first.fence);
      const before = await everything(sut);
      const late = sut.store.updateTask({ id, title: 'Too late', fence: first.fence }, by(sut));
      expect((await expectCode(late, 'fence_conflict')).details).toMatchObject({ assignee: 'bob' });
      expect(await everything(sut)).toEqual(before);
      await sut.store.updateTask({ id, title: 'In time', fence: second.fence }, by(sut, 'bob'));
    });

    it('refuses to make a task its own ancestor, with the path', async () => {
      await using sut = await open();
      const top = await create(sut, 'Top');
      const middle = await create(sut, 'Middle', { parent_id: top.id });
      const leaf = await create(sut, 'Leaf', { parent_id: middle.id });
      const before = await everything(sut);
      const round = sut.store.updateTask({ id: top.id, title: 'Lost', parent_id: leaf.id }, by(sut));
      const error = await expectCode(round, 'dependency_cycle');
      expect(error.details).toEqual({ path: [top.id, leaf.id, middle.id, top.id] });
      await expectCode(sut.store.updateTask({ id: top.id, parent_id: top.id }, by(sut)), 'dependency_cycle');
      expect(await everything(sut)).toEqual(before);
      await sut.store.updateTask({ id: leaf.id, parent_id: top.id }, by(sut));
      await sut.store.updateTask({ id: middle.id, parent_id: leaf.id }, by(sut));
    });

    it.each<[string, Change, string]>([
      [
        '[A14-2] too many metadata keys',
        { metadata_set: new Map(Array.from({ length: LIMITS.metadata_keys + 1 }, (_, i) => [`k${i}`, 1])) },
        'invalid_input',
      ],
      ['too many labels', { labels_add: Array.from({ length: 99 }, (_, i) => `l${i}`) }, 'invalid_input'],
      ['too much metadata', { metadata_set: json({ big: 'x'.repeat(1_048_570) }) }, 'invalid_input'],
      ['an unknown parent', { parent_id: 'fg-none' }, 'not_found'],
    ])('refuses %s and changes nothing', async (_what, change, code) => {
      await using sut = await open();
      const task = await fullTask(sut);
      const before = await everything(sut);
      const update = sut.store.updateTask(
        { id: task.id, title: 'Lost', ...change, agents: NO_AGENTS },
        by(sut),
      );
      await expectCode(update, code as 'invalid_input');
      expect(await everything(sut)).toEqual(before);
    });

    it('stamps a change later than what it overwrites, also when the clock goes back', async () => {
      await using sut = await open();
      const task = await create(sut, 'One');
      const two = await sut.store.updateTask({ id: task.id, title: 'Two' }, by(sut));
      sut.clock.advance(-86_400_000);
      const three = await sut.store.updateTask({ id: task.id, title: 'Three' }, by(sut));
      expect(Date.parse(three.updated_at)).toBeGreaterThan(Date.parse(two.updated_at));
      const closed = await sut.store.closeTask({ id: task.id, reason: 'done' }, by(sut));
      expect(Date.parse(closed.updated_at)).toBeGreaterThanOrEqual(Date.parse(three.updated_at));
      await sut.reopen();
      expect(await sut.store.getTask(task.id)).toMatchObject({ title: 'Three', status: 'closed' });
    });
  });
}

async function fullTask(sut: StoreUnderTest): Promise<Task> {
  const epic = await create(sut, 'Epic', { type: 'epic' });
  return create(sut, 'Full', {
    description: 'All of it',
    priority: 1,
    parent_id: epic.id,
    labels: ['old', 'kept'],
    github_issue: 3,
    metadata: json({ k: 'v', n: 1 }),
  });
}

function json(values: Record<string, Json>): Map<string, Json> {
  return new Map(Object.entries(values));
}

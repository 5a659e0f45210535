import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import {
  exportLines,
  exportMoves,
  FILE,
  fold,
  shareLines,
  toRequest,
} from '../../../tests/support/fold-lines.ts';
import { by, claim, close, create, everything, line, readyTitles } from './open-behaviour.ts';
import type { OpenSync, SyncUnderTest } from './open-sync-behaviour.ts';

const NOTHING = {
  created: 0,
  updated: 0,
  deleted: 0,
  unchanged: 0,
  unreadable: [],
  lost_claims: [],
  conflicts: [],
  renamed: [],
  edited_deleted: [],
};

/** How what travels comes in, and what goes out again. */
export function describeFolds(open: OpenSync): void {
  describe('a fold', () => {
    it('counts what came, changed, went and stayed, and is nothing the second time', async () => {
      await using here = await open();
      await using there = await open();
      const gone = await create(there, 'Goes');
      const changed = await create(there, 'Changes');
      await create(there, 'Stays');
      expect(await fold(here, await exportLines(there))).toEqual({ ...NOTHING, created: 3 });
      await there.store.deleteTask({ id: gone.id }, by(there));
      await there.store.updateTask({ id: changed.id, title: 'Changed' }, by(there));
      await create(there, 'Comes');
      const lines = await exportLines(there);
      const gates = [{ id: gone.id, what: ['deleted'] }];
      const changes = { created: 1, updated: 1, deleted: 1, unchanged: 1, gates };
      expect(await fold(here, lines)).toEqual({ ...NOTHING, ...changes });
      expect(await exportLines(here)).toEqual(lines);
      expect(await fold(here, lines)).toEqual(NOTHING);
      expect(await fold(here, lines, { path: 'the same from elsewhere' })).toEqual({
        ...NOTHING,
        unchanged: 4,
      });
    });

    it('an older file takes nothing back', async () => {
      await using here = await open();
      const { id } = await create(here, 'First');
      const old = await exportLines(here);
      await here.store.updateTask({ id, title: 'Second' }, by(here));
      await create(here, 'Another');
      const before = await everything(here);
      expect(await fold(here, old)).toEqual({ ...NOTHING, unchanged: 1 });
      expect(await fold(here, [])).toEqual(NOTHING);
      expect(await everything(here)).toEqual(before);
    });

    it('remembers the newest event only where the file holds exactly what the store holds', async () => {
      await using here = await open();
      await using there = await open();
      await create(there, 'One');
      await create(there, 'Two');
      const lines = await exportLines(there);
      const marked = async (): Promise<unknown> => (await here.store.readMarks([FILE]))[0]?.event_seq;
      await fold(here, lines);
      expect(await marked()).toBe(await here.store.newestEvent());
      for (const other of [
        lines.toReversed(),
        lines.slice(1),
        [...lines, 'rubbish'],
        lines.map((text) => ` ${text}`),
      ]) {
        await fold(here, other);
        expect(await marked()).toBeNull();
      }
      await fold(here, lines);
      expect(await marked()).toBe(await here.store.newestEvent());
      await create(here, 'Only here');
      await fold(here, [...lines, '']);
      expect(await marked()).toBeNull();
    });

    it('keeps keys that others wrote with an escape, also after one that ends with a backslash', async () => {
      await using here = await open();
      const keys = ['k\\', 'k\n', 'k"', 'k\\\n'];
      // Under the same name before it, the parser takes one for another; see readJson.
      const lines = keys.map((key, at) =>
        line(`fg-${at}000`, { metadata: { same: 0, [key]: at }, strange: { same: 0, [key]: at } }),
      );
      expect(await fold(here, lines)).toEqual({ ...NOTHING, created: keys.length });
      const check = async () => {
        for (const [at, key] of keys.entries())
          expect((await here.store.getTask(`fg-${at}000`)).metadata).toEqual({ same: 0, [key]: at });
        const strange = (await exportLines(here)).map((one) => /"strange":({.*?})/.exec(one)?.[1]);
        expect(strange).toEqual(keys.map((key, at) => `{${JSON.stringify(key)}:${at},"same":0}`));
      };
      await check();
      await here.reopen();
      await check();
    });

    it('keeps lines that are no tasks, byte for byte, behind the tasks', async () => {
      await using here = await open();
      const rubbish = ['{"id":"fg-half"}', 'not json', '{"id":5}'];
      const damaged = Buffer.from([0xff, 0xfe, 0x41]);
      const report = await fold(here, [rubbish[0] ?? '', line('fg-good'), ...rubbish.slice(1)], {
        damaged: [damaged],
      });
      expect(report.created).toBe(1);
      expect(report.unreadable.map(({ number }) => number)).toEqual([1, 3, 4, 0]);
      for (const { why } of report.unreadable) expect(why).not.toBe('');
      const lines = await exportLines(here);
      expect(lines[0]).toContain('fg-good');
      expect(lines.slice(1).toSorted()).toEqual([...rubbish, damaged.toString('latin1')].toSorted());
      // Corrected in the file, they are gone from the store's memory too.
      await fold(here, [line('fg-good')]);
      expect(await exportLines(here)).toHaveLength(1);
    });

    it('as a dry run tells the same and changes nothing', async () => {
      await using here = await open();
      await using there = await open();
      const { id } = await create(there, 'Known');
      await fold(here, await exportLines(there));
      await there.store.updateTask({ id, title: 'Renamed' }, by(there));
      await create(there, 'New');
      const lines = await exportLines(there);
      const before = await all(here);
      const told = await fold(here, [...lines, 'rubbish'], { dry_run: true });
      expect(told).toMatchObject({ created: 1, updated: 1, unreadable: [{ number: 3 }] });
      expect(await all(here)).toEqual(before);
      expect(await fold(here, [...lines, 'rubbish'])).toEqual(told);
    });

    it('as a dry run of tasks that share an id changes nothing either', async () => {
      await using here = await open();
      await fold(here, [line('fg-same', { title: 'Ours', created_by: 'ann' })]);
      const before = await all(here);
      const told = await fold(here, [line('fg-same', { title: 'Theirs' })], { dry_run: true });
      expect(told.renamed).toHaveLength(1);
      expect(await all(here)).toEqual(before);
    });
  });

  describe('two tasks that were born with one id', () => {
    it('are told apart, and what refers to each side’s own follows it', async () => {
      await using here = await open();
      await fold(here, [
        line('fg-same', { title: 'Ours', created_by: 'ann' }),
        line('fg-ourb', { title: 'Waits for ours', dependencies: [{ id: 'fg-same', type: 'blocks' }] }),
        line('fg-ourc', { title: 'Child of ours', parent_id: 'fg-same' }),
      ]);
      const report = await fold(here, [
        line('fg-same', { title: 'Theirs', created_by: 'bob' }),
        line('fg-thrb', { title: 'Waits for theirs', dependencies: [{ id: 'fg-same', type: 'blocks' }] }),
      ]);
      expect(report.renamed).toEqual([
        { from: 'fg-same', to: expect.stringMatching(/^fg-same[0-9a-z]{6}$/) },
      ]);
      const byTitle = new Map((await here.store.listTasks({})).map((task) => [task.title, task]));
      const ours = byTitle.get('Ours')?.id;
      const theirs = byTitle.get('Theirs')?.id;
      expect(ours).toBe(report.renamed[0]?.to);
      expect(theirs).toMatch(/^fg-same[0-9a-z]{6}$/);
      expect(theirs).not.toBe(ours);
      const blocker = async (id: string) =>
        (await here.store.getTask(id)).dependencies.map((edge) => edge.id);
      expect(await blocker('fg-ourb')).toEqual([ours]);
      expect(await blocker('fg-thrb')).toEqual([theirs]);
      expect(byTitle.get('Child of ours')?.parent_id).toBe(ours);
      await expect(here.store.getTask('fg-same')).rejects.toMatchObject({ code: 'ambiguous_id' });
      // The next fold of either old file changes nothing.
      const settled = await exportLines(here);
      await fold(here, [line('fg-same', { title: 'Theirs', created_by: 'bob' })]);
      expect(await exportLines(here)).toEqual(settled);
      await here.reopen();
      expect(await exportLines(here)).toEqual(settled);
    });

    it('on the two sides of one conflict too', async () => {
      await using here = await open();
      const twins = [line('fg-same', { created_by: 'ann' }), line('fg-same', { created_by: 'bob' })];
      const { created, renamed } = await fold(here, twins, { sides: ['ours', 'theirs'] });
      expect({ created, renamed }).toEqual({ created: 2, renamed: [] });
      expect(await here.store.listTasks({})).toHaveLength(2);
    });
  });

  describe('references to tasks that are not here', () => {
    it('wait, block, and become real when the task comes; in either order of the lines', async () => {
      const waits = line('fg-wait', { dependencies: [{ id: 'fg-comes', type: 'blocks' }] });
      const child = line('fg-chld', { parent_id: 'fg-comes' });
      const comes = line('fg-comes');
      await using late = await open();
      await fold(late, [waits, child]);
      expect(await readyTitles(late)).toEqual(['fg-chld']);
      expect(await late.store.listForeign()).toMatchObject([{ id: 'fg-comes', closed: false }]);
      await fold(late, [comes]);
      await using early = await open();
      await fold(early, [comes, waits, child]);
      for (const temp of [late, early]) {
        expect((await readyTitles(temp)).toSorted()).toEqual(['fg-chld', 'fg-comes']);
        expect((await temp.store.getTask('fg-chld')).parent_id).toBe('fg-comes');
        expect(await temp.store.listForeign()).toEqual([]);
        await close(temp, 'fg-comes');
        expect((await readyTitles(temp)).toSorted()).toEqual(['fg-chld', 'fg-wait']);
      }
      expect(await exportLines(late)).toHaveLength(3);
    });

    it('a blocker that was deleted elsewhere frees', async () => {
      await using here = await open();
      await using there = await open();
      const blocker = await create(there, 'Blocker');
      const waits = await create(there, 'Waits', { depends_on: [blocker.id] });
      await fold(here, await exportLines(there));
      expect(await readyTitles(here)).toEqual(['Blocker']);
      await there.store.deleteTask({ id: blocker.id }, by(there));
      const lines = await exportLines(there);
      // Only the deletion arrives; the other line still names the edge here.
      await fold(
        here,
        lines.filter((text) => text.includes(blocker.id) && !text.includes(`"id":"${waits.id}"`)),
      );
      expect(await readyTitles(here)).toEqual(['Waits']);
      await fold(here, lines);
      expect(await exportLines(here)).toEqual(lines);
    });
  });

  describe('the feed', () => {
    it('has one event a change, and one for all beyond the limit', async () => {
      await using few = await open();
      await fold(few, [line('fg-aaaa'), line('fg-bbbb')]);
      await fold(few, [
        line('fg-aaaa', { title: 'New', updated_at: '2026-01-02T00:00:00.000Z' }),
        line('fg-bbbb'),
      ]);
      expect(await eventsOf(few)).toEqual([
        ['task.created', 'fg-aaaa'],
        ['task.created', 'fg-bbbb'],
        ['task.updated', 'fg-aaaa'],
      ]);
      await using many = await open();
      const lines = manyLines(LIMITS.fold_events + 5);
      expect(await fold(many, lines)).toMatchObject({ created: lines.length });
      const events = await eventsOf(many);
      expect(events.length).toBe(LIMITS.fold_events + 1);
      expect(events.at(-1)).toEqual(['project.changed', null]);
      expect(await fold(many, lines.slice(0, 10), { path: 'part' })).toMatchObject({ unchanged: 10 });
      expect(await eventsOf(many)).toEqual(events);
    });
  });

  describe('transitions', () => {
    it('travel, and come in once', async () => {
      await using here = await open();
      await using there = await open();
      const { id } = await create(there, 'Lived');
      await claim(there, id, 'bob');
      await close(there, id, 'done');
      await there.store.reopenTask({ id, reason: 'not yet' }, by(there));
      const moves = await exportMoves(there);
      expect(moves).toHaveLength(3);
      await fold(here, await exportLines(there));
      const history = {
        actor: { kind: 'system', name: 'fold', named: true },
        now: here.clock.now(),
      } as const;
      const join = (lines: readonly string[]): Promise<{ added: number; unreadable: unknown[] }> =>
        here.store.foldHistory(toRequest(lines, { path: 'history' }), history);
      expect(await join(moves)).toEqual({ added: 3, unreadable: [] });
      expect(await join([...moves, 'rubbish'])).toMatchObject({ added: 0, unreadable: [{ number: 4 }] });
      expect(await exportMoves(here)).toEqual([...moves, 'rubbish']);
      await close(here, id, 'again');
      const before = (await exportMoves(here)).filter((text) => text !== 'rubbish');
      expect(before).toHaveLength(4);
      await here.reopen();
      expect(await exportMoves(here)).toEqual([...before, 'rubbish']);
      const told = await here.store.readHistory({ id, limit: undefined });
      expect(told.map(({ to_state }) => to_state).filter((state) => state === 'done')).toHaveLength(2);
    });
  });

  describe('prune', () => {
    it('forgets old removals and deleted tasks; an old file then brings back what was removed', async () => {
      await using here = await open();
      const { id } = await create(here, 'Labelled', { labels: ['old', 'kept'] });
      const { id: gone } = await create(here, 'Deleted');
      const before = await exportLines(here);
      await here.store.updateTask({ id, labels_remove: ['old'] }, by(here));
      await here.store.deleteTask({ id: gone }, by(here));
      const early = here.clock.now() - 10_000;
      expect(await here.store.prune(early, by(here))).toEqual({ removals: 0, deleted_tasks: 0 });
      here.clock.advance(1_000);
      expect(await here.store.prune(here.clock.now(), by(here))).toEqual({ removals: 1, deleted_tasks: 1 });
      expect((await exportLines(here)).join('\n')).not.toContain('old');
      const [labelled = ''] = before.filter((text) => text.includes(id));
      await here.reopen();
      expect((await here.store.getTask(id)).labels).toEqual(['kept']);
      await fold(here, [labelled]);
      expect((await here.store.getTask(id)).labels).toEqual(['kept', 'old']);
    });

    it('H6 takes nothing back that others wrote before what it forgets', async () => {
      await using here = await open();
      await using there = await open();
      const metadata_set = (entries: Record<string, string>) => new Map(Object.entries(entries));
      const { id } = await create(here, 'Shared', { labels: ['l'] });
      await here.store.updateTask({ id, metadata_set: metadata_set({ k: 'old', j: 'x' }) }, by(here));
      await fold(there, await shareLines(here));
      there.clock.advance(60_000);
      const change = { metadata_set: metadata_set({ k: 'of there', q: 'new' }), labels_add: ['m'] };
      await there.store.updateTask({ id, ...change }, by(there));
      here.clock.advance(120_000);
      await here.store.updateTask({ id, metadata_unset: ['j'], labels_remove: ['l'] }, by(here));
      here.clock.advance(60_000);
      expect((await here.store.prune(here.clock.now(), by(here))).removals).toBe(2);
      await fold(here, await shareLines(there));
      await fold(there, await shareLines(here));
      for (const { store } of [here, there]) {
        const task = await store.getTask(id);
        expect(task.metadata).toMatchObject({ k: 'of there', q: 'new' });
        expect(task.labels).toContain('m');
      }
    });
  });
}

function idAt(at: number): string {
  return `fg-${at.toString(36).padStart(4, '0')}`;
}

function manyLines(count: number): { readonly [key: string]: unknown }[] {
  return Array.from({ length: count }, (_, at) => ({ ...line(idAt(at)) }));
}

/** All that a fold might change. */
async function all(sut: SyncUnderTest): Promise<unknown> {
  const lines = [...(await exportLines(sut)), ...(await exportMoves(sut))];
  const marks = await sut.store.readMarks([FILE]);
  return { lines, marks, events: await eventsOf(sut), shown: await everything(sut) };
}

async function eventsOf({ store }: SyncUnderTest): Promise<unknown[]> {
  const { events } = await store.readEvents({ after: 0, limit: 10_000 });
  return events.map(({ type, task_id }) => [type, task_id]);
}

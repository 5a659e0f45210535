import { NO_AGENTS } from '#domain/claimer.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import {
  exportLines,
  exportMoves,
  FILE,
  fold,
  shareLines,
  toRequest,
} from '../../tests/support/fold-lines.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, claim, close, create, everything, line, readyTitles } from './behaviour/open-behaviour.ts';
import { toOwnKey } from './sync-store.ts';

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

describe('a fold', () => {
  it('counts what came, changed, went and stayed, and is nothing the second time', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
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
    await using here = await tempStore();
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
    await using here = await tempStore();
    await using there = await tempStore();
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

  it('as a dry run tells the same and changes nothing, not even the replica', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(there, 'Known');
    await fold(here, await exportLines(there));
    await there.store.updateTask({ id, title: 'Renamed' }, by(there));
    await create(there, 'New');
    const lines = await exportLines(there);
    const before = { rows: tablesOf(here), replica: readFileSync(here.replica, 'utf8') };
    const told = await fold(here, [...lines, 'rubbish'], { dry_run: true });
    expect(told).toMatchObject({ created: 1, updated: 1, unreadable: [{ number: 3 }] });
    expect({ rows: tablesOf(here), replica: readFileSync(here.replica, 'utf8') }).toEqual(before);
    expect(await fold(here, [...lines, 'rubbish'])).toEqual(told);
  });

  it('as a dry run of tasks that share an id changes nothing either', async () => {
    await using here = await tempStore();
    await fold(here, [line('fg-same', { title: 'Ours', created_by: 'ann' })]);
    const before = { rows: tablesOf(here), replica: readFileSync(here.replica, 'utf8') };
    const told = await fold(here, [line('fg-same', { title: 'Theirs' })], { dry_run: true });
    expect(told.renamed).toHaveLength(1);
    expect({ rows: tablesOf(here), replica: readFileSync(here.replica, 'utf8') }).toEqual(before);
  });

  it('is in the replica when it is over: a rebuilt database holds the same', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(there, 'Claimed and closed');
    await claim(there, id, 'bob');
    await close(there, id);
    const { id: gone } = await create(there, 'Deleted');
    await there.store.deleteTask({ id: gone }, by(there));
    await fold(here, await exportLines(there));
    const lines = await exportLines(here);
    await here.rebuild();
    expect(await exportLines(here)).toEqual(lines);
  });

  it('keeps keys that others wrote with an escape, also after one that ends with a backslash', async () => {
    await using here = await tempStore();
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
    await here.rebuild();
    await check();
  });

  it('keeps lines that are no tasks, byte for byte, behind the tasks', async () => {
    await using here = await tempStore();
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
});

describe('two tasks that were born with one id', () => {
  it('are told apart, and what refers to each side’s own follows it', async () => {
    await using here = await tempStore();
    await fold(here, [
      line('fg-same', { title: 'Ours', created_by: 'ann' }),
      line('fg-ourb', { title: 'Waits for ours', dependencies: [{ id: 'fg-same', type: 'blocks' }] }),
      line('fg-ourc', { title: 'Child of ours', parent_id: 'fg-same' }),
    ]);
    const report = await fold(here, [
      line('fg-same', { title: 'Theirs', created_by: 'bob' }),
      line('fg-thrb', { title: 'Waits for theirs', dependencies: [{ id: 'fg-same', type: 'blocks' }] }),
    ]);
    expect(report.renamed).toEqual([{ from: 'fg-same', to: expect.stringMatching(/^fg-same[0-9a-z]{6}$/) }]);
    const byTitle = new Map((await here.store.listTasks({})).map((task) => [task.title, task]));
    const ours = byTitle.get('Ours')?.id;
    const theirs = byTitle.get('Theirs')?.id;
    expect(ours).toBe(report.renamed[0]?.to);
    expect(theirs).toMatch(/^fg-same[0-9a-z]{6}$/);
    expect(theirs).not.toBe(ours);
    const blocker = async (id: string) => (await here.store.getTask(id)).dependencies.map((edge) => edge.id);
    expect(await blocker('fg-ourb')).toEqual([ours]);
    expect(await blocker('fg-thrb')).toEqual([theirs]);
    expect(byTitle.get('Child of ours')?.parent_id).toBe(ours);
    await expect(here.store.getTask('fg-same')).rejects.toMatchObject({ code: 'ambiguous_id' });
    // The next fold of either old file changes nothing.
    const settled = await exportLines(here);
    await fold(here, [line('fg-same', { title: 'Theirs', created_by: 'bob' })]);
    expect(await exportLines(here)).toEqual(settled);
    await here.rebuild();
    expect(await exportLines(here)).toEqual(settled);
  });

  it('on the two sides of one conflict too', async () => {
    await using here = await tempStore();
    const twins = [line('fg-same', { created_by: 'ann' }), line('fg-same', { created_by: 'bob' })];
    const { created, renamed } = await fold(here, twins, { sides: ['ours', 'theirs'] });
    expect({ created, renamed }).toEqual({ created: 2, renamed: [] });
    expect(await here.store.listTasks({})).toHaveLength(2);
  });
});

describe('what somebody should hear of a fold', () => {
  it('two claims: the earlier stands, and the loser is told', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(here, 'Wanted');
    await fold(there, await shareLines(here));
    there.clock.advance(100_000);
    await claim(there, id, 'late');
    await claim(here, id, 'early');
    const report = await fold(there, await exportLines(here));
    expect(report.lost_claims).toEqual([{ id, was: 'late', now: 'early' }]);
    expect(report.conflicts).toEqual([{ id, name: 'life' }]);
    expect((await there.store.getTask(id)).assignee).toBe('early');
    // Whoever lost cannot write with the number of the lost claim.
    const fence = { id, title: 'x', fence: 1 };
    await expect(there.store.updateTask(fence, by(there, 'late'))).rejects.toMatchObject({
      code: 'fence_conflict',
    });
    expect((await fold(here, await exportLines(there))).lost_claims).toEqual([]);
    expect((await here.store.getTask(id)).assignee).toBe('early');
  });

  it('values that were not shared yet and lost, or won, against another', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(here, 'Old', { metadata: new Map([['k', 0]]) });
    await fold(there, await shareLines(here));
    await here.store.updateTask({ id, title: 'Here', metadata_set: new Map([['k', 1]]) }, by(here));
    there.clock.advance(60_000);
    await there.store.updateTask({ id, title: 'There', metadata_set: new Map([['k', 2]]) }, by(there));
    const report = await fold(here, await exportLines(there));
    expect(report.conflicts.map(({ name }) => name).toSorted()).toEqual(['metadata.k', 'title']);
    expect((await here.store.getTask(id)).title).toBe('There');
    const conflicts = await here.store.listConflicts(undefined);
    expect(conflicts.map(({ name, lost, stands }) => [name, lost, stands])).toEqual([
      ['metadata.k', 1, 2],
      ['title', 'Here', 'There'],
    ]);
  });

  it('nothing where the file brings a value that this store had once, or was written by who had seen it', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(here, 'Old');
    const old = await shareLines(here);
    await fold(there, old);
    await here.store.updateTask({ id, title: 'New' }, by(here));
    expect((await fold(here, [...old, ''])).conflicts).toEqual([]);
    await fold(there, await shareLines(here));
    there.clock.advance(60_000);
    await there.store.updateTask({ id, title: 'Newer' }, by(there));
    expect((await fold(here, await exportLines(there))).conflicts).toEqual([]);
    expect((await here.store.getTask(id)).title).toBe('Newer');
  });

  it('of a status that the history tells was seen nothing, of another the one that fell', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(here, 'Old');
    await fold(there, await shareLines(here));
    await here.store.closeTask({ id, reason: 'here' }, by(here));
    there.clock.advance(60_000);
    await there.store.claimTask({ id, assignee: 'ann', force: false, agents: NO_AGENTS }, by(there));
    await there.store.closeTask({ id, reason: 'there' }, by(there, 'ann'));
    const request = toRequest(await exportLines(there));
    const { unsure = [] } = await here.store.foldTasks({ ...request, asks: true }, by(here));
    expect(unsure).toMatchObject([{ id, name: 'life' }]);
    expect((await here.store.getTask(id)).close_reason).toBe('here');
    const seen = new Set(unsure.map(toOwnKey));
    const asked = await here.store.foldTasks({ ...request, seen, dry_run: true }, by(here));
    expect(asked.conflicts).toEqual([]);
    expect((await here.store.foldTasks(request, by(here))).conflicts).toEqual([{ id, name: 'life' }]);
    expect(await here.store.listConflicts(id)).toMatchObject([
      { name: 'life', lost: { close_reason: 'here' }, stands: { close_reason: 'there' } },
    ]);
  });

  it('a value that was exported, which whoever wrote the later one never saw', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(here, 'Old');
    await fold(there, await shareLines(here));
    await here.store.updateTask({ id, title: 'New' }, by(here));
    await shareLines(here);
    there.clock.advance(60_000);
    await there.store.updateTask({ id, title: 'Newer' }, by(there));
    await here.rebuild();
    expect((await fold(here, await exportLines(there))).conflicts).toEqual([{ id, name: 'title' }]);
    expect(await here.store.listConflicts(id)).toMatchObject([{ lost: 'New', stands: 'Newer' }]);
    // Back where it came from, and again: nothing is told twice.
    await fold(there, await exportLines(here));
    await fold(here, await exportLines(there));
    expect(await here.store.listConflicts(id)).toHaveLength(1);
  });

  it('a value of a file in which two others turn out to share an id', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const id = await titleApart(here, there);
    const twin = { title: 'Twin', status: 'open', created_at: '2026-02-10T08:00:00.000Z' };
    await fold(here, [JSON.stringify({ id: 'fg-twin', created_by: 'ann', ...twin })]);
    const lines = [
      ...(await exportLines(there)),
      JSON.stringify({ id: 'fg-twin', created_by: 'bob', ...twin }),
    ];
    const report = await fold(here, lines);
    expect(report.renamed).toHaveLength(1);
    expect(report.conflicts).toEqual([{ id, name: 'title' }]);
    expect(await here.store.listConflicts(id)).toMatchObject([{ lost: 'Here', stands: 'There' }]);
  });

  it('a value of a task that only the other clone has told apart from one with its id', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const id = await titleApart(here, there);
    const { renamed } = await fold(there, [line(id, { title: 'Twin', created_by: 'bob' })]);
    const [{ to } = { to: '' }] = renamed;
    expect((await fold(here, await exportLines(there))).renamed).toEqual([{ from: id, to }]);
    expect(await here.store.listConflicts(to)).toMatchObject([{ lost: 'Here', stands: 'There' }]);
  });

  it('a value of a line that was edited by hand before this store had the task', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(there, 'Old');
    const lines = await shareLines(there);
    await fold(
      here,
      lines.map((line) => line.replace('"Old"', '"By hand"')),
    );
    there.clock.advance(60_000);
    await there.store.updateTask({ id, title: 'There' }, by(there));
    expect((await fold(here, await exportLines(there))).conflicts).toEqual([{ id, name: 'title' }]);
    expect(await here.store.listConflicts(id)).toMatchObject([{ lost: 'By hand', stands: 'There' }]);
  });

  it('a task that was deleted elsewhere and changed here later', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(here, 'Disputed');
    const { id: plain } = await create(here, 'Only deleted');
    await fold(there, await shareLines(here));
    for (const gone of [id, plain]) await there.store.deleteTask({ id: gone }, by(there));
    here.clock.advance(60_000);
    await here.store.updateTask({ id, title: 'Edited' }, by(here));
    const report = await fold(here, await exportLines(there));
    expect(report).toMatchObject({ deleted: 2, edited_deleted: [id] });
    expect(await here.store.listConflicts(undefined)).toMatchObject([
      { id, name: 'deleted', lost: { title: 'Edited' }, stands: null },
    ]);
    expect((await here.store.restoreTask({ id }, by(here))).title).toBe('Edited');
    expect(await here.store.listConflicts(undefined)).toEqual([]);
  });
});

describe('references to tasks that are not here', () => {
  it('wait, block, and become real when the task comes; in either order of the lines', async () => {
    const waits = line('fg-wait', { dependencies: [{ id: 'fg-comes', type: 'blocks' }] });
    const child = line('fg-chld', { parent_id: 'fg-comes' });
    const comes = line('fg-comes');
    await using late = await tempStore();
    await fold(late, [waits, child]);
    expect(await readyTitles(late)).toEqual(['fg-chld']);
    expect(await late.store.listForeign()).toMatchObject([{ id: 'fg-comes', closed: false }]);
    expect((await late.store.diagnose(late.clock.now())).missing).toEqual([
      'fg-chld -> fg-comes',
      'fg-wait -> fg-comes',
    ]);
    await fold(late, [comes]);
    await using early = await tempStore();
    await fold(early, [comes, waits, child]);
    for (const temp of [late, early]) {
      expect((await readyTitles(temp)).toSorted()).toEqual(['fg-chld', 'fg-comes']);
      expect((await temp.store.getTask('fg-chld')).parent_id).toBe('fg-comes');
      expect((await temp.store.diagnose(temp.clock.now())).missing).toEqual([]);
      await close(temp, 'fg-comes');
      expect((await readyTitles(temp)).toSorted()).toEqual(['fg-chld', 'fg-wait']);
    }
    expect(await exportLines(late)).toHaveLength(3);
  });

  it('a blocker that was deleted elsewhere frees', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
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
    await using few = await tempStore();
    await fold(few, [line('fg-aaaa'), line('fg-bbbb')]);
    await fold(few, [
      line('fg-aaaa', { title: 'New', updated_at: '2026-01-02T00:00:00.000Z' }),
      line('fg-bbbb'),
    ]);
    expect(eventsOf(few)).toEqual([
      ['task.created', 'fg-aaaa'],
      ['task.created', 'fg-bbbb'],
      ['task.updated', 'fg-aaaa'],
    ]);
    await using many = await tempStore();
    const lines = manyLines(LIMITS.fold_events + 5);
    expect(await fold(many, lines)).toMatchObject({ created: lines.length });
    const events = eventsOf(many);
    expect(events.length).toBe(LIMITS.fold_events + 1);
    expect(events.at(-1)).toEqual(['project.changed', null]);
    expect(await fold(many, lines.slice(0, 10), { path: 'part' })).toMatchObject({ unchanged: 10 });
    expect(eventsOf(many)).toEqual(events);
  });

  it('many at once: blockers are counted as one at a time would count them', async () => {
    const lines = manyLines(LIMITS.fold_events + 30).map((task, at) => ({
      ...task,
      ...(at % 3 === 0 && { status: 'closed', close_reason: 'done' }),
      ...(at >= 10 && {
        dependencies: [
          { id: idAt(at - 7), type: 'blocks' },
          { id: idAt(at - 1), type: at % 2 === 0 ? 'related' : 'blocks' },
        ],
      }),
      ...(at % 50 === 0 && { dependencies: [{ id: 'fg-nowhere', type: 'blocks' }] }),
    }));
    await using bulk = await tempStore();
    await fold(bulk, lines);
    const { miscounted, missing } = await bulk.store.diagnose(bulk.clock.now());
    expect(miscounted).toBe(0);
    expect(missing.length).toBeGreaterThan(0);
    await using single = await tempStore();
    for (let at = 0; at < lines.length; at += 200) await fold(single, lines.slice(at, at + 200));
    const counts = (temp: TempStore): unknown =>
      rowsOf(temp, 'SELECT id, open_blockers FROM tasks ORDER BY id');
    expect(counts(bulk)).toEqual(counts(single));
    expect(await exportLines(bulk)).toEqual(await exportLines(single));
    // The triggers are back.
    await close(bulk, idAt(1));
    expect((await bulk.store.diagnose(bulk.clock.now())).miscounted).toBe(0);
  });
});

describe('transitions', () => {
  it('travel, come in once, and survive a rebuild from the replica', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
    const { id } = await create(there, 'Lived');
    await claim(there, id, 'bob');
    await close(there, id, 'done');
    await there.store.reopenTask({ id, reason: 'not yet' }, by(there));
    const moves = await exportMoves(there);
    expect(moves).toHaveLength(3);
    await fold(here, await exportLines(there));
    const history = { actor: { kind: 'system', name: 'fold', named: true }, now: here.clock.now() } as const;
    const join = (lines: readonly string[]): Promise<{ added: number; unreadable: unknown[] }> =>
      here.store.foldHistory(toRequest(lines, { path: 'history' }), history);
    expect(await join(moves)).toEqual({ added: 3, unreadable: [] });
    expect(await join([...moves, 'rubbish'])).toMatchObject({ added: 0, unreadable: [{ number: 4 }] });
    expect(await exportMoves(here)).toEqual([...moves, 'rubbish']);
    await close(here, id, 'again');
    const before = (await exportMoves(here)).filter((text) => text !== 'rubbish');
    expect(before).toHaveLength(4);
    await here.rebuild();
    expect(await exportMoves(here)).toEqual(before);
    await here.store.compactReplica(by(here));
    await here.rebuild();
    expect(await exportMoves(here)).toEqual(before);
    const told = await here.store.readHistory({ id, limit: undefined });
    expect(told.map(({ to_state }) => to_state).filter((state) => state === 'done')).toHaveLength(2);
  });
});

describe('prune', () => {
  it('forgets old removals and deleted tasks; an old file then brings back what was removed', async () => {
    await using here = await tempStore();
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
    await here.rebuild();
    expect((await here.store.getTask(id)).labels).toEqual(['kept']);
    await fold(here, [labelled]);
    expect((await here.store.getTask(id)).labels).toEqual(['kept', 'old']);
  });

  it('H6 takes nothing back that others wrote before what it forgets', async () => {
    await using here = await tempStore();
    await using there = await tempStore();
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

function idAt(at: number): string {
  return `fg-${at.toString(36).padStart(4, '0')}`;
}

function manyLines(count: number): { readonly [key: string]: unknown }[] {
  return Array.from({ length: count }, (_, at) => ({ ...line(idAt(at)) }));
}

function eventsOf(temp: TempStore): unknown[] {
  return rowsOf(temp, 'SELECT type, task_id FROM events ORDER BY seq').map((row) =>
    Object.values(row as object),
  );
}

function tablesOf(temp: TempStore): unknown {
  const names = rowsOf(temp, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  return names.map((row) => rowsOf(temp, `SELECT * FROM "${String((row as { name: unknown }).name)}"`));
}

function rowsOf(temp: TempStore, sql: string): unknown[] {
  using db = temp.connect();
  return db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }));
}

/** A task that both know by the same line, and to which each gives another title. */
async function titleApart(here: TempStore, there: TempStore): Promise<string> {
  const { id } = await create(here, 'Old');
  await fold(there, await shareLines(here));
  await here.store.updateTask({ id, title: 'Here' }, by(here));
  there.clock.advance(60_000);
  await there.store.updateTask({ id, title: 'There' }, by(there));
  return id;
}

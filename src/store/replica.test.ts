import { NO_AGENTS } from '#domain/claimer.ts';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { removeDatabase, tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import {
  by,
  claim,
  close,
  create,
  depend,
  everything,
  expectCode,
  line,
  newTask,
  titles,
} from './behaviour/open-behaviour.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';

describe('every write is in the replica when its promise resolves', () => {
  it('so that the replica alone gives the same tasks after each', async () => {
    await using temp = await tempStore();
    const { store } = temp;
    const epic = await create(temp, 'Epic', { type: 'epic', metadata: new Map([['k', { deep: [1] }]]) });
    await expectSameFromReplica(temp);
    const task = await create(temp, 'Täsk\n"quoted"', { parent_id: epic.id, labels: ['x'] });
    const other = await create(temp, 'Other', { depends_on: [task.id] });
    const writes = [
      () =>
        store.updateTask(
          { id: task.id, title: 'Renamed', labels_add: ['y'], labels_remove: ['x'] },
          by(temp),
        ),
      () => claim(temp, task.id, 'bob'),
      () => store.releaseTask({ id: task.id, owner: 'bob', force: false, reason: null }, by(temp, 'bob')),
      () => store.claimNext({ assignee: 'carol', agents: NO_AGENTS }, by(temp)),
      () => store.addComment({ id: task.id, body: 'Hm', reply_to: null }, by(temp)),
      () => depend(temp, task.id, epic.id, 'related'),
      () => store.removeDependency({ from_id: other.id, to_id: task.id, type: undefined }, by(temp)),
      () => close(temp, task.id, 'cancelled'),
      () => store.reopenTask({ id: task.id, reason: null }, by(temp)),
      () => store.updateTask({ id: task.id, state: 'backlog', agents: NO_AGENTS }, by(temp)),
      () => depend(temp, other.id, epic.id),
      () => store.deleteTask({ id: epic.id }, by(temp)),
      () => store.restoreTask({ id: epic.id }, by(temp)),
    ];
    for (const write of writes) {
      await write();
      await expectSameFromReplica(temp);
    }
  });

  it('as whole lines, one for each task that changed, and nothing for no change', async () => {
    await using temp = await tempStore();
    const counts: number[] = [];
    const count = () => counts.push(lines(temp).length);
    const parent = await create(temp, 'Parent');
    count();
    const child = await create(temp, 'Child', { parent_id: parent.id });
    count();
    await temp.store.updateTask({ id: child.id, title: 'Child' }, by(temp));
    await temp.store.updateTask(
      { id: child.id, status: 'in_progress', assignee: 'bob', agents: NO_AGENTS },
      by(temp),
    );
    await temp.store.updateTask(
      { id: child.id, status: 'in_progress', assignee: 'carol', agents: NO_AGENTS },
      by(temp),
    );
    count();
    await expectCode(
      temp.store.updateTask({ id: child.id, title: 'x', version: 9 }, by(temp)),
      'version_conflict',
    );
    count();
    await temp.store.deleteTask({ id: parent.id }, by(temp));
    count();
    expect(counts).toEqual([1, 2, 3, 3, 5]);
    expect(readFileSync(temp.replica, 'utf8')).toMatch(/\}\n$/);
    expect(heldBytes(temp)).toBe(statSync(temp.replica).size);
  });

  it('two stores take turns', async () => {
    await using temp = await tempStore();
    await using other = await openSqliteStore(temp);
    for (let i = 0; i < 10; i += 1) {
      await create(temp, `A${i}`);
      await other.updateTask(
        { id: (await temp.store.listTasks({ sort: 'created' })).at(-1)?.id ?? '', priority: 0 },
        by(temp),
      );
    }
    expect(lines(temp)).toHaveLength(20);
    await expectSameFromReplica(temp);
  });

  it('keys that this version does not know survive a write and a rebuild', async () => {
    await using temp = await tempStore();
    await temp.bring([line('fg-aaaa', { sprint: { n: 7 }, '10': 'ten', zeta: null })]);
    await temp.store.updateTask({ id: 'fg-aaaa', title: 'Renamed' }, by(temp));
    const last = JSON.parse(lines(temp).at(-1) ?? '') as Record<string, unknown>;
    expect(last).toMatchObject({ title: 'Renamed', sprint: { n: 7 }, '10': 'ten' });
    await temp.rebuild();
    await temp.store.updateTask({ id: 'fg-aaaa', title: 'Again' }, by(temp));
    expect(JSON.parse(lines(temp).at(-1) ?? '')).toMatchObject({
      title: 'Again',
      sprint: { n: 7 },
      '10': 'ten',
    });
  });
});

/** The last line of the replica as another writer would go on from it: carol takes the task over, and edits it. */
function takeover(temp: TempStore): object {
  const { _v, ...written } = JSON.parse(lines(temp).at(-1) ?? '') as { _v: object };
  const at = (Date.now() + 1_000).toString(36);
  return { ...written, assignee: 'carol', _v: { ..._v, title: at, status: `2.${at}` } };
}

describe('a writer that crashed after its line was written', () => {
  it('its task appears at the next open, once, with its event', async () => {
    await using temp = await tempStore();
    await create(temp, 'Before');
    await temp.bring([line('fg-lost', { title: 'Lost and found' })]);
    expect(titles(await temp.store.listTasks({ sort: 'created' }))).toEqual(['Lost and found', 'Before']);
    expect(heldBytes(temp)).toBe(statSync(temp.replica).size);
    await temp.reopen();
    await create(temp, 'After');
    await temp.reopen();
    const history = await temp.store.readHistory({ id: 'fg-lost', limit: undefined });
    expect(history).toMatchObject([{ type: 'task.created', triggered_by: 'system:replay' }]);
    expect(await temp.store.getTask('fg-lost')).toMatchObject({ version: 1 });
    expect(heldBytes(temp)).toBe(statSync(temp.replica).size);
  });

  it('its change is applied to the task that is there', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Old title', { labels: ['x'] });
    await claim(temp, id, 'bob');
    await temp.bring([{ ...takeover(temp), title: 'New title', _local: [3, 2] }]);
    expect(await temp.store.getTask(id)).toMatchObject({
      title: 'New title',
      assignee: 'carol',
      labels: ['x'],
      version: 3,
    });
    const [entry] = await temp.store.readHistory({ id, limit: 1 });
    expect(entry).toMatchObject({ type: 'task.claimed', triggered_by: 'system:replay' });
    const late = temp.store.updateTask({ id, title: 'Too late', fence: 1 }, by(temp));
    await expectCode(late, 'fence_conflict');
  });

  it.each([
    [undefined, 3],
    [null, 3],
    [[], 3],
    [['x', 1], 3],
    [[-1, 0], 3],
    [[9, 7], 9],
  ])('its numbers never go back, whatever the line says: %j', async (_local, version) => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Task');
    await claim(temp, id, 'bob');
    await temp.bring([{ ...takeover(temp), title: 'By hand', _local }]);
    expect(await temp.store.getTask(id)).toMatchObject({ title: 'By hand', version });
    await expectCode(temp.store.updateTask({ id, title: 'x', fence: 1 }, by(temp)), 'fence_conflict');
  });

  it('a rebuild keeps versions and fences, so that an old claim does not fit again', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Task');
    await claim(temp, id, 'bob');
    await claim(temp, id, 'carol', true);
    await temp.rebuild();
    expect(await temp.store.getTask(id)).toMatchObject({ version: 3, assignee: 'carol' });
    await expectCode(temp.store.closeTask({ id, reason: 'done', fence: 1 }, by(temp)), 'fence_conflict');
    await temp.store.closeTask({ id, reason: 'done', fence: 2, version: 3 }, by(temp, 'carol'));
  });

  it('is noticed by a store that stays open, at its next write', async () => {
    await using temp = await tempStore();
    await create(temp, 'First');
    appendFileSync(temp.replica, `${JSON.stringify(line('fg-lost'))}\n`);
    const next = await create(temp, 'Second', { depends_on: ['fg-lost'] });
    expect(next.dependencies).toEqual([{ id: 'fg-lost', type: 'blocks' }]);
    expect(lines(temp)).toHaveLength(3);
    await expectSameFromReplica(temp);
  });

  it('a line that is already in the database changes nothing', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Task');
    const before = await everything(temp);
    await temp.reopen(() => appendFileSync(temp.replica, `${lines(temp).at(-1)}\n`));
    expect(await everything(temp)).toEqual(before);
    expect(await temp.store.readHistory({ id, limit: undefined })).toHaveLength(1);
  });

  it('children before their parents and dependents before their blockers', async () => {
    await using temp = await tempStore();
    await temp.bring([
      line('fg-leaf', { parent_id: 'fg-root', dependencies: [{ id: 'fg-root', type: 'blocks' }] }),
      line('fg-root', { status: 'closed', close_reason: 'done', closed_at: '2026-01-01T00:00:00.000Z' }),
    ]);
    expect(await temp.store.getTask('fg-leaf')).toMatchObject({
      parent_id: 'fg-root',
      open_blockers: 0,
      ready: true,
    });
  });

  it.each(['{"id":"fg-torn","title":"To', '{', '\u00e4'.slice(0, 1), JSON.stringify(line('fg-torn'))])(
    'a torn tail is dropped: %j',
    async (tail) => {
      await using temp = await tempStore();
      await create(temp, 'Whole');
      const size = statSync(temp.replica).size;
      const bytes = Buffer.from(tail);
      await temp.reopen(() => appendFileSync(temp.replica, bytes.subarray(0, Math.max(1, bytes.length - 1))));
      expect(statSync(temp.replica).size).toBe(size);
      expect(titles(await temp.store.listTasks({}))).toEqual(['Whole']);
      await create(temp, 'Next');
      await expectSameFromReplica(temp);
    },
  );

  it('a torn tail behind a whole line: the line counts, the tail does not', async () => {
    await using temp = await tempStore();
    await create(temp, 'Whole');
    await temp.reopen(() => appendFileSync(temp.replica, `${JSON.stringify(line('fg-lost'))}\n{"id":"fg-t`));
    expect(await temp.store.listTasks({})).toHaveLength(2);
    appendFileSync(temp.replica, '{"id":"fg-again');
    await create(temp, 'Next');
    expect(lines(temp)).toHaveLength(3);
    await expectSameFromReplica(temp);
  });

  it('a write of several lines that was cut is taken back whole, not in part', async () => {
    await using temp = await tempStore();
    const parent = await create(temp, 'Parent');
    await create(temp, 'Child', { parent_id: parent.id });
    await create(temp, 'Dependent', { depends_on: [parent.id] });
    const before = await everything(temp);
    const copy = `${temp.database}.copy`;
    await temp.reopen(() => copyFileSync(temp.database, copy));
    const start = statSync(temp.replica).size;
    await temp.store.deleteTask({ id: parent.id }, by(temp));
    const written = readFileSync(temp.replica);
    const ends = [...written.keys()].filter((at) => at >= start && written[at] === 0x0a).map((at) => at + 1);
    expect(ends).toHaveLength(3);
    for (const size of [start + 5, ...ends.slice(0, 2), (ends[0] ?? 0) + 9, (ends[1] ?? 0) + 9]) {
      await temp.reopen(async () => {
        await removeDatabase(temp.database);
        copyFileSync(copy, temp.database);
        writeFileSync(temp.replica, written.subarray(0, size));
      });
      expect(await everything(temp)).toEqual(before);
      expect(statSync(temp.replica).size).toBe(start);
    }
    await temp.reopen(() => writeFileSync(temp.replica, written));
    expect(titles(await temp.store.listReady({}))).toEqual(['Child', 'Dependent']);
  });
});

describe('a replica that was cut or removed', () => {
  it.each([
    ['removed', (temp: TempStore) => rmSync(temp.replica)],
    ['emptied', (temp: TempStore) => truncateSync(temp.replica)],
    ['cut in a line', (temp: TempStore) => truncateSync(temp.replica, statSync(temp.replica).size - 10)],
  ])('%s: the next write puts everything back, deleted tasks too', async (_what, damage) => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Kept', { labels: ['x'] });
    await temp.store.addComment({ id, body: 'Kept too', reply_to: null }, by(temp));
    const gone = await create(temp, 'Gone');
    await temp.store.deleteTask({ id: gone.id }, by(temp));
    await temp.reopen(() => damage(temp));
    expect(titles(await temp.store.listTasks({}))).toEqual(['Kept']);
    await create(temp, 'New');
    expect(lines(temp)).toHaveLength(4); // what the deleted task held is kept for its undo

    expect(heldBytes(temp)).toBe(statSync(temp.replica).size);
    await expectSameFromReplica(temp);
    await temp.rebuild();
    expect((await expectCode(temp.store.getTask(gone.id), 'not_found')).message).toContain('was deleted');
    expect(readdirSync(temp.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('a store that has the old file open writes to the new one', async () => {
    await using temp = await tempStore();
    await using other = await openSqliteStore(temp);
    await create(temp, 'Opens the file');
    rmSync(temp.replica);
    await other.updateTask({ id: (await other.listTasks({}))[0]?.id ?? '', priority: 0 }, by(temp));
    await create(temp, 'After the other wrote it anew');
    expect(heldBytes(temp)).toBe(statSync(temp.replica).size);
    await expectSameFromReplica(temp);
  });

  it('a database that is gone comes back from it, whatever SQLite left beside it', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Kept');
    await close(temp, id);
    const copies = ['-wal', '-shm'].filter((suffix) => existsSync(`${temp.database}${suffix}`));
    for (const suffix of copies) copyFileSync(`${temp.database}${suffix}`, `${temp.database}${suffix}.copy`);
    expect(copies).toContain('-wal');
    await temp.reopen(async () => {
      await removeDatabase(temp.database);
      for (const suffix of copies) renameSync(`${temp.database}${suffix}.copy`, `${temp.database}${suffix}`);
    });
    expect(await temp.store.listTasks({})).toMatchObject([{ id, status: 'closed' }]);
  });
});

describe('a damaged line does not keep the others out', () => {
  it.each([
    ['no JSON', 'garbage'],
    ['a blank line', ''],
    ['null', 'null'],
    ['a number', '7'],
    ['a text', '"fg-aaaa"'],
    ['a list', '[]'],
    ['no id', '{}'],
    ['an id that is no text', JSON.stringify(line('x')).replace('"x"', '7')],
    ['a conflict marker', '<<<<<<< HEAD'],
    ['a status that is none', JSON.stringify(line('fg-bad1', { status: 'todo' }))],
    ['a priority that is none', JSON.stringify(line('fg-bad1', { priority: 9 }))],
    ['a type that is none', JSON.stringify(line('fg-bad1', { type: 'chore' }))],
    ['a time that is none', JSON.stringify(line('fg-bad1', { created_at: 'yesterday' }))],
    ['labels that are none', JSON.stringify(line('fg-bad1', { labels: 'x' }))],
    ['dependencies that are none', JSON.stringify(line('fg-bad1', { dependencies: [null] }))],
    ['comments that are none', JSON.stringify(line('fg-bad1', { comments: [{}] }))],
    ['a reply that is none', JSON.stringify(line('fg-bad1', { comments: [{ ...COMMENT, reply_to: {} }] }))],
    ['metadata that are none', JSON.stringify(line('fg-bad1', { metadata: [1] }))],
    ['stamps that are none', JSON.stringify(line('fg-bad1', { _v: { title: '!' } }))],
    ['a number too large', '{"id":"fg-bad1","metadata":{"n":1e999}}'],
  ])('%s', async (_what, damaged) => {
    await using temp = await tempStore();
    await create(temp, 'Before');
    const text = `${JSON.stringify(line('fg-good'))}\n${damaged}\n${JSON.stringify(line('fg-last'))}\n`;
    await temp.reopen(() => appendFileSync(temp.replica, text));
    expect(titles(await temp.store.listTasks({ sort: 'id' }))).toEqual(
      expect.arrayContaining(['fg-good', 'fg-last', 'Before']),
    );
    expect(await temp.store.listTasks({})).toHaveLength(3);
    expect(unreadable(temp)).toEqual([damaged]);
    await create(temp, 'After');
    await temp.rebuild();
    expect(await temp.store.listTasks({})).toHaveLength(4);
  });

  it('a parent that is nowhere waits for it, and comes back with it', async () => {
    await using temp = await tempStore();
    await temp.bring([line('fg-leaf', { parent_id: 'fg-none' }), line('fg-good')]);
    expect(await temp.store.getTask('fg-leaf')).toMatchObject({ parent_id: null });
    await create(temp, 'Still writable', { parent_id: 'fg-leaf' });
    await temp.rebuild();
    expect(await temp.store.listTasks({})).toHaveLength(3);
    await temp.bring([line('fg-none')]);
    expect(await temp.store.getTask('fg-leaf')).toMatchObject({ parent_id: 'fg-none' });
    await temp.rebuild();
    expect(await temp.store.getTask('fg-leaf')).toMatchObject({ parent_id: 'fg-none' });
  });

  it('a dependency on itself or in a circle is kept and holds', async () => {
    await using temp = await tempStore();
    const on = (id: string) => ({ dependencies: [{ id, type: 'blocks' }] });
    await temp.bring([
      line('fg-self', on('fg-self')),
      line('fg-aaaa', on('fg-bbbb')),
      line('fg-bbbb', on('fg-aaaa')),
    ]);
    expect(await temp.store.listReady({})).toEqual([]);
    expect(await temp.store.listReady({ sort: 'impact' })).toEqual([]);
    expect(await temp.store.readTree({ id: 'fg-aaaa', depth: 1_000 })).toMatchObject({
      children: [{ id: 'fg-bbbb' }],
    });
    await temp.store.removeDependency({ from_id: 'fg-aaaa', to_id: 'fg-bbbb', type: undefined }, by(temp));
    expect(titles(await temp.store.listReady({}))).toEqual(['fg-aaaa']);
  });
});

describe('an append that fails changes nothing', () => {
  it('a folder stands in the place of the replica', async () => {
    await using temp = await tempStore();
    await create(temp, 'Kept');
    const before = await everything(temp);
    const kept = `${temp.replica}.kept`;
    await temp.reopen(() => renameSync(temp.replica, kept));
    mkdirSync(join(temp.replica, 'inside'), { recursive: true });
    await expectCode(create(temp, 'Lost'), 'io_failed');
    expect(await everything(temp)).toEqual(before);
    expect(readdirSync(temp.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    const { replica, clock } = temp;
    await using fresh = await openSqliteStore({ database: join(temp.folder, 'new.db'), replica, clock });
    await expectCode(fresh.createTask(newTask('Lost'), by(temp)), 'io_failed');
    expect(await fresh.listTasks({})).toEqual([]);
    rmdirSync(join(temp.replica, 'inside'));
    rmdirSync(temp.replica);
    renameSync(kept, temp.replica);
    await create(temp, 'Works again');
    await expectSameFromReplica(temp);
  });

  it.each([
    ['a link in a circle', (temp: TempStore) => symlinkSync(temp.replica, temp.replica)],
    [
      'a link into nothing',
      (temp: TempStore) => symlinkSync(join(temp.folder, 'none', 'tasks.jsonl'), temp.replica),
    ],
  ])('%s stands in its place', async (_what, plant) => {
    await using temp = await tempStore();
    plant(temp);
    const before = await everything(temp);
    await expectCode(create(temp, 'Lost'), 'io_failed');
    expect(await everything(temp)).toEqual(before);
  });

  it('a commit that fails takes its line back', async () => {
    await using temp = await tempStore();
    await create(temp, 'Kept');
    const [before, text] = [await everything(temp), readFileSync(temp.replica, 'utf8')];
    {
      // A foreign key that is checked at the commit, and broken by every event that says "trap".
      using db = temp.connect();
      db.exec(`CREATE TABLE trap (id TEXT REFERENCES tasks(id) DEFERRABLE INITIALLY DEFERRED);
        CREATE TRIGGER trg_trap AFTER INSERT ON events WHEN NEW.data LIKE '%trap%'
          BEGIN INSERT INTO trap VALUES ('fg-none'); END`);
    }
    await expect(create(temp, 'A trap')).rejects.toThrow(/FOREIGN KEY/);
    expect(readFileSync(temp.replica, 'utf8')).toBe(text);
    expect(await everything(temp)).toEqual(before);
    await create(temp, 'Works again');
    await temp.rebuild();
    expect(titles(await temp.store.listTasks({}))).toEqual(['Kept', 'Works again']);
  });
});

const COMMENT = {
  id: 'c-1',
  author: 'bob',
  body: 'Hm',
  reply_to: null,
  created_at: '2026-01-01T00:00:00.000Z',
};

/** Opens a store on a copy of the replica and nothing else. */
async function expectSameFromReplica(temp: TempStore): Promise<void> {
  const folder = join(temp.folder, 'copy');
  mkdirSync(folder, { recursive: true });
  const copy = {
    database: join(folder, 'forge.db'),
    replica: join(folder, 'tasks.jsonl'),
    clock: temp.clock,
  };
  await removeDatabase(copy.database);
  copyFileSync(temp.replica, copy.replica);
  await using store = await openSqliteStore(copy);
  const shown = async (from: Pick<typeof store, 'listTasks'>) =>
    (await from.listTasks({ sort: 'id' })).map((task) => ({ ...task, version: 0 }));
  expect(await shown(store)).toEqual(await shown(temp.store));
  for (const { id } of await store.listTasks({})) {
    const [ours, theirs] = [await temp.store.getTask(id), await store.getTask(id)];
    expect({ ...theirs, version: 0 }).toEqual({ ...ours, version: 0 });
  }
}

/** Those of tasks; others say which values were written here. */
function lines(temp: TempStore): string[] {
  const text = readFileSync(temp.replica, 'utf8').replace(/\n$/, '');
  return text === '' ? [] : text.split('\n').filter((line) => !line.startsWith('{"shown":'));
}

function heldBytes(temp: TempStore): number {
  using db = temp.connect();
  return Number(db.prepare("SELECT value FROM store_facts WHERE name = 'replica_bytes'").get()?.['value']);
}

/** The lines that the feed says could not be read. */
function unreadable(temp: TempStore): unknown[] {
  using db = temp.connect();
  const found = db.prepare("SELECT data FROM events WHERE type = 'replica.line_unreadable'").all();
  return found.map((row) => (JSON.parse(String(row['data'])) as { line: unknown }).line);
}

describe.each(['block', 'await'] as const)(
  'what a killed process left, on a store that waits by %s',
  (lock) => {
    it('stays where a refused write told of it', async () => {
      await using temp = await tempStore({ lock });
      const { id } = await create(temp, 'Claimed by a process that died');
      await leaveClaim(temp, id);
      const refused = temp.store.renewLease({ id, fence: 7 }, by(temp));
      await expect(refused).rejects.toMatchObject({ code: 'fence_conflict', details: { fence: 1 } });
      expect(await temp.store.readStanding(id)).toMatchObject({ fence: 1, task: { assignee: 'gone' } });
    });

    it('is there besides what a write that failed had written', async () => {
      await using temp = await tempStore({ lock });
      const { id } = await create(temp, 'Claimed by a process that died');
      await leaveClaim(temp, id);
      const text = readFileSync(temp.replica, 'utf8');
      using other = temp.connect();
      other.exec(`CREATE TRIGGER full BEFORE UPDATE ON store_facts
      WHEN NEW.name = 'replica_bytes' AND NEW.value > ${Buffer.byteLength(text)}
      BEGIN SELECT RAISE(ABORT, 'no room'); END`);
      await expect(create(temp, 'Never')).rejects.toThrow('no room');
      other.exec('DROP TRIGGER full');
      expect(readFileSync(temp.replica, 'utf8')).toBe(text);
      await create(temp, 'After it');
      const titles = (await temp.store.listTasks({})).map(({ title }) => title);
      expect(titles.toSorted()).toEqual(['After it', 'Claimed by a process that died']);
    });
  },
);

/** The line of a claim in the replica, of which the database knows nothing: its process was killed before the commit. */
async function leaveClaim(temp: TempStore, id: string): Promise<void> {
  const copy = mkdtempSync(join(temp.folder, 'copy-'));
  using db = temp.connect();
  db.exec(`VACUUM INTO '${join(copy, 'forge.db')}'`);
  copyFileSync(temp.replica, join(copy, 'tasks.jsonl'));
  const place = { database: join(copy, 'forge.db'), replica: join(copy, 'tasks.jsonl'), clock: temp.clock };
  await using other = await openSqliteStore(place);
  const before = readFileSync(place.replica).length;
  await other.claimTask({ id, assignee: 'gone', force: false, agents: NO_AGENTS }, by(temp));
  appendFileSync(temp.replica, readFileSync(place.replica).subarray(before));
}

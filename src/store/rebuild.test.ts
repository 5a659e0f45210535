import { appendFileSync, copyFileSync, readFileSync, renameSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { encodeRecord } from '#domain/record-codec.ts';
import { claimRecord, closeRecord, editRecord, newRecord } from '#domain/task-changes.ts';
import { dependencyKey, type TaskRecord } from '#domain/task-record.ts';
import { LIMITS } from '#kernel/limits.ts';
import { fold } from '../../tests/support/fold-lines.ts';
import { removeDatabase, tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, claim, close, create, depend, line } from './behaviour/open-behaviour.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';

/** More than are told one by one, so that they are written in bulk. */
const MANY = LIMITS.fold_events + 60;
const BEGAN = Date.UTC(2026, 0, 5);
const LATER = BEGAN + 9_000_000;

describe('[D14] a large project whose database is gone', () => {
  it('comes back from the replica as it was, after all that can happen to a task', async () => {
    await using temp = await tempStore();
    await fill(temp);
    await liveOn(temp);
    const before = dump(temp);
    await temp.rebuild();
    expect(dump(temp)).toEqual(before);
    // Again from a replica of one line a task, with the moves in lines of their own.
    await temp.store.compactReplica(by(temp));
    await temp.rebuild();
    expect(dump(temp)).toEqual(before);
  });

  it('tells all that came back in one event, and how far it is meanwhile', async () => {
    await using temp = await tempStore();
    await fill(temp);
    const told: [number, number][] = [];
    await temp.reopen(async () => {
      await removeDatabase(temp.database);
      const { database, replica, clock } = temp;
      const meter = (...now: [number, number]) => void told.push(now);
      await using _store = await openSqliteStore({ database, replica, clock, meter });
    });
    expect(replayed(temp)).toEqual([{ type: 'project.changed', task_id: null }]);
    const size = statSync(temp.replica).size;
    expect(told).toEqual([
      [expect.any(Number), size],
      [0, 0],
    ]);
    expect(told[0]?.[0]).toBeLessThan(size);
  });

  it.each<[string, number, (newest: string) => string]>([
    ['cut short', 1, (newest) => newest.slice(0, 90)],
    ['damaged in the middle', 1, (newest) => newest.replace('"priority":', '"priority";')],
    ['damaged at the end', 1, (newest) => newest.replace('"_local":[', '"_local":[x')],
    ['under two names', 0, (newest) => newest.replace('"title":', '"id":"fg-other","title":')],
    ['no task at all', 1, () => '{"what":'],
  ])('reads the lines before a last line of a task that is %s', async (_what, reports, damage) => {
    await using temp = await tempStore();
    await fill(temp);
    await claim(temp, taskId(7), 'ann');
    const before = dump(temp);
    await temp.reopen(async () => {
      await removeDatabase(temp.database);
      appendFileSync(temp.replica, `${damage(lines(temp).at(-1) ?? '')}\n`);
    });
    expect(replayed(temp).filter(({ type }) => type === 'replica.line_unreadable')).toHaveLength(reports);
    using db = temp.connect();
    db.exec("DELETE FROM tasks WHERE id = 'fg-other'; DELETE FROM transitions WHERE task_id = 'fg-other'");
    expect(dump(temp)).toEqual(before);
  });

  it('leaves out a write that a crash cut, also where its lines were the last of their tasks', async () => {
    await using temp = await tempStore();
    await fill(temp);
    const before = dump(temp);
    const { size } = statSync(temp.replica);
    await temp.reopen(async () => {
      await removeDatabase(temp.database);
      appendFileSync(temp.replica, `${replicaLine(edited(3), '9,9,1')}\n{"id":"fg-torn`);
    });
    expect(dump(temp)).toEqual(before);
    expect(statSync(temp.replica).size).toBe(size);
  });
});

it('[D14] a replica that was copied, and so is another file, brings only what the database lacks', async () => {
  await using temp = await tempStore();
  await fill(temp);
  await temp.reopen(() => {
    renameSync(temp.replica, `${temp.replica}.old`);
    copyFileSync(`${temp.replica}.old`, temp.replica);
    appendFileSync(temp.replica, `${replicaLine(edited(3), '2,0')}\n`);
  });
  expect(replayed(temp)).toEqual([{ type: 'task.updated', task_id: taskId(3) }]);
  expect((await temp.store.getTask(taskId(3))).title).toBe('Edited');
});

/** Tasks as a first import leaves them, most of them plain. */
async function fill(temp: TempStore): Promise<void> {
  await fold(
    temp,
    Array.from({ length: MANY }, (_, i) => JSON.parse(encodeRecord(toRecord(i))) as object),
  );
}

/** Everything that makes the lines of a task more than its newest one. */
async function liveOn(temp: TempStore): Promise<void> {
  const { store } = temp;
  const id = taskId;
  await claim(temp, id(10), 'ann');
  await close(temp, id(10), 'duplicate');
  await store.reopenTask({ id: id(10), reason: 'not quite' }, by(temp));
  const lease = { assignee: 'bot', force: false, lease_ms: 60_000, agents: NO_AGENTS };
  await store.claimTask({ id: id(20), ...lease }, by(temp));
  await store.updateTask({ id: id(30), title: 'Ünïcode "quoted"', labels_remove: ['core'] }, by(temp));
  await store.addComment({ id: id(30), body: 'Hm', reply_to: null }, by(temp));
  await store.updateTask({ id: id(40), parent_id: id(50) }, by(temp));
  await depend(temp, id(60), id(50), 'related');
  await store.removeDependency({ from_id: id(70), to_id: id(69), type: undefined }, by(temp));
  await claim(temp, id(80), 'ann');
  await store.deleteTask({ id: id(50) }, by(temp));
  await store.deleteTask({ id: id(80) }, by(temp, 'ann'));
  await store.deleteTask({ id: id(90) }, by(temp));
  await store.restoreTask({ id: id(90) }, by(temp));
  await create(temp, 'New', { depends_on: [id(10)], metadata: new Map([['k', { deep: [1] }]]) });
  await store.pauseProject(true, by(temp));
  await fold(temp, [line('fg-same', { created_by: 'ann' }), line('fg-lost', { parent_id: 'fg-nowhere' })]);
  await claim(temp, 'fg-same', 'ann');
  await fold(temp, [line('fg-same', { created_by: 'bob', sprint: 7 })], { path: 'theirs' });
}

function taskId(i: number): string {
  return `fg-x${String(i).padStart(4, '0')}`;
}

function toRecord(i: number): TaskRecord {
  const at = BEGAN + i * 1_000;
  const made = newRecord(
    {
      id: taskId(i),
      created_by: 'orchestrator',
      fields: { title: `Task ${i}`, description: 'Text', priority: i % 5 },
      assignee: null,
      state: 'todo',
      labels: ['area', 'core'],
      dependencies: i === 0 ? [] : [dependencyKey(taskId(i - 1), 'blocks')],
      metadata: new Map([['n', i]]),
    },
    at,
  );
  return i % 10 < 7 || i === 0 ? made : closeRecord(claimRecord(made, 'worker', at + 5), 'done', at + 60);
}

function edited(i: number): TaskRecord {
  return editRecord(toRecord(i), { fields: new Map([['title', 'Edited']]) }, LATER);
}

function replicaLine(record: TaskRecord, local: string): string {
  return `${encodeRecord(record).slice(0, -1)},"_local":[${local}]}`;
}

function lines(temp: TempStore): string[] {
  return readFileSync(temp.replica, 'utf8').trimEnd().split('\n');
}

function replayed(temp: TempStore): { type: string; task_id: string | null }[] {
  using db = temp.connect();
  const sql = "SELECT type, task_id FROM events WHERE triggered_by = 'system:replay' ORDER BY seq";
  return db
    .prepare(sql)
    .all()
    .map((row) => ({ ...row })) as { type: string; task_id: string | null }[];
}

const TABLES = {
  tasks: '* FROM tasks ORDER BY id',
  dependencies: '* FROM dependencies ORDER BY from_id, to_id, dep_type',
  unresolved_dependencies: '* FROM unresolved_dependencies ORDER BY from_id, to_id, dep_type',
  unresolved_parents: '* FROM unresolved_parents ORDER BY task_id',
  comments: '* FROM comments ORDER BY id',
  deleted_tasks: "id, deleted_at, line, digest, undo ->> 'before' AS content FROM deleted_tasks ORDER BY id",
  transitions: `task_id, created_at, from_state, to_state, triggered_by, reason, rejection FROM transitions
    ORDER BY task_id, created_at, from_state, to_state`,
  leases: 'task_id, fence, ttl_ms FROM leases ORDER BY task_id',
  shown_lines: '* FROM shown_lines ORDER BY path, task_id, seal',
  paused: "value > 0 AS paused FROM store_facts WHERE name = 'paused_at'",
};

/** All that a rebuild has to bring back. */
function dump(temp: TempStore): Record<string, unknown[]> {
  using db = temp.connect();
  const read = (sql: string): unknown[] =>
    db
      .prepare(`SELECT ${sql}`)
      .all()
      .map((row) => ({ ...row }));
  return Object.fromEntries(Object.entries(TABLES).map(([name, sql]) => [name, read(sql)]));
}

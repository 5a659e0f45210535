import { existsSync, rmSync, truncateSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, create, depend } from './behaviour/open-behaviour.ts';
import { examineDatabase, rebuildStore } from './examine-database.ts';
import type { Rebuilt } from './sqlite/rebuild-database.ts';
import { holdsTasks } from './store-location.ts';

interface Case {
  readonly sql: string;
  /** What of the tasks is not as before, where the replica does not know it. */
  readonly differs?: Readonly<Record<string, unknown>>;
  /** What is told as lost then, of the task `One`. */
  readonly lost?: string;
  readonly comments?: number;
}

const ONE = "WHERE title = 'One'";

/** What another program did to a database whose replica does not know its tasks. */
const CASES: Readonly<Record<string, Case>> = {
  nothing: { sql: '' },
  'no comments': { sql: 'DROP TABLE comments', comments: 0 },
  'no edges': { sql: 'DROP TABLE dependencies', differs: { dependencies: [] } },
  'no unresolved edges': { sql: 'DROP TABLE unresolved_dependencies' },
  'no unresolved parents': { sql: 'DROP TABLE unresolved_parents' },
  'no deleted tasks': { sql: 'DROP TABLE deleted_tasks' },
  'no moves': { sql: 'DROP TABLE transitions' },
  'no facts': { sql: 'DROP TABLE store_facts' },
  'no leases': { sql: 'DROP TABLE leases' },
  'a renamed column': {
    sql: 'ALTER TABLE tasks RENAME COLUMN description TO text',
    differs: { description: '' },
  },
  'no version': { sql: 'ALTER TABLE tasks DROP COLUMN version', differs: { version: 1 } },
  'labels that are not JSON': {
    sql: `UPDATE tasks SET labels = '{x' ${ONE}`,
    differs: { labels: [] },
    lost: 'labels',
  },
  'metadata of another kind': {
    sql: `UPDATE tasks SET metadata = '[1]' ${ONE}`,
    differs: { metadata: {} },
    lost: 'metadata',
  },
  'stamps that are not JSON': { sql: `UPDATE tasks SET stamps = 'x' ${ONE}`, lost: '_v' },
  'a title that is no text': {
    sql: `UPDATE tasks SET title = x'00ff' ${ONE}`,
    differs: { title: '' },
    lost: 'title',
  },
  'a number beyond all numbers': {
    sql: `UPDATE tasks SET github_issue = 9223372036854775807 ${ONE}`,
    lost: 'github_issue',
  },
  'an edge to no id': {
    sql: "INSERT INTO unresolved_dependencies (from_id, to_id, dep_type) SELECT id, 'no id!', 'related' FROM tasks WHERE title = 'One'",
    lost: 'dependencies',
  },
  'a comment that is none': {
    sql: "UPDATE comments SET created_at = 'yesterday'",
    lost: 'comments',
    comments: 0,
  },
  'a date that is none': {
    sql: `UPDATE tasks SET created_at = 'x' ${ONE}`,
    differs: { created_at: expect.any(String) as string },
    lost: 'created_at',
  },
};

describe.each(Object.entries(CASES))('[T14-3] a rebuild of a database with %s', (_name, wrong) => {
  it('keeps every task where the replica was cut, and tells what is lost', async () => {
    await using temp = await tempStore();
    const id = await fill(temp);
    const before = await shown(temp);
    const { lost, aside } = await rebuild(temp, wrong.sql, () => truncateSync(temp.replica, 300));
    const after = await shown(temp);
    expect(after).toEqual(
      before.map((task) =>
        task.id === id
          ? { ...task, updated_at: anyText, version: anyNumber, ...wrong.differs }
          : { ...task, ...pickGlobal(wrong) },
      ),
    );
    expect(countComments(temp)).toBe(wrong.comments ?? 1);
    expect(lost).toEqual(wrong.lost === undefined ? [] : [`${id} (${wrong.lost})`]);
    expect(basename(aside ?? '').endsWith('-unread')).toBe(wrong.lost !== undefined);
    expect(holdsTasks(basename(aside ?? ''))).toBe(true);
  });

  it('changes nothing where the replica is whole', async () => {
    await using temp = await tempStore();
    await fill(temp);
    const before = await shown(temp);
    const { lost, kept } = await rebuild(temp, wrong.sql);
    expect({ lost, kept, tasks: await shown(temp) }).toEqual({ lost: [], kept: [], tasks: before });
    expect(countComments(temp)).toBe(1);
    expect(examineDatabase(temp)).toEqual({
      schema: [],
      missing: [],
      unreadable: [],
      changed: [],
      integrity: [],
    });
  });
});

const anyText: unknown = expect.any(String);
const anyNumber: unknown = expect.any(Number);

/** A column or table that is gone is gone for every task. */
function pickGlobal({ sql, differs }: Case): object {
  return sql.includes('WHERE') ? {} : { ...differs };
}

it('[T14-3] a row that is no task stays in the file that is kept, which is named', async () => {
  await using temp = await tempStore();
  await fill(temp);
  const time = '2026-01-01T00:00:00.000Z';
  const { lost, aside, tasks } = await rebuild(
    temp,
    `INSERT INTO tasks (id, title, created_at, created_by, updated_at) VALUES ('no id!', 'x', '${time}', 'ann', '${time}')`,
  );
  expect({ lost, tasks }).toEqual({ lost: ['no id!'], tasks: 3 });
  using db = new DatabaseSync(aside ?? '', { readOnly: true });
  expect(db.prepare("SELECT title FROM tasks WHERE id = 'no id!'").get()).toEqual({ title: 'x' });
});

it('[T14-3] deletions, moves, leases and a pause come back from the rows where the replica is gone', async () => {
  await using temp = await tempStore();
  await fill(temp);
  change(temp, "UPDATE store_facts SET value = 7 WHERE name = 'paused_at'");
  const before = dump(temp);
  expect(before.deleted_tasks).toHaveLength(1);
  expect(before.transitions).not.toEqual([]);
  expect(before.leases).toHaveLength(1);
  await rebuild(temp, 'DROP TABLE comments', () => rmSync(temp.replica));
  expect(dump(temp)).toEqual(before);
});

async function fill(temp: TempStore): Promise<string> {
  const { store } = temp;
  const gone = await create(temp, 'Four');
  const { id } = await create(temp, 'One', { labels: ['red'], metadata: new Map([['k', 1]]) });
  const other = await create(temp, 'Two', { description: 'Long' });
  temp.clock.advance(1000);
  await depend(temp, id, other.id, 'related');
  await store.addComment({ id, body: 'A remark', reply_to: null }, by(temp));
  const lease = { assignee: 'ann', force: false, lease_ms: 60_000, agents: NO_AGENTS };
  await store.claimTask({ id: other.id, ...lease }, by(temp));
  await create(temp, 'Three', { parent_id: id });
  await store.deleteTask({ id: gone.id }, by(temp));
  await store.updateTask({ id, description: 'Short' }, by(temp));
  return id;
}

async function rebuild(temp: TempStore, sql: string, damage?: () => void): Promise<Rebuilt> {
  let rebuilt: Rebuilt | undefined;
  await temp.reopen(async () => {
    change(temp, sql);
    damage?.();
    const { folder, clock, hold } = temp;
    rebuilt = await rebuildStore({ folder }, { clock, hold });
  });
  if (rebuilt?.aside === undefined || !existsSync(rebuilt.aside)) throw new Error('nothing was set aside');
  return rebuilt;
}

function change(temp: TempStore, sql: string): void {
  using db = temp.connect({ foreign_keys: false });
  db.exec(sql);
}

function countComments(temp: TempStore): unknown {
  using db = temp.connect();
  return db.prepare('SELECT count(*) AS n FROM comments').get()?.['n'];
}

async function shown({ store }: TempStore) {
  return (await store.listTasks({})).toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function dump(temp: TempStore): Record<string, unknown[]> {
  using db = temp.connect();
  const read = (sql: string): unknown[] =>
    db
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  return {
    deleted_tasks: read('SELECT id, line FROM deleted_tasks'),
    leases: read('SELECT task_id, fence, ttl_ms FROM leases'),
    paused: read("SELECT value FROM store_facts WHERE name = 'paused_at'"),
    transitions: read('SELECT task_id, created_at, from_state, to_state, triggered_by FROM transitions'),
  };
}

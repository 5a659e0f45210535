import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DependencyNode } from '#contract/graph-operations.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, claim, close, create, depend, expectCode, line } from './behaviour/open-behaviour.ts';
import { openSqliteStore } from './sqlite/open-sqlite-store.ts';
import { Database } from './sqlite/database.ts';
import { MIGRATIONS } from './sqlite/migrations.generated.ts';
import { NEWEST_SCHEMA } from './sqlite/schema-version.ts';
import { listReady } from './sqlite/ready-queries.ts';
import {
  SEED_CLAIM,
  SEED_GITHUB_ISSUE,
  SEED_READY,
  SEED_SCHEMA,
  SEED_SHOW,
  SEED_TREE,
  WRONG_COUNTS,
} from '../../tests/support/seed-sql.ts';

type Row = Record<string, unknown>;

it('the number that every open looks at is that of the last migration', () => {
  expect(NEWEST_SCHEMA).toBe(MIGRATIONS.at(-1)?.number);
});

describe('schema', () => {
  it.each(['tasks', 'dependencies'])(
    '[S35] [S36] %s has the documented columns, types, defaults and keys',
    async (table) => {
      await using temp = await tempStore();
      using ours = temp.connect();
      using seed = documented();
      const columns = (db: DatabaseSync) => rows(db, `PRAGMA table_info(${table})`);
      const wanted = columns(seed);
      expect(wanted.length).toBeGreaterThan(2);
      expect(columns(ours).slice(0, wanted.length)).toEqual(wanted);
      const keys = (db: DatabaseSync) => rows(db, `PRAGMA foreign_key_list(${table})`);
      expect(keys(ours)).toEqual(keys(seed));
    },
  );

  it('[S37] has the six documented indexes, on the same columns and rows', async () => {
    await using temp = await tempStore();
    using ours = temp.connect();
    using seed = documented();
    const wanted = indexes(seed);
    expect(wanted.size).toBe(6);
    const found = indexes(ours);
    expect(new Map([...found].filter(([name]) => wanted.has(name)))).toEqual(wanted);
  });

  it('[S35] a row with nothing but what it must have gets the documented defaults', async () => {
    await using temp = await tempStore();
    using ours = temp.connect();
    using seed = documented();
    const insert =
      "INSERT INTO tasks (id, title, created_at, created_by, updated_at) VALUES ('fg-aaaa', 'T', 'now', 'me', 'now')";
    for (const db of [ours, seed]) db.exec(insert);
    const [wanted = {}] = rows(seed, 'SELECT * FROM tasks');
    expect(rows(ours, 'SELECT * FROM tasks')[0]).toMatchObject(wanted);
  });

  it.each([
    ['status', "UPDATE tasks SET status = 'x'"],
    ['status', 'UPDATE tasks SET status = NULL'],
    ['priority', 'UPDATE tasks SET priority = 5'],
    ['priority', 'UPDATE tasks SET priority = -1'],
    ['type', "UPDATE tasks SET type = 'chore'"],
    ['title', 'UPDATE tasks SET title = NULL'],
    ['created_at', 'UPDATE tasks SET created_at = NULL'],
    ['labels', 'UPDATE tasks SET labels = NULL'],
    ['metadata', 'UPDATE tasks SET metadata = NULL'],
    ['dep_type', "INSERT INTO dependencies VALUES ('fg-aaaa', 'fg-bbbb', 'needs')"],
    ['from_id, to_id, dep_type', "INSERT INTO dependencies VALUES ('fg-bbbb', 'fg-aaaa', 'blocks')"],
    [
      'id',
      "INSERT INTO tasks (id, title, created_at, created_by, updated_at) VALUES ('fg-aaaa', 'T', '', '', '')",
    ],
  ])('[S35] [S36] refuses a bad %s: %s', async (_column, sql) => {
    await using temp = await tempStore();
    await temp.bring([
      line('fg-aaaa'),
      line('fg-bbbb', { dependencies: [{ id: 'fg-aaaa', type: 'blocks' }] }),
    ]);
    using db = temp.connect();
    expect(() => db.exec(sql)).toThrow(/constraint failed/);
  });

  it("[S34] [S212] enforces foreign keys, through the store's own connection too, which waits for a lock", async () => {
    await using temp = await tempStore();
    await temp.bring([line('fg-aaaa')]);
    const dangling = "INSERT INTO dependencies (from_id, to_id) VALUES ('fg-aaaa', 'fg-none')";
    using db = temp.connect();
    expect(() => db.exec(dangling)).toThrow(/FOREIGN KEY/);
    expect(() => db.exec("UPDATE tasks SET parent_id = 'fg-none'")).toThrow(/FOREIGN KEY/);
    const own = new Database(temp.database, { lock_timeout_ms: 1_000 });
    try {
      expect(own.get('PRAGMA foreign_keys')).toEqual({ foreign_keys: 1 });
      expect(own.get('PRAGMA busy_timeout')).toEqual({ timeout: 1_000 });
      expect(() => own.run(dangling)).toThrow(/FOREIGN KEY/);
    } finally {
      own.close();
    }
  });

  it('[S36] [S39] deleting a row by hand takes its edges and frees its children', async () => {
    await using temp = await tempStore();
    const epic = await create(temp, 'Epic');
    const child = await create(temp, 'Child', { parent_id: epic.id, depends_on: [epic.id] });
    const other = await create(temp, 'Other');
    await depend(temp, epic.id, other.id);
    using db = temp.connect();
    db.prepare('DELETE FROM tasks WHERE id = ?').run(epic.id);
    expect(rows(db, 'SELECT * FROM dependencies')).toEqual([]);
    expect(await temp.store.getTask(child.id)).toMatchObject({
      parent_id: null,
      dependencies: [],
      ready: true,
    });
  });

  it('[S33] [S212] runs in WAL mode, for every client', async () => {
    await using temp = await tempStore();
    using db = temp.connect();
    expect(rows(db, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
  });

  it('[S38] labels and metadata can be queried with json_each and json_extract', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'T', { labels: ['x', 'y'], metadata: new Map([['pr', { url: 'u' }]]) });
    await create(temp, 'Other', { labels: ['xx'] });
    using db = temp.connect();
    expect(rows(db, "SELECT tasks.id FROM tasks, json_each(labels) WHERE value = 'x'")).toEqual([{ id }]);
    expect(rows(db, "SELECT id FROM tasks WHERE json_extract(metadata, '$.pr.url') = 'u'")).toEqual([{ id }]);
    expect(rows(db, 'SELECT id FROM tasks WHERE NOT (json_valid(labels) AND json_valid(metadata))')).toEqual(
      [],
    );
  });
});

describe('migrations', () => {
  it('[S40] [S210] are recorded once, with number, name and time, however often the store is opened', async () => {
    await using temp = await tempStore();
    const applied_at = new Date(temp.clock.now()).toISOString();
    temp.clock.advance(120_000);
    await temp.reopen();
    await temp.reopen();
    using db = temp.connect();
    const recorded = MIGRATIONS.map(({ number, name }) => ({ number, name, applied_at }));
    expect(rows(db, 'SELECT * FROM migrations ORDER BY number')).toEqual(recorded);
    expect(rows(db, 'PRAGMA user_version')).toEqual([{ user_version: MIGRATIONS.length }]);
  });

  it('keep the reviews of an older database, and what its checks said', () => {
    using db = new DatabaseSync(':memory:');
    db.exec('PRAGMA foreign_keys = ON');
    const apply = (number: number): void => db.exec(MIGRATIONS[number - 1]?.sql ?? '');
    for (const number of [1, 2, 3, 4, 5, 6, 7]) apply(number);
    const attempt = "'a', 'fg-1', 1, 'a-x', '/x', 'main', 'c0', 'active', 't0'";
    db.exec(
      `INSERT INTO attempts (id, task_id, number, name, path, target, base_commit, state, created_at) VALUES (${attempt})`,
    );
    for (const [number, status] of ['failed', 'passed', 'running', 'void'].entries())
      db.exec(
        `INSERT INTO reviews (id, task_id, attempt_id, attempt_number, status, watcher, started_at) VALUES ('r${number}', 'fg-1', 'a', ${number}, '${status}', '{}', 't1')`,
      );
    db.exec("INSERT INTO step_cache VALUES ('tree', 'npm test', '{}', 't1')");
    const before = rows(db, 'SELECT * FROM reviews ORDER BY attempt_number');
    apply(8);
    expect(rows(db, 'SELECT * FROM reviews ORDER BY attempt_number')).toEqual(
      before.map((row) => ({ ...row, verdict_by: null, cleared_at: null })),
    );
    expect(rows(db, 'SELECT * FROM step_cache')).toMatchObject([{ command: 'npm test', review_id: null }]);
    const named = "SELECT name FROM sqlite_schema WHERE name = 'idx_reviews_running'";
    expect(rows(db, named)).toHaveLength(1);
    db.exec("UPDATE reviews SET status = 'waiting' WHERE id = 'r1'");
    expect(() => db.exec("UPDATE reviews SET status = 'else' WHERE id = 'r1'")).toThrow('CHECK');
  });

  it('[S40] two stores open the same new file', async () => {
    await using temp = await tempStore();
    await using other = await openSqliteStore(temp);
    await create(temp, 'Seen');
    expect(await other.listTasks({})).toMatchObject([{ title: 'Seen' }]);
  });

  it('a newer schema is refused and left as it is', async () => {
    await using temp = await tempStore();
    await create(temp, 'Kept');
    await temp
      .reopen(() => {
        using db = temp.connect();
        db.exec('PRAGMA user_version = 99; UPDATE format SET min_reader = 99, min_writer = 99');
      })
      .catch(() => undefined);
    const { database, replica, clock } = temp;
    const error = await expectCode(openSqliteStore({ database, replica, clock }), 'schema_newer');
    expect(error.details).toMatchObject({ found: 99, known: MIGRATIONS.length });
    using db = temp.connect();
    expect(rows(db, 'PRAGMA user_version')).toEqual([{ user_version: 99 }]);
    expect(rows(db, 'SELECT title FROM tasks')).toEqual([{ title: 'Kept' }]);
  });

  it('a file that is no database is set aside as it is, and the tasks come back from the replica', async () => {
    await using temp = await tempStore();
    await create(temp, 'Kept by the replica');
    const garbage = 'not a database at all. '.repeat(100);
    await temp.reopen(() => writeFileSync(temp.database, garbage));
    expect(await temp.store.listTasks({})).toMatchObject([{ title: 'Kept by the replica' }]);
    const [aside = ''] = readdirSync(temp.folder).filter((name) => name.includes('damaged'));
    expect(readFileSync(join(temp.folder, aside), 'utf8')).toBe(garbage);
  });

  it('an empty file is a new database', async () => {
    await using temp = await tempStore();
    await create(temp, 'Kept by the replica');
    await temp.reopen(() => writeFileSync(temp.database, ''));
    expect(await temp.store.listTasks({})).toMatchObject([{ title: 'Kept by the replica' }]);
  });
});

describe('plans', () => {
  it.each([
    [{}, ['SEARCH|SCAN t USING INDEX idx_tasks_ready']],
    [{ limit: 5, type: 'bug', label: 'x' }, ['SEARCH|SCAN t USING INDEX idx_tasks_ready']],
    [
      { assignee: 'bob' },
      ['SEARCH|SCAN t USING INDEX idx_tasks_ready', 'SEARCH t USING INDEX idx_tasks_reserved'],
    ],
  ] as const)('[S61] ready %j walks its own index, in order', async (query, expected) => {
    await using temp = await tempStore();
    const db = new ExplainingDatabase(temp.database, { lock_timeout_ms: 1_000 });
    try {
      listReady(db, query);
      const [plan = []] = db.plans;
      for (const step of expected)
        expect(plan.join('\n')).toMatch(new RegExp(step.replace('SEARCH|SCAN', '(SEARCH|SCAN)')));
      expect(plan.join('\n')).not.toContain('USE TEMP B-TREE FOR ORDER BY');
    } finally {
      db.close();
    }
  });
});

describe('the documented queries give what the store gives', () => {
  it('[S59] [S60] [S61] [S63] [S64] [S65] [S68] [S69] on random graphs', async () => {
    await fc.assert(
      fc.asyncProperty(randomGraph, async (steps) => {
        await using temp = await tempStore();
        await build(temp, steps);
        await compareQueries(temp);
      }),
      { numRuns: 25, seed: 61 },
    );
  }, 120_000);

  it('[S66] the documented claim takes a task once, and the store sees it', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Free');
    using db = temp.connect();
    const now = new Date(temp.clock.now() + 5_000).toISOString();
    expect(db.prepare(SEED_CLAIM).run('worker-1', now, id).changes).toBe(1);
    expect(db.prepare(SEED_CLAIM).run('worker-2', now, id).changes).toBe(0);
    expect(await temp.store.getTask(id)).toMatchObject({
      status: 'in_progress',
      assignee: 'worker-1',
      updated_at: now,
    });
    expect(await claim(temp, id, 'worker-2')).toMatchObject({ outcome: 'taken', owner: 'worker-1' });
    expect(await temp.store.listReady({})).toEqual([]);
    expect(await close(temp, id)).toMatchObject({ status: 'closed', assignee: 'worker-1' });
  });

  it('the store writes on top of what was changed by hand, and keeps it', async () => {
    await using temp = await tempStore();
    const { id } = await create(temp, 'Before', { labels: ['a'] });
    {
      using db = temp.connect();
      db.prepare(
        'UPDATE tasks SET title = \'By hand\', priority = 0, labels = \'["b","a"]\', metadata = \'{"k":1}\' WHERE id = ?',
      ).run(id);
    }
    const task = await temp.store.updateTask({ id, labels_add: ['c'] }, by(temp));
    expect(task).toMatchObject({
      title: 'By hand',
      priority: 0,
      labels: ['a', 'b', 'c'],
      metadata: { k: 1 },
    });
    await temp.rebuild();
    expect(await temp.store.getTask(id)).toMatchObject({
      title: 'By hand',
      labels: ['a', 'b', 'c'],
      metadata: { k: 1 },
    });
  });

  it('what Forge removed and somebody put back by hand is there again', async () => {
    await using temp = await tempStore();
    const blocker = await create(temp, 'Blocker');
    const { id } = await create(temp, 'Task', { labels: ['x', 'y'], depends_on: [blocker.id] });
    await temp.store.updateTask({ id, labels_remove: ['x'] }, by(temp));
    await temp.store.removeDependency({ from_id: id, to_id: blocker.id, type: undefined }, by(temp));
    {
      using db = temp.connect();
      db.prepare('UPDATE tasks SET labels = \'["x","y"]\' WHERE id = ?').run(id);
      db.prepare('INSERT INTO dependencies (from_id, to_id) VALUES (?, ?)').run(id, blocker.id);
    }
    await temp.store.updateTask({ id, title: 'Renamed' }, by(temp));
    await temp.rebuild();
    const task = await temp.store.getTask(id);
    expect(task).toMatchObject({ labels: ['x', 'y'], open_blockers: 1, dependencies: [{ id: blocker.id }] });
  });
});

describe('hand-written SQL keeps open_blockers right', () => {
  it.each([true, false])(
    '[S61] whatever it says, with foreign_keys %s',
    async (foreign_keys) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(handWritten, { minLength: 5, maxLength: 40, size: 'max' }),
          async (statements) => {
            await using temp = await tempStore();
            await temp.bring(HAND_IDS.map((id, at) => line(id, { priority: at })));
            using db = temp.connect({ foreign_keys });
            for (const sql of statements) {
              // A duplicate edge is refused; the counts have to be right all the same.
              try {
                db.exec(sql);
              } catch (error) {
                if (!/constraint failed/.test((error as Error).message)) throw error;
              }
              expect({ sql, wrong: rows(db, WRONG_COUNTS) }).toEqual({ sql, wrong: [] });
            }
            const ready = await temp.store.listReady({});
            expect(ready.map(({ id }) => id)).toEqual(ids(db, SEED_READY));
          },
        ),
        { numRuns: 40, seed: 210 },
      );
    },
    120_000,
  );

  it('a blocker of another project frees when it is closed there', async () => {
    await using temp = await tempStore();
    await temp.bring([line('fg-wait', { dependencies: [{ id: 'zz-away', type: 'blocks' }] })]);
    using db = temp.connect();
    db.exec("UPDATE unresolved_dependencies SET closed = 1 WHERE to_id = 'zz-away'");
    expect(await temp.store.getTask('fg-wait')).toMatchObject({ open_blockers: 0, ready: true });
    db.exec("UPDATE unresolved_dependencies SET closed = 0 WHERE to_id = 'zz-away'");
    expect(await temp.store.getTask('fg-wait')).toMatchObject({ open_blockers: 1, ready: false });
  });
});

class ExplainingDatabase extends Database {
  readonly plans: string[][] = [];

  override all(sql: string, ...values: Parameters<Database['all']>[1][]): Row[] {
    this.plans.push(super.all(`EXPLAIN QUERY PLAN ${sql}`, ...values).map((row) => String(row['detail'])));
    return super.all(sql, ...values);
  }
}

const HAND_IDS = ['fg-aaaa', 'fg-bbbb', 'fg-cccc', 'fg-dddd'];
const handId = fc.constantFrom(...HAND_IDS).map((id) => `'${id}'`);
const handType = fc.constantFrom("'blocks'", "'blocks'", "'related'", "'discovered-from'");
const handStatus = fc.constantFrom("'open'", "'in_progress'", "'closed'", "'closed'");

const handWritten = fc.oneof(
  fc.tuple(handId, handStatus).map(([id, status]) => `UPDATE tasks SET status = ${status} WHERE id = ${id}`),
  handStatus.map((status) => `UPDATE tasks SET status = ${status}`),
  fc.tuple(handId, handId, handType).map((edge) => `INSERT INTO dependencies VALUES (${edge.join(', ')})`),
  fc
    .tuple(handId, handId)
    .map((edge) => `INSERT INTO dependencies (from_id, to_id) VALUES (${edge.join(', ')})`),
  fc
    .tuple(handId, handId, handType)
    .map((edge) => `INSERT OR REPLACE INTO dependencies VALUES (${edge.join(', ')})`),
  fc
    .tuple(handId, handId)
    .map(([from, to]) => `DELETE FROM dependencies WHERE from_id = ${from} AND to_id = ${to}`),
  fc
    .tuple(handId, handType)
    .map(([from, type]) => `UPDATE OR IGNORE dependencies SET dep_type = ${type} WHERE from_id = ${from}`),
  fc
    .tuple(handId, handId)
    .map(([from, to]) => `UPDATE OR IGNORE dependencies SET to_id = ${to} WHERE from_id = ${from}`),
  fc
    .tuple(handId, handId)
    .map(([from, to]) => `UPDATE OR IGNORE dependencies SET from_id = ${to} WHERE from_id = ${from}`),
  handId.map((id) => `DELETE FROM tasks WHERE id = ${id}`),
);

interface Step {
  readonly priority: number;
  readonly blockers: readonly number[];
  readonly related: readonly number[];
  readonly parent: number;
  readonly issue: number | null;
  readonly end: 'free' | 'claimed' | 'reserved' | 'closed' | 'deleted';
}

const randomGraph: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    priority: fc.nat(4),
    blockers: fc.array(fc.nat(20), { maxLength: 3 }),
    related: fc.array(fc.nat(20), { maxLength: 1 }),
    parent: fc.nat(40),
    issue: fc.option(fc.constantFrom(1, 2)),
    end: fc.constantFrom('free', 'free', 'claimed', 'reserved', 'closed', 'closed', 'deleted'),
  }),
  { minLength: 1, maxLength: 18, size: 'max' },
);

async function build(temp: TempStore, steps: readonly Step[]): Promise<void> {
  const made: string[] = [];
  for (const step of steps) {
    const blockers = step.blockers.flatMap((at) => made[at] ?? []);
    const task = await create(temp, `Task ${made.length}`, {
      priority: step.priority,
      depends_on: blockers,
      parent_id: made[step.parent] ?? null,
      github_issue: step.issue,
      assignee: step.end === 'reserved' ? 'ann' : null,
    });
    for (const at of step.related)
      if (made[at] !== undefined) await depend(temp, task.id, made[at], 'related');
    made.push(task.id);
  }
  for (const [at, { end }] of steps.entries()) {
    const id = made[at] ?? '';
    if (end === 'claimed') await claim(temp, id, 'bob', true);
    if (end === 'closed') await close(temp, id);
    if (end === 'deleted') await temp.store.deleteTask({ id }, by(temp));
  }
}

const ISSUE_COLUMNS = [
  'id',
  'title',
  'status',
  'priority',
  'type',
  'assignee',
  'created_at',
  'updated_at',
] as const;

async function compareQueries(temp: TempStore): Promise<void> {
  using db = temp.connect();
  const ready = await temp.store.listReady({});
  expect(ready.map(({ id }) => id)).toEqual(ids(db, SEED_READY));
  for (const issue of [1, 2]) {
    const found = await temp.store.listTasks({ github_issue: issue });
    expect(found.map((task) => Object.fromEntries(ISSUE_COLUMNS.map((name) => [name, task[name]])))).toEqual(
      rows(db, SEED_GITHUB_ISSUE, issue),
    );
  }
  for (const { id } of await temp.store.listTasks({})) await compareTask(temp, db, id);
}

async function compareTask(temp: TempStore, db: DatabaseSync, id: string): Promise<void> {
  const shown = await temp.store.getTask(id);
  const [row = {}] = rows(db, SEED_SHOW.task, id);
  const { title, status, priority, assignee, parent_id, created_at, updated_at } = shown;
  expect(row).toMatchObject({ id, title, status, priority, assignee, parent_id, created_at, updated_at });
  const flat = (edges: typeof shown.dependencies, name: string) =>
    edges.map(({ type, id: other, resolved }) => ({
      dep_type: type,
      [name]: other,
      title: resolved?.title,
      status: resolved?.status,
      priority: resolved?.priority,
      assignee: resolved?.assignee,
    }));
  expect(new Set(flat(shown.dependencies, 'to_id'))).toEqual(new Set(rows(db, SEED_SHOW.outbound, id)));
  expect(new Set(flat(shown.dependents, 'from_id'))).toEqual(new Set(rows(db, SEED_SHOW.inbound, id)));
  const subtasks = shown.subtasks.map(({ state: _state, type: _type, ...rest }) => rest);
  expect(subtasks).toEqual(rows(db, SEED_SHOW.subtasks, id));
  const depths = new Map<unknown, unknown>();
  for (const node of rows(db, SEED_TREE, id, id))
    if (!depths.has(node['id'])) depths.set(node['id'], node['depth']);
  expect(nearest(await temp.store.readTree({ id, depth: 10 }))).toEqual(depths);
}

/** Each task of the tree with its least depth. */
function nearest(root: DependencyNode): Map<unknown, unknown> {
  const depths = new Map<unknown, unknown>();
  let level = [root];
  for (let depth = 0; level.length > 0; depth += 1) {
    for (const { id } of level) if (!depths.has(id)) depths.set(id, depth);
    level = level.flatMap(({ children }) => children);
  }
  return depths;
}

function documented(): DatabaseSync & Disposable {
  const db = new DatabaseSync(':memory:');
  db.exec(SEED_SCHEMA);
  return Object.assign(db, { [Symbol.dispose]: () => db.close() });
}

function indexes(db: DatabaseSync): Map<string, string> {
  const found = rows(db, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL");
  return new Map(found.map(({ name, sql }) => [String(name), String(sql).replace(/\s+/g, ' ').trim()]));
}

function ids(db: DatabaseSync, sql: string): unknown[] {
  return rows(db, sql).map((row) => row['id']);
}

function rows(db: DatabaseSync, sql: string, ...values: (string | number)[]): Row[] {
  return db
    .prepare(sql)
    .all(...values)
    .map((row) => ({ ...row }));
}

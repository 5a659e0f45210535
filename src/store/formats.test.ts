import { systemActor } from '#domain/actor.ts';
import { createHash } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { HOLD, TestClock } from '../../tests/support/temp-store.ts';
import { by, everything, expectCode, line, newTask } from './behaviour/open-behaviour.ts';
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './sqlite/open-sqlite-store.ts';
import { openTaskReader } from './open-task-reader.ts';
import { holdsTasks, locationOf } from './store-location.ts';
import { MIGRATIONS } from './sqlite/migrations.generated.ts';
import { NEWEST_SCHEMA, OLDEST_READ } from './sqlite/schema-version.ts';

/** Made by the programs that knew no newer schema: database as SQL, and replica. Schema 3 was never a newest one. */
const FORMATS = join(import.meta.dirname, '../../tests/fixtures/formats');
const SCHEMAS = readdirSync(FORMATS)
  .map(Number)
  .toSorted((a, b) => a - b);

const TITLES = [
  'An epic',
  'First: with labels',
  'Fourth: closed',
  'Second: waits for the first',
  'Third: claimed',
];

it('every schema that was ever the newest has a fixture', () => {
  expect(SCHEMAS).toEqual(MIGRATIONS.map(({ number }) => number).filter((n) => n !== 3 && n < NEWEST_SCHEMA));
});

describe.each(SCHEMAS)('a database of schema %i', (schema) => {
  it('is read as it is, to the byte', async () => {
    await using old = await fixture(schema);
    const before = old.bytes();
    await old.use({ reads: true }, async (store) => {
      await expectWhole(store);
      await expectCode(store.createTask(newTask('Refused'), by({ ...old, store })), 'read_only');
    });
    expect(old.bytes()).toEqual(before);
    expect(old.notices).toEqual([]);
    expect(old.names().filter((name) => !/-(wal|shm)$/.test(name))).toEqual(['forge.db', 'tasks.jsonl']);
  });

  it('shows a reader what the replica holds and the database lacks, and is still as it was', async () => {
    await using old = await fixture(schema);
    appendFileSync(old.replica, `${JSON.stringify(line('fg-late', { title: 'Written before a crash' }))}\n`);
    const before = old.bytes();
    const shown = await old.use({ reads: true }, (store) => store.listTasks({}));
    expect(shown.map(({ title }) => title)).toContain('Written before a crash');
    expect(old.bytes()).toEqual(before);
  });

  it('is brought up to date by the first write, after a copy, and says so in one line', async () => {
    await using old = await fixture(schema);
    const shownToReader = await old.use({ reads: true }, (store) => everything({ ...old, store }));
    writeFileSync(join(old.folder, 'forge.db.schema-0'), 'a copy of an older upgrade');
    const { id, lines } = await old.use({}, async (store) => {
      const sut = { ...old, store };
      expect(await everything(sut)).toEqual(shownToReader);
      const task = await store.createTask(newTask('Written by this version'), by(sut));
      return { id: task.id, lines: await exportLines(store) };
    });
    expect(old.notices).toEqual([
      `The task database was brought from schema ${schema} to ${NEWEST_SCHEMA}; the one before is kept: ${old.database}.schema-${schema}`,
    ]);
    expect(old.names().filter((name) => name.includes('schema'))).toEqual([`forge.db.schema-${schema}`]);
    expect(holdsTasks(`forge.db.schema-${schema}`)).toBe(true);
    using copy = new DatabaseSync(`${old.database}.schema-${schema}`, { readOnly: true });
    expect(copy.prepare('PRAGMA user_version').get()).toEqual({ user_version: schema });
    expect(copy.prepare('SELECT count(*) AS n FROM tasks').get()).toEqual({ n: TITLES.length });
    expect(statSync(`${old.database}.schema-${schema}`).mode & 0o777).toBe(0o600);
    await old.removeDatabase();
    await using rebuilt = await old.open();
    expect(await exportLines(rebuilt)).toEqual(lines);
    expect(await rebuilt.getTask(id)).toMatchObject({ title: 'Written by this version' });
  });
});

describe('a migration', () => {
  it('is refused where the caller says so, and leaves everything as it was', async () => {
    await using old = await fixture(OLDEST_READ);
    const before = old.bytes();
    const mayUpgrade = async (from: number) => {
      throw new Error(`not from ${from}`);
    };
    await expect(old.open({ mayUpgrade })).rejects.toThrow(`not from ${OLDEST_READ}`);
    expect(old.bytes()).toEqual(before);
    await using store = await old.open({ mayUpgrade, reads: true });
    await expectWhole(store);
  });

  it('happens once when many open at the same moment, with one copy and one line', async () => {
    await using old = await fixture(4);
    const stores = await Promise.all(Array.from({ length: 6 }, () => old.open()));
    expect(old.notices).toHaveLength(1);
    for (const store of stores) await store[Symbol.asyncDispose]();
    expect(old.names().filter((name) => name.includes('schema'))).toEqual(['forge.db.schema-4']);
  });

  it.each([8, 9, 10, 11])(
    '[U6] that was killed after step %i is finished by the next write',
    async (last) => {
      await using old = await fixture(8);
      const steps = MIGRATIONS.filter(({ number }) => number > 8 && number <= last);
      for (const { number, name, sql } of steps)
        old.execute(`BEGIN; INSERT INTO migrations VALUES (${number}, '${name}', 't'); ${sql}
        PRAGMA user_version = ${number}; COMMIT`);
      writeFileSync(`${old.database}.schema-8.tmp`, 'half a copy');
      await old.use({ reads: true }, expectWhole);
      await old.use({}, expectWhole);
      expect(old.query('PRAGMA user_version')).toEqual([{ user_version: NEWEST_SCHEMA }]);
      expect(old.names().filter((name) => name.includes('schema'))).toEqual([`forge.db.schema-${last}`]);
    },
  );

  it('names the version that wrote and the floors of the format', async () => {
    await using old = await fixture(OLDEST_READ);
    await using _store = await old.open({ written_by: '9.8.7' });
    using db = new DatabaseSync(old.database, { readOnly: true });
    expect(db.prepare('SELECT * FROM format').all()).toEqual([
      { min_reader: 11, min_writer: 14, written_by: '9.8.7' },
    ]);
  });
});

describe('a database of a newer Forge', () => {
  const NEWER = NEWEST_SCHEMA + 3;
  const floors = (min_reader: number, min_writer: number) =>
    `ALTER TABLE tasks ADD COLUMN weight INTEGER NOT NULL DEFAULT 7;
     UPDATE format SET min_reader = ${min_reader}, min_writer = ${min_writer}; PRAGMA user_version = ${NEWER}`;

  it('is read and written where its floors let this one', async () => {
    await using old = await fixture(OLDEST_READ);
    await old.use({}, async () => undefined);
    old.execute(floors(NEWEST_SCHEMA, NEWEST_SCHEMA));
    await using store = await old.open();
    await expectWhole(store);
    const { id } = await store.createTask(newTask('By an older program'), by({ ...old, store }));
    expect(old.query(`SELECT weight FROM tasks WHERE id = '${id}'`)).toEqual([{ weight: 7 }]);
    expect(old.query('PRAGMA user_version')).toEqual([{ user_version: NEWER }]);
  });

  it('is only read where its floors let this one, also with a task more in the replica', async () => {
    await using old = await fixture(OLDEST_READ);
    await old.use({}, async () => undefined);
    old.execute(floors(NEWEST_SCHEMA, NEWER));
    const error = await expectCode(old.open(), 'schema_newer');
    expect(error.hint).toContain('forge doctor --rebuild');
    expect(error.details).toMatchObject({ found: NEWER, known: NEWEST_SCHEMA, min_writer: NEWER });
    appendFileSync(old.replica, `${JSON.stringify(line('fg-late'))}\n`);
    const before = old.bytes();
    await old.use({ reads: true }, async (store) => {
      await expectWhole(store);
      const states = [{ name: 'todo', kind: 'backlog' as const }];
      const by = { actor: systemActor('test'), now: 1 };
      const { workflow } = await store.setWorkflow({ definition: { states }, digest: 'a' }, by);
      expect([...workflow.parked_states]).toEqual(['todo']);
    });
    expect(old.bytes()).toEqual(before);
    using reader = openTaskReader(locationOf(old.database));
    expect(reader.countTasks()).toMatchObject({ closed: 1 });
  });

  it('is refused below its floor, for reading too', async () => {
    await using old = await fixture(OLDEST_READ);
    await old.use({}, async () => undefined);
    old.execute(floors(NEWER, NEWER));
    await expectCode(old.open(), 'schema_newer');
    await expectCode(old.open({ reads: true }), 'schema_newer');
    expect(() => openTaskReader(locationOf(old.database))).toThrow('knows schemas up to');
  });

  it.each(['block', 'await'] as const)(
    'shuts a store that is open out of writing with the next write: %s',
    async (lock) => {
      await using old = await fixture(OLDEST_READ);
      await using store = await old.open({ lock });
      const sut = { ...old, store };
      await store.createTask(newTask('Before'), by(sut));
      old.execute(floors(NEWEST_SCHEMA, NEWEST_SCHEMA));
      await store.createTask(newTask('Still allowed'), by(sut));
      old.execute(`UPDATE format SET min_writer = ${NEWER + 1}; PRAGMA user_version = ${NEWER + 1}`);
      const size = statSync(old.replica).size;
      await expectCode(store.createTask(newTask('Refused'), by(sut)), 'schema_newer');
      await expectCode(store.addComment({ id: 'fg-none', body: 'x' } as never, by(sut)), 'schema_newer');
      await expectCode(store.markForeign(new Map([['ab-1234', true]])), 'schema_newer');
      expect(statSync(old.replica).size).toBe(size);
      await store.readFormat();
      expect((await store.listTasks({})).map(({ title }) => title)).toContain('Still allowed');
      old.execute(`UPDATE format SET min_reader = ${NEWER + 1}`);
      await expectCode(store.readFormat(), 'schema_newer');
    },
  );
});

interface Fixture extends AsyncDisposable {
  readonly folder: string;
  readonly database: string;
  readonly replica: string;
  readonly clock: TestClock;
  readonly notices: string[];
  open(more?: Partial<SqliteStoreOptions>): Promise<SqliteStore>;
  use<T>(more: Partial<SqliteStoreOptions>, work: (store: SqliteStore) => Promise<T>): Promise<T>;
  /** Of database and replica; what lies in the log belongs to the database. */
  bytes(): Record<string, string>;
  names(): string[];
  execute(sql: string): void;
  query(sql: string): unknown[];
  removeDatabase(): Promise<void>;
  reopen(): Promise<void>;
  bring(): Promise<void>;
}

async function fixture(schema: number): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-format-'));
  const database = join(folder, 'forge.db');
  const replica = join(folder, 'tasks.jsonl');
  writeFileSync(replica, readFileSync(join(FORMATS, String(schema), 'tasks.jsonl')));
  const connect = () => new DatabaseSync(database, { enableForeignKeyConstraints: false });
  const execute = (sql: string): void => {
    using db = connect();
    db.exec(sql);
  };
  execute(`PRAGMA journal_mode = WAL; ${readFileSync(join(FORMATS, String(schema), 'forge.sql'), 'utf8')}`);
  execute(`UPDATE store_facts SET value = ${statSync(replica).ino} WHERE name = 'replica_inode'`);
  const clock = new TestClock();
  clock.advance(400 * 86_400_000);
  const notices: string[] = [];
  const options = { database, replica, clock, hold: HOLD, lock_timeout_ms: 10_000 };
  const unused = async () => {
    throw new Error('not used here');
  };
  const open = (more: Partial<SqliteStoreOptions> = {}) =>
    openSqliteStore({ ...options, notice: (text) => void notices.push(text), ...more });
  return {
    folder,
    database,
    replica,
    clock,
    notices,
    open,
    async use(more, work) {
      await using store = await open(more);
      return await work(store);
    },
    bytes: () =>
      Object.fromEntries(
        [database, replica].map((path) => [
          path,
          createHash('sha256').update(readFileSync(path)).digest('hex'),
        ]),
      ),
    names: () => readdirSync(folder).toSorted(),
    execute,
    query(sql) {
      using db = connect();
      return db.prepare(sql).all();
    },
    async removeDatabase() {
      for (const suffix of ['', '-wal', '-shm']) await rm(`${database}${suffix}`, { force: true });
    },
    reopen: unused,
    bring: unused,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** What every fixture holds, through the queries of the commands that read. */
async function expectWhole(store: SqliteStore): Promise<void> {
  const tasks = await store.listTasks({});
  expect(tasks.map(({ title }) => title).toSorted()).toEqual(TITLES);
  const ready = await store.listReady({});
  expect(ready.map(({ title }) => title).toSorted()).toEqual(['An epic', 'First: with labels']);
  expect(await store.listBlocked({ limit: 9 })).toHaveLength(1);
  const first = tasks.find(({ title }) => title.startsWith('First'));
  const shown = await store.getTask(first?.id ?? '');
  expect(shown).toMatchObject({ labels: ['blue', 'red'], priority: 1, description: 'Text of the first' });
  const { comments } = shown as unknown as { comments: { body: string }[] };
  expect(comments).toMatchObject([{ body: 'A remark' }]);
  expect(
    await store.readHistory({
      id: tasks.find(({ title }) => title.startsWith('Fourth'))?.id ?? '',
      limit: 9,
    }),
  ).not.toEqual([]);
  expect(await store.listConflicts(undefined)).toEqual([]);
  expect(await store.listOpenWork()).toEqual([]);
  expect(await store.listRuns({})).toEqual([]);
  expect(await store.readPause()).toBeNull();
  expect(await store.listForeign()).toEqual([]);
}

async function exportLines(store: SqliteStore): Promise<(string | Uint8Array)[]> {
  const lines: (string | Uint8Array)[] = [];
  for await (const part of store.exportTasks('/nowhere')) lines.push(...part.lines);
  // Lines of deleted tasks get the digests of schema 11 when they are next written, not before.
  return lines.map((text) => String(text).replace(/("deleted_at":"[^"]*").*/, '$1'));
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { Task } from '#contract/task.ts';
import { FORGE, type ForgeCli, type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { watchLock } from '../support/met-lock.ts';
import { bringTasks, expectRefused, takeSnapshot } from '../support/store-snapshot.ts';

const READS = [
  ['ready'],
  ['ready', '--explain'],
  ['blocked'],
  ['stats'],
  ['search'],
  ['graph'],
  ['task', 'list'],
  ['task', 'show', 'fg-aaaa'],
  ['task', 'history', 'fg-aaaa'],
  ['dep', 'tree', 'fg-bbbb'],
];
const WRITES = [
  ['task', 'create', 'x'],
  ['task', 'update', 'fg-aaaa', '--priority', '1'],
  ['task', 'close', 'fg-aaaa', '--reason', 'x'],
  ['task', 'comment', 'fg-aaaa', 'x'],
  ['task', 'delete', 'fg-aaaa'],
  ['claim', 'fg-aaaa'],
  ['claim', '--next'],
  ['dep', 'add', 'fg-aaaa', 'fg-cccc'],
];

describe('another process holds the write lock', () => {
  test('writes give up in time and say so, reads go on', async () => {
    await using project = await projectOfThree();
    using holder = holdWriteLock(project);
    const hurried = { ...project, ...project.with({ env: { FORGE_LOCK_TIMEOUT_MS: '200' } }) };
    await expectRefused(
      hurried,
      WRITES.map((args) => ({
        args,
        code: 'store_busy',
        says: /Another process is writing .*forge\.db$/,
        hint: 'FORGE_LOCK_TIMEOUT_MS',
        details: { path: databaseOf(project) },
      })),
    );
    for (const args of READS)
      expect.soft(await hurried.run(...args), args.join(' ')).toMatchObject({ exit: 0, stderr: '' });
    holder.release();
    expect((await hurried.create('now it works')).title).toBe('now it works');
  });

  test('a patient write waits until the lock is free', async () => {
    await using project = await projectOfThree();
    using holder = holdWriteLock(project);
    const { env, met } = watchLock(project);
    const waiting = project.program.with({ env }).create('patient');
    await met();
    holder.release();
    expect((await waiting).title).toBe('patient');
  });

  test('SIGINT ends the wait with 130 and changes nothing', async () => {
    await using project = await projectOfThree();
    using holder = holdWriteLock(project);
    const before = takeSnapshot(project.path);
    const { env, met } = watchLock(project);
    const child = spawn(process.execPath, [FORGE, 'task', 'create', 'never'], {
      cwd: project.path,
      env: { ...project.env, ...env },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>;
    await met();
    child.kill('SIGINT');
    const [code, signal] = await ended;
    // A shell shows both as 130.
    expect(signal ?? code).toEqual(signal === null ? 130 : 'SIGINT');
    holder.release();
    expect(takeSnapshot(project.path)).toEqual(before);
    expect((await project.create('after it')).title).toBe('after it');
  });
});

describe('a database that is no good', () => {
  const DAMAGE: Readonly<Record<string, (path: string) => void>> = {
    'random bytes': (path) =>
      writeFileSync(path, Buffer.from(Array.from({ length: 40_000 }, (_, n) => (n * 7919) % 251))),
    'a text file': (path) => writeFileSync(path, 'This was a database once.\n'.repeat(100)),
    'half of it': (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2)),
    'its first hundred bytes': (path) => truncateSync(path, 100),
    'zeroed pages': (path) => overwrite(path, 4_096, Buffer.alloc(60_000)),
  };

  test.for(Object.keys(DAMAGE))('[F18] %s: made anew in full by the next command, and kept', async (name) => {
    await using project = await projectOfThree();
    const path = databaseOf(project);
    const content = await readContent(project);
    DAMAGE[name]?.(path);
    const damaged = readFileSync(path);
    const replica = readFileSync(replicaOf(project));

    const { stdout, stderr, exit } = await project.run('task', 'list', '--all', '--sort', 'id', '--json');
    expect(exit).toBe(0);
    const told = /^forge: The task database was damaged; it is made anew, and the old one is kept: (.*)\n$/;
    const [, aside = ''] = told.exec(stderr) ?? [stderr];
    expect(aside.startsWith(`${path}.damaged-`)).toBe(true);
    expect(readFileSync(aside).equals(damaged)).toBe(true);
    expect((JSON.parse(stdout) as Task[]).map((task) => ({ ...task, version: 0 }))).toEqual(content[0]);

    // It is said once, and nothing else has changed.
    expect(await readContent(project)).toEqual(content);
    expect(readFileSync(replicaOf(project)).equals(replica)).toBe(true);
    expect((await project.create('and on it goes')).title).toBe('and on it goes');
  });

  test('[F18] damaged: a write as the first command is done once', async () => {
    await using project = await projectOfThree();
    DAMAGE['zeroed pages']?.(databaseOf(project));
    const { stdout, stderr, exit } = await project.run('task', 'create', 'once', '--json');
    expect({ exit, lines: stderr.split('\n').length }).toEqual({ exit: 0, lines: 2 });
    const { id } = JSON.parse(stdout) as Task;
    const found = await project.json<Task[]>('search', '--query', 'once');
    expect(found.map((task) => task.id)).toEqual([id]);
  });

  test.for(['missing', 'empty'])(
    '%s: rebuilt by the next command, a read as well as a write, which says so in one line',
    async (how) => {
      const lose = ({ path }: ForgeProject): void => {
        const database = databaseOf({ path });
        if (how === 'missing') rmSync(database);
        else writeFileSync(database, '');
      };
      const told = 'forge: The task database was made anew from the local replica: 3 tasks\n';
      await using project = await projectOfThree();
      const content = await readContent(project);
      lose(project);
      expect(await project.run('ready')).toMatchObject({ exit: 0, stderr: told });
      expect(await readContent(project)).toEqual(content);
      lose(project);
      const write = await project.run('task', 'comment', 'fg-cccc', 'A write comes first this time');
      expect(write).toMatchObject({ exit: 0, stderr: told });
      const [, shown] = await readContent(project);
      expect(shown).toEqual(content[1]);
      expect((await project.show('fg-cccc')).comments).toHaveLength(1);
    },
  );

  test('an older copy of it catches up from the local replica', async () => {
    await using project = await projectOfThree();
    const path = databaseOf(project);
    cpSync(path, `${path}.old`);
    await project.json('task', 'update', 'fg-cccc', '--title', 'Written after the copy');
    await project.create('Made after the copy');
    const content = await readContent(project);
    renameSync(`${path}.old`, path);
    expect(await readContent(project)).toEqual(content);
  });

  test('a folder in its place is told; what was there before comes back with it', async () => {
    await using project = await projectOfThree();
    const path = databaseOf(project);
    const content = await readContent(project);
    renameSync(path, `${path}.away`);
    mkdirSync(path);
    for (const args of [['ready'], ['task', 'create', 'x']]) {
      const { error } = await project.fails(...args);
      expect.soft(error).toMatchObject({
        code: 'io_failed',
        message: expect.stringContaining(path),
        hint: expect.any(String),
      });
    }
    rmSync(path, { recursive: true });
    renameSync(`${path}.away`, path);
    expect(await readContent(project)).toEqual(content);
  });

  test('the link in .forge may dangle, lead elsewhere or be gone: Forge does not need it', async () => {
    await using project = await projectOfThree();
    const link = join(project.path, '.forge', 'forge.db');
    const content = await readContent(project);
    for (const target of ['nowhere/at/all.db', '/etc/passwd', undefined]) {
      rmSync(link, { force: true });
      if (target !== undefined) symlinkSync(target, link);
      expect(await readContent(project)).toEqual(content);
      await project.text('task', 'update', 'fg-aaaa', '--priority', '2');
    }
  });

  test('a newer schema is left alone', async () => {
    await using project = await projectOfThree();
    using db = project.openDatabase();
    db.exec('PRAGMA user_version = 99; UPDATE format SET min_reader = 99, min_writer = 99');
    db.close();
    await expectRefused(
      project,
      [['ready'], ['task', 'show', 'fg-aaaa'], ['task', 'create', 'x']].map((args) => ({
        args,
        code: 'schema_newer',
        says: /schema 99; this Forge knows schemas up to \d+: .*forge\.db$/,
        hint: 'Update Forge',
        details: { found: 99 },
      })),
    );
  });
});

describe('a local replica that is no good', () => {
  test('missing or cut: reads go on, the next write makes it anew', async () => {
    for (const damage of [(path: string) => rmSync(path), (path: string) => truncateSync(path, 10)]) {
      await using project = await projectOfThree();
      const path = replicaOf(project);
      const content = await readContent(project);
      damage(path);
      expect(await readContent(project)).toEqual(content);
      await project.json('task', 'update', 'fg-cccc', '--title', 'Written after the damage');
      const wanted = await readContent(project);
      rmSync(databaseOf(project));
      expect((await project.run('ready')).exit).toBe(0);
      expect(await readContent(project)).toEqual(wanted);
    }
  });

  test('a torn last line was never acknowledged and goes with the next write', async () => {
    await using project = await projectOfThree();
    const path = replicaOf(project);
    const whole = readFileSync(path, 'utf8');
    writeFileSync(path, `${whole}{"id":"fg-torn","title":"Never sa`);
    const { id } = await project.create('after the tear');
    const lines = readFileSync(path, 'utf8').split('\n');
    expect(lines.at(-1)).toBe('');
    for (const line of lines.slice(0, -1)) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(lines.at(-2)).toContain(id);
  });

  test('lines that are no tasks are kept and cost nothing else', async () => {
    await using project = await projectOfThree();
    const path = replicaOf(project);
    const rubbish = [
      'not json',
      '[]',
      '{"id":5}',
      '{"id":"fg-half"}',
      '\u0000',
      '{"id":"fg-deep","metadata":' + '['.repeat(50_000),
    ];
    writeFileSync(path, `${rubbish.join('\n')}\n`, { flag: 'a' });
    bringTasks(project.path, [{ id: 'fg-good' }]);
    expect((await project.show('fg-good')).id).toBe('fg-good');
    expect((await project.json<Task[]>('task', 'list')).map(({ id }) => id).toSorted()).toEqual([
      'fg-aaaa',
      'fg-bbbb',
      'fg-cccc',
      'fg-good',
    ]);
    expect(readFileSync(path, 'utf8')).toContain(rubbish.slice(0, 4).join('\n'));
  });

  test('a folder in its place: reads go on, writes say what is wrong', async () => {
    await using project = await projectOfThree();
    const path = replicaOf(project);
    const whole = readFileSync(path);
    rmSync(path);
    mkdirSync(path);
    expect.soft(await project.run('ready')).toMatchObject({ exit: 0 });
    const { error } = await project.fails('task', 'create', 'x');
    expect.soft(error).toMatchObject({ code: 'io_failed', message: expect.stringContaining(path) });
    rmSync(path, { recursive: true });
    writeFileSync(path, whole);
    expect((await project.json<Task[]>('task', 'list')).length).toBe(3);
    expect(existsSync(path)).toBe(true);
  });
});

/** `fg-bbbb` waits for `fg-aaaa`; a comment, a label and metadata, so that a loss would show. */
async function projectOfThree(): Promise<ForgeProject & { readonly program: ForgeCli }> {
  const project = await forgeProjectHere();
  const more = {
    labels: ['kept'],
    metadata: { deep: { as: [1, 'two'] } },
    description: 'Line one\nLine two',
  };
  bringTasks(project.path, [
    { id: 'fg-aaaa', ...more },
    { id: 'fg-bbbb', dependencies: [{ id: 'fg-aaaa', type: 'blocks' }] },
    { id: 'fg-cccc', parent_id: 'fg-bbbb' },
  ]);
  await project.json('task', 'comment', 'fg-aaaa', 'Do not lose me');
  return project;
}

/** What people would miss; versions and fences begin anew in a database that was rebuilt. */
async function readContent(cli: ForgeCli): Promise<[unknown, unknown]> {
  const tasks = await cli.json<Task[]>('task', 'list', '--all', '--sort', 'id');
  const shown = await cli.show('fg-aaaa');
  return [tasks.map((task) => ({ ...task, version: 0 })), { ...shown, version: 0 }];
}

/** A SQLite client that began a write and does not come to its end. */
function holdWriteLock(project: ForgeProject): Disposable & { release(): void } {
  const db = new DatabaseSync(databaseOf(project));
  db.exec('BEGIN IMMEDIATE');
  const release = (): void => {
    if (!db.isOpen) return;
    db.exec('ROLLBACK');
    db.close();
  };
  return { release, [Symbol.dispose]: release };
}

function databaseOf({ path }: { readonly path: string }): string {
  return join(path, '.git', 'forge', 'forge.db');
}

function replicaOf({ path }: { readonly path: string }): string {
  return join(path, '.git', 'forge', 'tasks.jsonl');
}

function overwrite(path: string, offset: number, bytes: Buffer): void {
  const whole = readFileSync(path);
  bytes.copy(whole, offset);
  writeFileSync(path, whole);
}

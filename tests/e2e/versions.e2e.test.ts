import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import type { OutputOf } from '#contract/declare.ts';
import type { examineProject } from '#contract/sync-operations.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { startForgeServer } from '../support/forge-server.ts';

type Examined = OutputOf<typeof examineProject>;

/** Fixtures are of all schemas but the newest. */
const NEWEST_SCHEMA =
  Math.max(...readdirSync(join(import.meta.dirname, '../fixtures/formats')).map(Number)) + 1;
const NEWER = NEWEST_SCHEMA + 1;
const FORMATS = join(import.meta.dirname, '../fixtures/formats');

describe('[U1] [U2] an older database under this program', () => {
  it('is read by commands without a byte changed, and migrated by the first that writes', async () => {
    await using project = await forgeProjectHere();
    placeFixture(project, 8);
    await project.write(
      'more.jsonl',
      '{"id":"fg-zzzz","title":"More","status":"open","created_at":"2026-01-01T00:00:00.000Z","created_by":"ann"}\n',
    );
    const before = digest(project);
    for (const argv of [
      ['ready'],
      ['import', '--dry-run'],
      ['import', 'more.jsonl', '--dry-run'],
      ['task', 'list'],
      ['stats'],
      ['blocked'],
      ['doctor'],
      ['prime'],
      ['events', '--limit', '3'],
    ]) {
      const { exit, stderr } = await project.run(...argv);
      expect({ argv, exit, stderr: stderr.replaceAll(/^forge: .*hooks.*\n/gm, '') }).toEqual({
        argv,
        exit: 0,
        stderr: '',
      });
    }
    expect(digest(project)).toBe(before);
    const { stderr } = await project.run('task', 'create', 'Now');
    expect(stderr).toMatch(
      /^forge: The task database was brought from schema 8 to \d+; the one before is kept: .*schema-8$/m,
    );
    expect((await project.run('task', 'create', 'Again')).stderr).toBe('');
  });

  it('shows a reader the task file that is newer than it, and leaves it to a writer to keep that', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('In the file');
    await project.json('export');
    placeFixture(project, 8);
    const before = digest(project);
    const { stdout } = await project.run('task', 'show', id, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ title: 'In the file' });
    expect(digest(project)).toBe(before);
    await project.run('task', 'create', 'A write');
    expect(await project.json('task', 'show', id)).toMatchObject({ title: 'In the file' });
  });

  it('stays as it is while a server that knows no newer schema works on it, unless that is forced', async () => {
    await using project = await forgeProjectHere();
    placeFixture(project, 11);
    const server = {
      ...readOwnIdentity(),
      url: 'http://127.0.0.1:9',
      projects: [project.path],
      version: '0.0.9',
      started_at: null,
    };
    const home = String(project.env['FORGE_HOME']);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'servers.json'), JSON.stringify({ servers: [server] }));
    const before = digest(project);
    const { exit, stdout } = await project.run('task', 'create', 'Refused', '--json');
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
    expect({ exit, code: error.code }).toEqual({ exit: 5, code: 'state_invalid' });
    expect(error.message).toContain(`Forge 0.0.9 at http://127.0.0.1:9 (process ${process.pid})`);
    expect((await project.run('ready')).exit).toBe(0);
    expect(digest(project)).toBe(before);
    expect(error.hint).toContain('forge doctor --fix --force');
    const forced = await project.run('doctor', '--fix', '--force');
    expect(forced.stderr).toContain(`was brought from schema 11 to ${NEWEST_SCHEMA}`);
    expect((await project.run('task', 'create', 'Now')).exit).toBe(0);
  });
});

describe('[U3] a database of a newer program', () => {
  it('shuts a running server out with its next request, which says why; reading goes on while it may', async () => {
    await using project = await forgeProject();
    await project.create('One');
    await using server = await startForgeServer(project);
    expect((await server.ask('/api/v1/tasks', { body: { title: 'Two' } })).status).toBe(201);
    raise(project, { min_reader: 11, min_writer: NEWER });
    const refused = await server.ask('/api/v1/tasks', { body: { title: 'Never' } });
    expect(refused).toMatchObject({ status: 409, body: { code: 'schema_newer' } });
    const { hint } = refused.body as { hint: string };
    expect(hint).toContain('start it anew');
    expect((await server.ask('/api/v1/tasks')).status).toBe(200);
    raise(project, { min_reader: NEWER, min_writer: NEWER });
    expect(await server.ask('/api/v1/tasks')).toMatchObject({ status: 409, body: { code: 'schema_newer' } });
    using db = project.openDatabase();
    expect(db.prepare('SELECT title FROM tasks ORDER BY title').all()).toEqual([
      { title: 'One' },
      { title: 'Two' },
    ]);
  });

  it('[U4] is set aside by doctor --rebuild alone, which tells how to go back; doctor and --version always run', async () => {
    await using project = await forgeProject();
    const { id } = await project.create('One', '--label', 'red');
    await project.json('export');
    const exported = await project.read('.forge/tasks.jsonl');
    raise(project, { min_reader: NEWER, min_writer: NEWER });
    expect((await project.run('ready')).exit).toBe(5);
    expect((await project.run('--version')).exit).toBe(0);
    for (const argv of [['doctor'], ['doctor', '--fix']]) {
      const { exit, stdout } = await project.run(...argv, '--json');
      const { healthy, findings } = JSON.parse(stdout) as Examined;
      expect([exit, healthy]).toEqual([1, false]);
      expect(findings[0]).toMatchObject({ name: 'database', state: 'failed' });
      expect(findings[0]?.hint).toContain('forge doctor --rebuild');
    }
    const { stderr } = await project.run('doctor', '--rebuild');
    const [, back = ''] = /To put it back, stop every forge, then in \S+: (.*)$/m.exec(stderr) ?? [];
    expect(back).toMatch(/^rm -f forge\.db-wal forge\.db-shm; mv forge\.db\.replaced-\S+ forge\.db$/);
    expect(await project.json('task', 'show', id)).toMatchObject({ title: 'One', labels: ['red'] });
    await project.json('export');
    expect(await project.read('.forge/tasks.jsonl')).toBe(exported);
    const store = join(project.path, '.git/forge');
    for (const name of ['forge.db-wal', 'forge.db-shm']) rmSync(join(store, name), { force: true });
    renameSync(join(store, back.split(' ').at(-2) ?? ''), join(store, 'forge.db'));
    expect((await project.run('ready')).exit).toBe(5);
  });

  it('is read by a command where its floors let it', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('One');
    raise(project, { min_reader: NEWEST_SCHEMA, min_writer: NEWER });
    expect(await project.json('task', 'show', id)).toMatchObject({ title: 'One' });
    const { exit, stdout } = await project.run('task', 'close', id, '--reason', 'x', '--json');
    expect({ exit, answer: JSON.parse(stdout) as unknown }).toMatchObject({
      exit: 5,
      answer: { error: { code: 'schema_newer' } },
    });
    raise(project, { min_reader: NEWEST_SCHEMA, min_writer: NEWEST_SCHEMA });
    expect((await project.run('task', 'close', id, '--reason', 'x')).exit).toBe(0);
  });
});

/** What a newer program would leave: a number, floors and a column more. */
function raise(project: ForgeProject, floors: { min_reader: number; min_writer: number }): void {
  using db = project.openDatabase();
  const { n } = db
    .prepare("SELECT count(*) AS n FROM pragma_table_info('tasks') WHERE name = 'weight'")
    .get() as { n: number };
  if (n === 0) db.exec('ALTER TABLE tasks ADD COLUMN weight INTEGER');
  db.exec(
    `UPDATE format SET min_reader = ${floors.min_reader}, min_writer = ${floors.min_writer}; PRAGMA user_version = ${NEWER}`,
  );
}

/** Puts what an older program made in the place of the project's own store. */
function placeFixture(project: ForgeProject, schema: number): void {
  const store = join(project.path, '.git/forge');
  for (const name of readdirSync(store).filter((one) => /^(forge\.db|tasks\.jsonl)/.test(one)))
    rmSync(join(store, name));
  const replica = join(store, 'tasks.jsonl');
  writeFileSync(replica, readFileSync(join(FORMATS, String(schema), 'tasks.jsonl')));
  using db = new DatabaseSync(join(store, 'forge.db'), { enableForeignKeyConstraints: false });
  db.exec(`PRAGMA journal_mode = WAL; ${readFileSync(join(FORMATS, String(schema), 'forge.sql'), 'utf8')}`);
  db.exec(`UPDATE store_facts SET value = ${statSync(replica).ino} WHERE name = 'replica_inode'`);
}

function digest(project: ForgeProject): string {
  const hash = createHash('sha256');
  for (const name of ['forge.db', 'tasks.jsonl'])
    hash.update(readFileSync(join(project.path, '.git/forge', name)));
  return hash.digest('hex');
}

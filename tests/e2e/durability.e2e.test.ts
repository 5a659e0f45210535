import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';

describe('kill -9', () => {
  it('[S3] takes no write that was acknowledged, wherever it hits, and the next command works', async () => {
    await using project = await forgeProject();
    // Two at a time, so that one is killed inside a transaction while the other waits for the lock.
    const script = `
      for who in a b; do
        (for i in $(seq 100); do forge task create "$who $i" --label "$who" --json --fields id; done) &
      done
      wait`;
    const acknowledged: string[] = [];
    for (const delay of [400, 530, 710]) {
      const printed = await killAfter(project, script, delay);
      acknowledged.push(...ids(printed));
    }
    // Each was killed after its first word.
    expect(acknowledged.length).toBeGreaterThanOrEqual(3);
    const stored = await project.json<Task[]>('search');
    const known = new Set(stored.map(({ id }) => id));
    expect(acknowledged.filter((id) => !known.has(id))).toEqual([]);
    expect((await project.create('after')).version).toBe(1);

    // A lost database loses nothing either.
    await removeDatabase(project);
    const told = `forge: The task database was made anew from the local replica: ${stored.length + 1} tasks\n`;
    expect(await project.run('ready')).toMatchObject({ exit: 0, stderr: told });
    const rebuilt = await project.json<Task[]>('search');
    const withoutVersion = (tasks: Task[]): unknown[] =>
      tasks.filter(({ title }) => title !== 'after').map((task) => ({ ...task, version: 0 }));
    expect(withoutVersion(rebuilt)).toEqual(withoutVersion(stored));
  });

  it.each([350, 470])(
    '[S130] during an update leaves the old row or the new one, never a mixture (%i ms)',
    async (delay) => {
      await using project = await forgeProject();
      const { id } = await project.create('n 0', '--meta-set', 'n=0', '--label', 'n0', '--description', '0');
      const script = `
      for i in $(seq 1 200); do
        if [ $((i % 2)) = 1 ]; then life="in_progress --assignee w"; else life="open --assignee none"; fi
        forge task update ${id} --title "n $i" --description "$i" --meta-set n=$i \\
          --label-add "n$i" --label-remove "n$((i-1))" --status $life --json --fields title || exit 1
      done`;
      const printed = await killAfter(project, script, delay);
      const task = await project.show(id);
      const n = Number(task.title.slice(2));
      expect(task).toMatchObject({
        metadata: { n },
        labels: [`n${n}`],
        description: String(n),
        status: n % 2 === 1 ? 'in_progress' : 'open',
        assignee: n % 2 === 1 ? 'w' : null,
        version: n + 1,
      });
      const acknowledged = printed.split('\n').length - 1;
      expect(acknowledged).toBeGreaterThan(0);
      expect([acknowledged, acknowledged + 1]).toContain(n);
    },
  );
});

describe('several processes', () => {
  it('[S128] a writer waits for the lock; readers do not', async () => {
    await using project = await forgeProject();
    const { id } = await project.create('there');
    using db = project.openDatabase();
    db.exec('BEGIN IMMEDIATE');
    let written = false;
    const writing = project.create('waited').then((task) => {
      written = true;
      return task;
    });
    expect((await project.show(id)).title).toBe('there');
    const impatient = await project
      .with({ env: { FORGE_LOCK_TIMEOUT_MS: '100' } })
      .fails('task', 'close', id, '--reason', 'x');
    expect(impatient).toMatchObject({ exit: 1, error: { code: 'store_busy' } });
    expect(impatient.error.hint).toBe('Run the command again, or set FORGE_LOCK_TIMEOUT_MS higher');
    await sleep(3_000);
    expect(written).toBe(false);
    db.exec('COMMIT');
    await writing;
    expect((await project.json<Task[]>('ready')).map(({ title }) => title)).toEqual(['there', 'waited']);
    const wrong = await project.with({ env: { FORGE_LOCK_TIMEOUT_MS: '5s' } }).fails('ready');
    expect(wrong).toMatchObject({ exit: 2, error: { code: 'invalid_input' } });
  });

  it('[S40][S210] twenty that start at once on no database make one schema, and lose nothing', async () => {
    await using project = await forgeProject();
    await removeDatabase(project);
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        at % 2 === 0 ? project.run('ready', '--json') : project.run('task', 'create', `t${at}`, '--json'),
      ),
    );
    expect(results.filter(({ exit }) => exit !== 0)).toEqual([]);
    expect(await project.json<Task[]>('ready')).toHaveLength(10);
    using db = project.openDatabase();
    const rows = db.prepare('SELECT number, name, applied_at FROM migrations ORDER BY number').all();
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, at) => at + 1));
    for (const { name, applied_at } of rows) {
      expect(name).toMatch(/^[a-z_]+$/);
      expect(applied_at).toMatch(/^\d{4}-\d\d-\d\dT/);
    }
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: rows.length });
  });

  it('[S40] a second run finds the schema and changes nothing', async () => {
    await using project = await forgeProject();
    using db = project.openDatabase();
    const schema = (): unknown[] =>
      db.prepare('SELECT type, name, sql FROM sqlite_master ORDER BY name').all();
    const before = schema();
    await Promise.all([project.json('ready'), project.create('x')]);
    await project.json('stats');
    expect(schema()).toEqual(before);
  });

  it('updates of different fields by many writers are all kept', async () => {
    await using project = await forgeProject();
    const { id } = await project.create('shared');
    await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        project.json('task', 'update', id, '--meta-set', `k${at}=${at}`, '--label-add', `l${at}`),
      ),
    );
    const { metadata, labels, version } = await project.show(id);
    expect(Object.keys(metadata)).toHaveLength(12);
    expect(labels).toHaveLength(12);
    expect(version).toBe(13);
  });
});

/** Starts a shell script, kills it and every child of it without warning, and gives what it had printed. */
async function killAfter(project: ForgeProject, script: string, delay: number): Promise<string> {
  const child = spawn('bash', ['-c', script], {
    cwd: project.path,
    env: project.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  let complaints = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const closed = once(child, 'close');
  // From the first word on, so that a busy machine does not kill before anything has begun.
  await Promise.race([once(child.stdout, 'data'), closed]);
  await sleep(delay);
  if (child.exitCode === null) process.kill(-(child.pid ?? 0), 'SIGKILL');
  await closed;
  expect(complaints).toBe('');
  // A line that was cut by the kill was not acknowledged.
  return printed.slice(0, printed.lastIndexOf('\n') + 1);
}

function ids(printed: string): string[] {
  return printed
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { id: string }).id);
}

async function removeDatabase(project: ForgeProject): Promise<void> {
  await Promise.all(
    ['forge.db', 'forge.db-wal', 'forge.db-shm'].map((name) =>
      rm(join(project.path, '.git/forge', name), { force: true }),
    ),
  );
}

import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { DAMAGES } from '../support/damage-database.ts';
import type { ForgeCli, ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { seededRandom } from '../support/random.ts';
import { bringTasks } from '../support/store-snapshot.ts';

const DAMAGED = /^forge: The task database was damaged; it is made anew, and the old one is kept: (.*)\n$/;
const ANEW = /^forge: The task database was made anew from the local replica: 60 tasks\n$/;

describe('a database that was hurt', () => {
  it('[F18] in thirty random ways: the next command answers right, tells it in one line, and keeps the old file', async () => {
    await using project = await projectOfSixty();
    const store = storeOf(project);
    const database = join(store, 'forge.db');
    const wanted = await listAll(project);
    const sound = readFileSync(database);
    const told: string[] = [];
    for (let seed = 0; seed < 30; seed += 1) {
      for (const name of readdirSync(store)) if (name.startsWith('forge.db')) rmSync(join(store, name));
      writeFileSync(database, sound);
      const random = seededRandom(seed);
      const what = `seed ${seed}: ${DAMAGES[seed % DAMAGES.length]?.(database, random)}`;
      const damaged = existsSync(database) ? readFileSync(database) : undefined;
      const { stdout, stderr, exit } = await project.run(...LIST);
      expect({ what, exit, stdout }).toEqual({ what, exit: 0, stdout: wanted });
      const [, aside] = DAMAGED.exec(stderr) ?? [];
      expect.soft(aside !== undefined || ANEW.test(stderr) || stderr === '', `${what}: ${stderr}`).toBe(true);
      if (stderr !== '') told.push(what);
      const old = aside === undefined ? undefined : readFileSync(aside);
      expect.soft(old === undefined || damaged?.equals(old), what).toBe(true);
      expect.soft(readdirSync(store).filter((name) => name.endsWith('.healing'))).toEqual([]);
      // It is said once.
      expect(await project.run(...LIST)).toEqual({ exit: 0, stdout: wanted, stderr: '' });
    }
    // The rest hit pages that no list reads.
    expect(told.length, 'much of it shows').toBeGreaterThan(8);
  });

  it('by several commands at once: all answer right, and one of them sets it aside', async () => {
    await using project = await projectOfSixty();
    const wanted = await listAll(project);
    const database = join(storeOf(project), 'forge.db');
    for (const page of [0, 3]) {
      // Two that end in the same moment leave it to the next to move SQLite's log into the file.
      moveLog(project);
      const bytes = readFileSync(database);
      bytes.fill(0, page * 4096, (page + 8) * 4096);
      writeFileSync(database, bytes);
      const before = asideIn(project).length;
      const answers = await Promise.all(Array.from({ length: 5 }, () => project.program.run(...LIST)));
      for (const { exit, stdout } of answers) expect({ exit, stdout }).toEqual({ exit: 0, stdout: wanted });
      expect(answers.filter(({ stderr }) => DAMAGED.test(stderr))).toHaveLength(1);
      expect(asideIn(project)).toHaveLength(before + 1);
    }
  });

  it('[F19] replaced while a write waits for it: the write is done in the new one, once', async () => {
    await using project = await projectOfSixty();
    const database = join(storeOf(project), 'forge.db');
    for (const how of ['deleted', 'moved'] as const) {
      using holder = project.openDatabase();
      holder.exec('BEGIN IMMEDIATE');
      const waiting = project.program.run('task', 'create', `while it was ${how}`, '--json');
      await sleep(1_000);
      if (how === 'deleted') rmSync(database);
      else renameSync(database, `${database}.elsewhere`);
      holder.exec('ROLLBACK');
      const { exit, stdout, stderr } = await waiting;
      expect({ exit, stderr }).toEqual({
        exit: 0,
        stderr: expect.stringMatching(/made anew from the local replica/),
      });
      const { id } = JSON.parse(stdout) as Task;
      const found = await project.json<Task[]>('search', '--query', `while it was ${how}`);
      expect(found.map((task) => task.id)).toEqual([id]);
    }
    expect(await project.json<Task[]>('task', 'list', '--limit', '1000')).toHaveLength(62);
  });

  it('and everything else in the git directory gone too: what was exported comes back from the file', async () => {
    await using project = await projectOfSixty();
    const wanted = await listAll(project);
    await project.json('export');
    rmSync(storeOf(project), { recursive: true });
    const { exit, stdout, stderr } = await project.run(...LIST);
    expect({ exit, stdout, stderr }).toEqual({
      exit: 0,
      stdout: wanted,
      stderr: 'forge: 60 tasks came in from .forge/tasks.jsonl\n',
    });
    expect(await listAll(project)).toBe(wanted);
  });

  it('`git clean -fdx` takes nothing of it', async () => {
    await using project = await projectOfSixty();
    const wanted = await listAll(project);
    project.git('clean', '-fdxq');
    expect(await listAll(project)).toBe(wanted);
  });
});

function moveLog(project: ForgeProject): void {
  using database = project.openDatabase();
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

const LIST = [
  'task',
  'list',
  '--all',
  '--sort',
  'id',
  '--json',
  '--limit',
  '1000',
  '--fields',
  'id,title,labels',
];

async function listAll(project: ForgeProject): Promise<string> {
  const { stdout, stderr, exit } = await project.run(...LIST);
  expect({ exit, stderr, count: (JSON.parse(stdout) as Task[]).length }).toEqual({
    exit: 0,
    stderr: '',
    count: 60,
  });
  return stdout;
}

async function projectOfSixty(): Promise<ForgeProject & { readonly program: ForgeCli }> {
  const project = await forgeProjectHere();
  const tasks = Array.from({ length: 60 }, (_, at) => ({
    id: `fg-t${String(at).padStart(3, '0')}`,
    title: `Task number ${at}`,
    labels: [`l${at}`],
    description: 'Some words. '.repeat(40),
    ...(at > 0 && { dependencies: [{ id: `fg-t${String(at - 1).padStart(3, '0')}`, type: 'blocks' }] }),
  }));
  bringTasks(project.path, tasks);
  await project.json('ready');
  return project;
}

function asideIn(project: ForgeProject): string[] {
  return readdirSync(storeOf(project)).filter(
    (name) => /\.damaged-[^/]*$/.test(name) && !/-(wal|shm)$/.test(name),
  );
}

function storeOf({ path }: { readonly path: string }): string {
  return join(path, '.git', 'forge');
}

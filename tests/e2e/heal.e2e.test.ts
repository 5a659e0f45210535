import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import type { ForgeProject } from '../support/forge-cli.ts';
import { DAMAGED, hurtDatabases, LIST, listAll, projectOfSixty, storeOf } from '../support/hurt-databases.ts';
import { watchLock } from '../support/met-lock.ts';

describe('a database that was hurt', () => {
  it('[F18] in thirty random ways: the next command answers right, tells it in one line, and keeps the old file', async () => {
    const told = await hurtDatabases({ from: 0, count: 30 });
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
      const { env, met } = watchLock(project);
      const program = project.program.with({ env });
      const waiting = program.run('task', 'create', `while it was ${how}`, '--json');
      await met();
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
      stderr: expect.stringMatching(
        /^forge: The task database was not there and was made anew: 60 tasks came in from \.forge\/tasks\.jsonl\. What that file did not have yet is gone/,
      ) as string,
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

function asideIn(project: ForgeProject): string[] {
  return readdirSync(storeOf(project)).filter(
    (name) => /\.damaged-[^/]*$/.test(name) && !/-(wal|shm)$/.test(name),
  );
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Task } from '#contract/task.ts';
import type { ForgeProject } from '../support/forge-cli.ts';
import { watchLock } from '../support/met-lock.ts';
import { inSoak } from '../support/share-of.ts';
import { expectJoinedOnce, projectOf, taskFile, toLines } from '../support/task-file-races.ts';

describe('several at work on the task file', () => {
  test('exports at once: all succeed, and the file is what one of them alone would write', async () => {
    await using project = await projectOf(30);
    const made = await Promise.all([1, 2, 3].map((n) => project.create(`Made ${n}`)));
    const results = await Promise.all(Array.from({ length: 6 }, () => project.run('export')));
    expect(results.filter(({ exit, stderr }) => exit !== 0 || stderr !== '')).toEqual([]);
    const bytes = readTasks(project);
    for (const { id } of made) expect(bytes).toContain(`{"id":"${id}"`);
    expect(bytes.trimEnd().split('\n')).toHaveLength(33);
    expect(findTemporary(project)).toEqual([]);
    expect(await project.text('export')).toBe('.forge/tasks.jsonl is up to date');
    expect(readTasks(project)).toBe(bytes);
  });

  test('an export while another program keeps replacing the file: whole lines, and nothing of the store is lost', async () => {
    await using project = await projectOf(30);
    const path = taskFile(project);
    const known = (await project.json<Task[]>('task', 'list')).map(({ id }) => id);
    // Replaces the file by itself and one more task, as an editor or a tool that knows nothing of Forge would.
    const script = `
      const { readFileSync, writeFileSync, renameSync } = require('node:fs');
      const path = ${JSON.stringify(path)};
      const at = '2026-02-11T09:00:00.000Z';
      let n = 0;
      const step = () => {
        const task = { id: 'fg-x' + (1000 + n), title: 'Added ' + n, status: 'open', priority: 2, type: 'task',
          created_at: at, created_by: 'Eve', updated_at: at };
        const aside = path.replace('.forge/tasks', 'aside');
        writeFileSync(aside, readFileSync(path, 'utf8') + JSON.stringify(task) + '\\n');
        renameSync(aside, path);
        n += 1;
        if (n < 2_000) setTimeout(step, 3);
      };
      console.log('ready');
      step();`;
    const other = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    // On a slow machine it may be through before the exports are.
    const ended = once(other, 'exit');
    await once(other.stdout, 'data');
    const results = [];
    for (let n = 0; n < 4; n += 1) {
      results.push(await project.run('export'));
      // Whoever looks finds whole lines.
      for (const line of readTasks(project).trimEnd().split('\n')) expect(() => parse(line)).not.toThrow();
    }
    other.kill('SIGKILL');
    await ended;
    const refusal = /^forge: Could not write \S+tasks\.jsonl: it keeps changing/;
    expect(results.filter(({ exit, stderr }) => exit !== 0 && !refusal.test(stderr))).toEqual([]);
    const left = readTasks(project)
      .trimEnd()
      .split('\n')
      .map((line) => parse(line).id);
    await project.text('export');
    const after = readTasks(project);
    for (const id of [...known, ...left]) expect(after).toContain(`{"id":"${id}"`);
    expect(findTemporary(project)).toEqual([]);
  });

  inSoak(() => {
    test('eight commands that find the same 2,000 new lines: they are joined in once', () =>
      expectJoinedOnce({ commands: 8, tasks: 2_000 }));
  });
});

describe('F16 another process holds the write lock', () => {
  test('a read goes on without the changed file and says so; the next one joins it in', async () => {
    await using project = await projectOf(2);
    appendFileSync(taskFile(project), toLines(1, 'late'));
    const hurried = project.with({ env: { FORGE_LOCK_TIMEOUT_MS: '100' } });
    using db = project.openDatabase();
    db.exec('BEGIN IMMEDIATE');
    const read = await hurried.run('task', 'list');
    expect(read).toMatchObject({ exit: 0, stdout: expect.stringContaining('Task 1') });
    expect(read.stdout).not.toContain('late');
    expect(read.stderr).toMatch(
      /^forge: \.forge\/tasks\.jsonl is newer than what is shown: another process is writing/,
    );
    db.exec('COMMIT');
    expect(await hurried.text('task', 'list')).toContain('late 0');
  });

  test('an export gives up in time and leaves the file; a patient one waits', async () => {
    await using project = await projectOf(2);
    await project.create('Made');
    appendFileSync(taskFile(project), toLines(1, 'late'));
    const before = readTasks(project);
    using db = project.openDatabase();
    db.exec('BEGIN IMMEDIATE');
    const { exit, stderr } = await project.with({ env: { FORGE_LOCK_TIMEOUT_MS: '100' } }).run('export');
    expect(exit).toBe(1);
    expect(stderr).toMatch(/forge: Another process is writing .*\n {2}try: .*FORGE_LOCK_TIMEOUT_MS.*\n$/);
    expect(readTasks(project)).toBe(before);
    const { env, met } = watchLock(project);
    const waiting = project.with({ env }).run('export');
    await met();
    expect(readTasks(project)).toBe(before);
    db.exec('COMMIT');
    expect(await waiting).toMatchObject({ exit: 0, stderr: '' });
    expect(readTasks(project)).toMatch(/"Made"[^]*late 0|late 0[^]*"Made"/);
    expect(findTemporary(project)).toEqual([]);
  });
});

function parse(line: string): { readonly id: string } {
  return JSON.parse(line) as { id: string };
}

function readTasks(project: ForgeProject): string {
  return readFileSync(taskFile(project), 'utf8');
}

function findTemporary({ path }: ForgeProject): string[] {
  return readdirSync(join(path, '.forge')).filter((name) => name.endsWith('.tmp'));
}

import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeProject, type ForgeProject } from './forge-cli.ts';

/** Commands that start at the same moment and find the same new lines in the task file: they are joined in once. */
export async function expectJoinedOnce(options: {
  readonly commands: number;
  readonly tasks: number;
}): Promise<void> {
  const { commands, tasks } = options;
  await using project = await projectOf(0);
  writeFileSync(taskFile(project), toLines(tasks));
  const results = await Promise.all(
    Array.from({ length: commands }, () => project.run('task', 'list', '--json')),
  );
  expect(results.filter(({ exit }) => exit !== 0)).toEqual([]);
  // A read that finds another process at it does not wait, and says so.
  for (const { stdout, stderr } of results)
    expect(
      stderr.includes('is newer than what is shown') ? tasks : (JSON.parse(stdout) as Task[]).length,
    ).toBe(tasks);
  expect(JSON.parse((await project.run('task', 'list', '--json')).stdout)).toHaveLength(tasks);
  using db = project.openDatabase();
  // Many lines are joined in by several transactions, each with an event of its own.
  const counts = db
    .prepare(
      `SELECT sum(data ->> 'created') AS created, sum(data ->> 'updated') AS updated FROM events
       WHERE type = 'project.changed'`,
    )
    .get();
  expect(counts).toEqual({ created: tasks, updated: 0 });
  expect(db.prepare('SELECT max(version) AS version FROM tasks').get()).toEqual({ version: 1 });
  const replica = readFileSync(join(project.path, '.git/forge/tasks.jsonl'), 'utf8');
  const lines = replica.trimEnd().split('\n');
  expect(lines.filter((line) => line.startsWith('{"id"'))).toHaveLength(tasks);
}

export async function projectOf(tasks: number): Promise<ForgeProject> {
  const project = await forgeProject();
  if (tasks === 0) return project;
  const path = taskFile(project);
  writeFileSync(`${path}.new`, toLines(tasks));
  renameSync(`${path}.new`, path);
  await project.run('export');
  return project;
}

export function toLines(count: number, title = 'Task'): string {
  const at = '2026-02-10T09:00:00.000Z';
  return Array.from({ length: count }, (_, n) => {
    const times = { created_at: at, created_by: 'Ada', updated_at: at };
    const id = `fg-${title.slice(0, 1).toLowerCase()}${(46_656 + n).toString(36)}`;
    return `${JSON.stringify({ id, title: `${title} ${n}`, status: 'open', priority: 2, type: 'task', ...times })}\n`;
  }).join('');
}

export function taskFile({ path }: ForgeProject): string {
  return join(path, '.forge', 'tasks.jsonl');
}

import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Task } from '#contract/task.ts';
import { type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

const AT = '2026-02-10T09:00:00.000Z';

describe('a task file that is not as it should be', () => {
  test('F21 damaged lines are reported and kept byte for byte; the good ones count', async () => {
    await using project = await projectOfThree();
    const path = taskFile(project);
    const whole = readFileSync(path);
    const torn = toLine('fg-cccc', 'Cut in the middle').slice(0, 60);
    const bad = [Buffer.from('{"id":"fg-b'), Buffer.from([0xff, 0xfe, 0x00, 0x41]), Buffer.from('[1,2]')];
    const parts = [
      Buffer.from(toLine('fg-bbbb', 'Good')),
      ...bad.map((line) => [line, '\n']),
      Buffer.from(torn),
    ];
    writeFileSync(path, Buffer.concat([whole, ...parts.flat().map((part) => Buffer.from(part))]));
    const { stderr, exit, stdout } = await project.run('task', 'list', '--sort', 'id');
    expect(exit).toBe(0);
    expect(stdout.match(/Good|Task \d/g)).toHaveLength(4);
    expect(stderr).toMatch(
      /^forge: \.forge\/tasks\.jsonl has 4 lines that cannot be read \(.*\); kept as it is\n$/,
    );
    await project.create('Later');
    await project.run('export');
    const after = readFileSync(path);
    for (const line of [...bad, Buffer.from(torn)])
      expect(after.includes(Buffer.concat([line, NEWLINE]))).toBe(true);
    // And so they stay, from export to export.
    await project.run('gc');
    expect(readFileSync(path).equals(after)).toBe(true);
  });

  test('F22 conflict markers: both sides are joined, and the next export has none', async () => {
    await using project = await projectOfThree();
    const path = taskFile(project);
    const [first = '', ...rest] = readFileSync(path, 'utf8').trimEnd().split('\n');
    const ours = toLine('fg-dddd', 'Ours').trimEnd();
    const theirs = toLine('fg-eeee', 'Theirs').trimEnd();
    const conflict = ['<<<<<<< HEAD', ours, '||||||| base', '=======', theirs, '>>>>>>> feature'];
    writeFileSync(path, `${[first, ...conflict, ...rest].join('\n')}\n`);
    expect(await titles(project)).toEqual(['Ours', 'Task 0', 'Task 1', 'Task 2', 'Theirs']);
    await project.text('export');
    expect(readFileSync(path, 'utf8')).not.toMatch(/^[<=>|]{7}/m);
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(5);
  });

  test('F23 rolled back, emptied or gone: what is not in the file is not deleted', async () => {
    await using project = await projectOfThree();
    const path = taskFile(project);
    const old = readFileSync(path);
    await project.create('Newer');
    await project.text('export');
    const full = readFileSync(path);
    const all = ['Newer', 'Task 0', 'Task 1', 'Task 2'];
    for (const change of [
      () => writeFileSync(path, old),
      () => writeFileSync(path, ''),
      () => rmSync(path),
    ]) {
      change();
      expect(await titles(project)).toEqual(all);
      await project.text('export');
      expect(readFileSync(path).equals(full)).toBe(true);
    }
  });

  test('F23 a store that lost everything takes all from the file, and the file nothing from it', async () => {
    await using project = await projectOfThree();
    const before = readFileSync(taskFile(project));
    rmSync(join(project.path, '.git', 'forge'), { recursive: true });
    const { exit } = await project.run('export');
    expect(exit).toBe(0);
    expect(await titles(project)).toEqual(['Task 0', 'Task 1', 'Task 2']);
    expect(readFileSync(taskFile(project)).equals(before)).toBe(true);
  });

  test('F24 two tasks with one id: both are kept, under names of their own', async () => {
    await using project = await projectOfThree();
    appendFileSync(taskFile(project), toLine('fg-1000', 'Somebody else', 'Bob'));
    const { stderr, exit } = await project.run('task', 'list');
    expect({ exit, told: stderr.includes('Two tasks were both called fg-1000') }).toEqual({
      exit: 0,
      told: true,
    });
    const tasks = await project.json<Task[]>('task', 'list');
    const twins = tasks.filter(({ id }) => id.startsWith('fg-1000'));
    expect(twins.map(({ title }) => title).sort()).toEqual(['Somebody else', 'Task 0']);
    for (const { id } of twins) expect(id).toMatch(/^fg-1000[0-9a-z]{6}$/);
    await project.text('export');
    expect(await project.text('export')).toBe('.forge/tasks.jsonl is up to date');
    expect((await project.fails('task', 'show', 'fg-1000')).error.code).toBe('ambiguous_id');
  });
});

const NEWLINE = Buffer.from('\n');

async function projectOfThree(): Promise<ForgeProject> {
  const project = await forgeProjectHere();
  writeFileSync(taskFile(project), [0, 1, 2].map((n) => toLine(`fg-100${n}`, `Task ${n}`)).join(''));
  await project.run('export');
  return project;
}

function toLine(id: string, title: string, created_by = 'Ada'): string {
  const task = {
    id,
    title,
    status: 'open',
    priority: 2,
    type: 'task',
    created_at: AT,
    created_by,
    updated_at: AT,
  };
  return `${JSON.stringify(task)}\n`;
}

function taskFile({ path }: ForgeProject): string {
  return join(path, '.forge', 'tasks.jsonl');
}

async function titles(project: ForgeProject): Promise<string[]> {
  const { stdout, exit } = await project.run('task', 'list', '--json');
  expect(exit).toBe(0);
  return (JSON.parse(stdout) as Task[]).map(({ title }) => title).sort();
}

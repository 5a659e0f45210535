import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Task } from '#contract/task.ts';
import type { ErrorBody } from '#kernel/errors.ts';
import { forgeProject, type ForgeProject, openPlace, type ProgramResult } from '../support/forge-cli.ts';
import { bringTasks } from '../support/store-snapshot.ts';
import { tempRepo } from '../support/temp-repo.ts';

describe('commands at once', () => {
  test('of many updates for one version exactly one is made', async () => {
    await using project = await projectOfTwo();
    const { version } = await project.show('fg-aaaa');
    const flags = ['--version', String(version), '--json'];
    const outcomes = await Promise.all(
      range(6).map((n) => project.run('task', 'update', 'fg-aaaa', '--title', `Writer ${n}`, ...flags)),
    );
    const winner = expectOneWinner(outcomes, 'version_conflict');
    expect(await project.show('fg-aaaa')).toMatchObject({ title: `Writer ${winner}`, version: version + 1 });
  });

  test('of many claims exactly one succeeds, and every other one is told by whom', async () => {
    await using project = await projectOfTwo();
    const outcomes = await Promise.all(
      range(6).map((n) => project.run('claim', 'fg-aaaa', '--json', '--actor', `worker-${n}`)),
    );
    const assignee = `worker-${expectOneWinner(outcomes, 'claim_conflict')}`;
    expect((await project.show('fg-aaaa')).assignee).toBe(assignee);
    const told = outcomes.flatMap((outcome) => errorOf(outcome)?.details['assignee'] ?? []);
    expect(told).toEqual(Array.from({ length: 5 }, () => assignee));
  });

  test('two edges that would close a cycle together are never both added', async () => {
    await using project = await projectOfTwo();
    const outcomes = await Promise.all([
      project.run('dep', 'add', 'fg-aaaa', 'fg-bbbb', '--json'),
      project.run('dep', 'add', 'fg-bbbb', 'fg-aaaa', '--json'),
    ]);
    expectOneWinner(outcomes, 'dependency_cycle');
  });

  test('an update and a delete: the update is in, or it is told that the task is gone', async () => {
    await using project = await projectOfTwo();
    const [update, remove] = await Promise.all([
      project.run('task', 'update', 'fg-aaaa', '--title', 'Kept', '--json'),
      project.run('task', 'delete', 'fg-aaaa', '--json'),
    ]);
    expect(remove.exit).toBe(0);
    const { title } = await project.json('task', 'restore', 'fg-aaaa');
    expect([title, errorOf(update)?.message]).toEqual(
      update.exit === 0 ? ['Kept', undefined] : ['Task fg-aaaa', 'Task fg-aaaa was deleted'],
    );
  });

  test('of many inits exactly one makes the project', async () => {
    await using repo = await tempRepo();
    const place = await openPlace(repo);
    const outcomes = await Promise.all(range(4).map((n) => place.run('init', '--prefix', `p${n}`, '--json')));
    const winner = expectOneWinner(outcomes, 'already_exists');
    expect((await place.create('x')).id).toMatch(new RegExp(`^p${winner}-`));
  });

  test('of many commands that find the database gone every one sees every task', async () => {
    await using project = await projectOfTwo();
    rmSync(join(project.path, '.git', 'forge', 'forge.db'));
    const answers = await Promise.all(
      range(8).map(() => project.run('task', 'list', '--sort', 'id', '--json')),
    );
    for (const { stdout, stderr, exit } of answers) {
      expect({ exit, ids: (JSON.parse(stdout) as Task[]).map(({ id }) => id) }).toEqual({
        exit: 0,
        ids: ['fg-aaaa', 'fg-bbbb'],
      });
      expect(stderr).toMatch(/^(forge: The task database was made anew from the local replica: 2 tasks\n)?$/);
    }
    // Whether one of them tells is not said: the one that makes the database tells, if it also fills it.
  });

  test('creates of many processes are all there', async () => {
    await using project = await projectOfTwo();
    const made = await Promise.all(range(12).map((n) => project.create(`Made ${n}`)));
    expect(new Set(made.map(({ id }) => id)).size).toBe(12);
    const titles = (await project.json<Task[]>('task', 'list')).map(({ title }) => title);
    expect(titles).toEqual(expect.arrayContaining(made.map(({ title }) => title)));
  });
});

async function projectOfTwo(): Promise<ForgeProject> {
  const project = await forgeProject();
  bringTasks(project.path, [{ id: 'fg-aaaa' }, { id: 'fg-bbbb' }]);
  await project.text('ready');
  return project;
}

/** Which one it was; all the others were refused with this code. */
function expectOneWinner(outcomes: readonly ProgramResult[], code: ErrorBody['code']): number {
  const codes = outcomes.map((outcome) => errorOf(outcome)?.code ?? 'won');
  const winner = codes.indexOf('won');
  expect(codes).toEqual(codes.map((_, n) => (n === winner ? 'won' : code)));
  return winner;
}

function errorOf({ stdout, exit }: ProgramResult): ErrorBody | undefined {
  return exit === 0 ? undefined : (JSON.parse(stdout) as { error: ErrorBody }).error;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n);
}

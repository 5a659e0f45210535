import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Task } from '#contract/task.ts';
import { forgeProject } from '../support/forge-cli.ts';
import { takeSnapshot } from '../support/store-snapshot.ts';

describe('an answer that nobody can read', () => {
  test('standard output is closed: the write is made, and no file is taken for it', async () => {
    await using project = await forgeProject();
    for (const [n, command] of ['>&-', '>&- 2>&-', '<&- >&- 2>&-', '--json >&-'].entries()) {
      const { exit } = await project.bash(`forge task create "Task ${n}" ${command}`);
      expect.soft(exit, command).toBeLessThan(2);
    }
    const titles = (await project.json<Task[]>('task', 'list')).map(({ title }) => title);
    expect(titles).toEqual(['Task 0', 'Task 1', 'Task 2', 'Task 3']);
    const { database, files } = takeSnapshot(project.path);
    expect(database).toContainEqual({ integrity_check: 'ok' });
    expect(readFileSync(join(project.path, '.git/forge/forge.db')).subarray(0, 15).toString()).toBe(
      'SQLite format 3',
    );
    expect(files['.git/forge/tasks.jsonl']).not.toContain('Created task');
  });

  test.runIf(existsSync('/dev/full'))(
    'standard output is full: told on stderr, and the write is there',
    async () => {
      await using project = await forgeProject();
      for (const flags of ['', '--json']) {
        const { exit, stderr, stdout } = await project.bash(
          `forge task create "Made ${flags}" ${flags} > /dev/full`,
        );
        expect.soft({ exit, stdout }).toEqual({ exit: 1, stdout: '' });
        expect.soft(stderr).toMatch(/^forge: .*could not be written.*\n/);
        // Whoever reads "nothing was changed" would do it again.
        expect.soft(stderr).not.toContain('nothing was changed');
      }
      expect((await project.json<Task[]>('task', 'list')).map(({ title }) => title)).toEqual([
        'Made ',
        'Made --json',
      ]);
      for (const command of ['task list', 'task list --json', '--help', '--version --json']) {
        const { exit, stderr } = await project.bash(`forge ${command} > /dev/full`);
        expect
          .soft({ command, exit, stderr })
          .toEqual({ command, exit: 1, stderr: expect.stringMatching(/^forge: .*\n$/) });
      }
    },
  );

  test.runIf(existsSync('/dev/full'))(
    'an error keeps its exit code when standard error is full too',
    async () => {
      await using project = await forgeProject();
      expect(await project.bash('forge task show zzzz --json > /dev/full')).toMatchObject({
        exit: 3,
        stderr: expect.stringContaining('No task zzzz'),
      });
      expect(await project.bash('forge task show zzzz 2> /dev/full')).toMatchObject({ exit: 3 });
      expect(await project.bash('forge task show zzzz 2>&-')).toMatchObject({ exit: 3 });
      expect(await project.bash('forge task show zzzz --json > /dev/full 2> /dev/full')).toMatchObject({
        exit: 3,
      });
    },
  );

  test.runIf(existsSync('/dev/full'))(
    'the version on a full output is a failure in words, not a stack',
    async () => {
      await using project = await forgeProject();
      const { exit, stderr } = await project.bash('forge --version > /dev/full');
      expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringMatching(/^forge: .*\n$/) });
    },
  );

  test('a reader that goes away has what it wanted', async () => {
    await using project = await forgeProject();
    await project.create('x', '--description', 'd'.repeat(120_000));
    const { stdout, stderr, exit } = await project.bash(
      'set -o pipefail; forge task list --json | head -c 7',
    );
    expect({ stdout, stderr, exit }).toEqual({ stdout: '[{"id":', stderr: '', exit: 0 });
  });
});

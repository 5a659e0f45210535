import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';
import { shareOf } from '../support/share-of.ts';

const SECRET = 'SECRETLINE-of-the-user';

/** What a repository, or a person's slip, can put in the place of a file that Forge reads. */
const ODD: readonly (readonly [string, (path: string) => void])[] = [
  ['a link to a device', (path) => symlinkSync('/dev/zero', path)],
  ['a link to a file of the user', (path) => linkToSecret(path)],
  ['a pipe', (path) => void execFileSync('env', ['mkfifo', path])],
  ['a folder', (path) => mkdirSync(path)],
  ['a huge file', (path) => writeFileSync(path, `{"a":"${'x'.repeat(5_000_000)}"}`)],
];

describe('what stands in the place of a file of the repository', () => {
  test.each(shareOf(ODD, 2))('%s as config: every command names the file and ends', async (_what, put) => {
    await using project = await forgeProject();
    const config = join(project.path, '.forge/config.json');
    rmSync(config);
    put(config);
    for (const argv of [
      ['task', 'list'],
      ['task', 'create', 'x'],
      ['doctor'],
      ['init'],
      ['sync'],
      ['trust', '--list'],
    ]) {
      const { stdout, stderr, exit } = await project.run(...argv);
      expect(exit).toBe(2);
      expect(stderr).toContain(`${config} is `);
      expect(stderr).toContain('try: Put a regular file in its place');
      expect(stdout + stderr).not.toContain('SECRET');
    }
  });

  test.each(shareOf(ODD, 2))(
    '%s as workflow: a read goes on, and what needs the workflow names the file',
    async (_what, put) => {
      await using project = await forgeProject();
      const { id } = await project.create('One');
      const workflow = join(project.path, '.forge/workflow.json');
      put(workflow);
      expect(await project.text('task', 'list')).toContain(id);
      const { error } = await project.fails('task', 'transition', id, 'coding');
      expect(error.message).toContain(`${workflow} is `);
      expect(JSON.stringify(error)).not.toContain('SECRET');
    },
  );

  test.each(shareOf(ODD.slice(0, 4), 2))(
    '%s as task files: reads and syncs end and show nothing of it',
    async (_what, put) => {
      await using project = await forgeProject();
      const { id } = await project.create('One');
      for (const name of ['tasks.jsonl', 'history.jsonl']) {
        rmSync(join(project.path, '.forge', name), { force: true });
        put(join(project.path, '.forge', name));
      }
      expect((await project.run('task', 'list')).stdout).toContain(id);
      for (const argv of [['sync'], ['commit'], ['doctor'], ['prime']])
        expect(JSON.stringify(await project.run(...argv))).not.toContain('SECRET');
    },
  );

  test('a linked .gitignore is not published with the move to a branch of tasks', async () => {
    await using project = await forgeProject();
    commitAll(project);
    rmSync(join(project.path, '.gitignore'), { force: true });
    linkToSecret(join(project.path, '.gitignore'));
    await project.run('init', '--upgrade', '--branch', 'forge-data');
    const all = project.git('log', '--all', '-p', '--format=');
    expect(all).not.toContain('SECRET');
  });
});

function linkToSecret(path: string): void {
  const secret = join(dirname(path), '../../secret-of-the-user');
  writeFileSync(secret, `${SECRET}\n`);
  symlinkSync(secret, path);
}

function commitAll(project: ForgeProject): void {
  project.git('add', '--all');
  project.git('commit', '--quiet', '--no-verify', '--message', 'all');
}

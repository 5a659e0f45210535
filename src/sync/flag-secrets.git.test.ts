import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { initWithStore, openSyncProject, testMachine } from '../../tests/support/sync-project.ts';
import { runTestGit, tempRepo } from '../../tests/support/temp-repo.ts';
import { commitTasks } from './commit-tasks.ts';
import { syncTasks } from './sync-tasks.ts';

const KEY = `ghp_${'a1B2'.repeat(9)}`;
const OTHER = `glpat-${'x7'.repeat(10)}`;

describe('[H5] a key in a task, in branch mode', () => {
  it('is told of before it is committed, once, by a commit and by a sync', async () => {
    await using repo = await tempRepo();
    repo.git('commit', '--allow-empty', '-qm', 'first');
    const remote = join(repo.path, '..', 'remote.git');
    runTestGit(repo.path, ['init', '--quiet', '--bare', remote]);
    repo.git('remote', 'add', 'origin', remote);
    const machine = testMachine(join(repo.path, '..', 'home'));
    await initWithStore(repo.path, machine, { branch: 'forge-data', prefix: 'fg' });
    await using project = await openSyncProject(repo.path, machine);
    const told: string[] = [];
    /** What was said, and whether the key was on the branch by then. */
    const tell = (line: string): void => {
      const there = repo.git('ls-tree', '-r', '--name-only', 'forge-data').includes('.forge/tasks.jsonl');
      const text = there ? repo.git('show', 'forge-data:.forge/tasks.jsonl') : '';
      expect([KEY, OTHER].filter((key) => text.includes(key)).length).toBeLessThan(told.length + 1);
      told.push(line);
    };
    const { by } = project;
    await project.create('Harmless');
    const first = await project.create('Rotate it', { description: `It is ${KEY}` });
    await commitTasks(project, { by, machine, tell });
    const flag = (id: string, what: string): string =>
      `${id} holds what looks like ${what}, and is about to be committed`;
    expect(told).toEqual([flag(first.id, 'a GitHub token')]);
    // What the branch has, nobody is told of again.
    const second = await project.create('Another', { description: OTHER });
    const synced = await syncTasks(project, { by, machine, tell, remote: 'origin', offline: false });
    expect(synced).toMatchObject({ pushed: true });
    expect(told.slice(1)).toEqual([flag(second.id, 'a GitLab token')]);
    await project.create('Harmless too');
    await syncTasks(project, { by, machine, tell, remote: 'origin', offline: true });
    expect(told).toHaveLength(2);
  });
});

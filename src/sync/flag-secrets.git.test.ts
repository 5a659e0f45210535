import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isForgeError, type ForgeError } from '#kernel/errors.ts';
import { initWithStore, openSyncProject, testMachine } from '../../tests/support/sync-project.ts';
import { runTestGit, tempRepo } from '../../tests/support/temp-repo.ts';
import { commitTasks } from './commit-tasks.ts';
import { findForgeHome } from './forge-home.ts';
import { syncTasks } from './sync-tasks.ts';
import { allowSecret } from './trust.ts';

const KEY = `ghp_${'a1B2'.repeat(9)}`;
const OTHER = `glpat-${'x7'.repeat(10)}`;

/** The error that it rejects with. */
async function refusal(work: Promise<unknown>): Promise<ForgeError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isForgeError(error)) throw new Error('It was not refused', { cause: error });
  return error;
}

describe.each(['branch', 'standard'] as const)('[H5] a key in a task, in %s mode', (mode) => {
  it('is refused with its place by a commit and by a sync, until it is mended or a person lets it through', async () => {
    await using repo = await tempRepo();
    const remote = join(repo.path, '..', 'remote.git');
    runTestGit(repo.path, ['init', '--quiet', '--bare', remote]);
    repo.git('remote', 'add', 'origin', remote);
    const machine = testMachine(join(repo.path, '..', 'home'));
    const branch = mode === 'branch' ? { branch: 'forge-data' } : {};
    await initWithStore(repo.path, machine, { ...branch, prefix: 'fg' });
    await using project = await openSyncProject(repo.path, machine);
    const { by, store } = project;
    const commit = () => commitTasks(project, { by, machine });
    const has = (key: string): boolean =>
      repo.git('cat-file', '--batch', '--batch-all-objects', '--buffer').includes(key);
    await project.create('Harmless');
    const first = await project.create('Rotate it', { description: `It is ${KEY}` });
    const told = await refusal(commit());
    expect(told).toMatchObject({
      code: 'state_invalid',
      message: `${first.id} holds what looks like a GitHub token in its description: nothing was committed`,
    });
    expect(told.hint).toMatch(
      new RegExp(`^forge task update ${first.id} --description .+ forge trust --allow-secret [0-9a-f]{12}$`),
    );
    expect(JSON.stringify(told.details)).not.toContain(KEY);
    expect(has(KEY)).toBe(false);
    await store.updateTask({ id: first.id, description: 'gone' }, by);
    expect(await commit()).toMatchObject({ changed: true });
    expect(has(KEY)).toBe(false);
    const encoded = Buffer.from(`x-access-token:${KEY}`).toString('base64');
    const hidden = await project.create('Encoded', { description: `Basic ${encoded}` });
    expect((await refusal(commit())).message).toContain(
      `${hidden.id} holds what looks like a GitHub token in its description`,
    );
    expect(has(encoded)).toBe(false);
    await store.updateTask({ id: hidden.id, description: 'gone' }, by);
    expect(await commit()).toMatchObject({ changed: true });
    const second = await project.create('Another', { description: OTHER });
    const { details, message } = await refusal(commit());
    expect(message).toContain(second.id);
    const [{ allow }] = details['secrets'] as [{ allow: string }];
    const home = findForgeHome(machine.env, machine.homeDir);
    await allowSecret({ home, paths: project.paths }, allow, { now: 1, by: 'user:ann' });
    expect(await commit()).toMatchObject({ changed: true });
    expect(has(OTHER)).toBe(true);
    // What is in the history, no commit is refused for again.
    await store.updateTask({ id: second.id, title: `Another, ${KEY.slice(0, 8)}` }, by);
    expect(await commit()).toMatchObject({ changed: true });
  });
});

describe('[H5] a key in a task, in branch mode', () => {
  it('is not pushed by a sync', async () => {
    await using repo = await tempRepo();
    repo.git('commit', '--allow-empty', '-qm', 'first');
    const remote = join(repo.path, '..', 'remote.git');
    runTestGit(repo.path, ['init', '--quiet', '--bare', remote]);
    repo.git('remote', 'add', 'origin', remote);
    const machine = testMachine(join(repo.path, '..', 'home'));
    await initWithStore(repo.path, machine, { branch: 'forge-data', prefix: 'fg' });
    await using project = await openSyncProject(repo.path, machine);
    const { by } = project;
    const { id } = await project.create('Rotate it', { description: `It is ${KEY}` });
    const sync = () => syncTasks(project, { by, machine, remote: 'origin', offline: false });
    expect((await refusal(sync())).message).toContain(`${id} holds what looks like a GitHub token`);
    expect(runTestGit(remote, ['rev-list', '--all'])).toBe('');
    await project.store.updateTask({ id, description: '' }, by);
    expect(await sync()).toMatchObject({ pushed: true });
    expect(runTestGit(remote, ['cat-file', '--batch', '--batch-all-objects'])).not.toContain(KEY);
  });
});

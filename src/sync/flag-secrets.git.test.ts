import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isForgeError, type ForgeError } from '#kernel/errors.ts';
import { initWithStore, openSyncProject, testMachine } from '../../tests/support/sync-project.ts';
import { runTestGit, tempRepo } from '../../tests/support/temp-repo.ts';
import { commitTasks } from './commit-tasks.ts';
import { findForgeHome } from './forge-home.ts';
import { flagStagedSecrets } from './flag-secrets.ts';
import { toGitRepo } from './machine.ts';
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

describe('[S1] what is staged', () => {
  const ways: readonly (readonly [string, string, readonly (readonly string[])[]])[] = [
    ['no attributes', '', []],
    ['-diff', '.forge/tasks.jsonl -diff', []],
    ['binary', '.forge/*.jsonl binary', []],
    ['a driver of git that is not there', '*.jsonl diff=foo', []],
    ['a driver that is binary', '*.jsonl diff=foo', [['diff.foo.binary', 'true']]],
    ['a driver with a program', '*.jsonl diff=foo', [['diff.foo.command', 'true']]],
    ['a driver that makes it another text', '*.jsonl diff=foo', [['diff.foo.textconv', 'true']]],
    ['a program for all', '', [['diff.external', 'true']]],
    ['no prefixes', '', [['diff.noprefix', 'true']]],
    ['a setting that git ends with', '', [['diff.algorithm', 'none-such']]],
    ['a list of files that is not there', '', [['diff.orderFile', '/none/such']]],
  ];
  it.each(ways)('is looked at with %s', async (_, attributes, settings) => {
    await using repo = await tempRepo();
    const machine = testMachine(join(repo.path, '..', 'home'));
    await initWithStore(repo.path, machine, { prefix: 'fg' });
    appendFileSync(join(repo.path, '.gitattributes'), `\n${attributes}\n`);
    repo.git('add', '--all');
    repo.git('commit', '--quiet', '--no-verify', '-m', 'first');
    for (const setting of settings) repo.git('config', ...setting);
    await using project = await openSyncProject(repo.path, machine);
    const { paths } = project;
    const file = join(repo.path, '.forge', 'tasks.jsonl');
    const lines = [
      JSON.stringify({ id: 'fg-1', title: KEY }),
      // No line of a task, and the beginning of a head of a diff.
      `++ b/x ${OTHER}`,
    ];
    appendFileSync(file, `${lines.join('\n')}\n`);
    repo.git('add', '--', file);
    const flag = () => flagStagedSecrets(toGitRepo(repo.path, machine), { paths, machine, revs: [] });
    expect(await flag()).toMatchObject([
      { id: 'fg-1', path: '.forge/tasks.jsonl', field: 'title' },
      { path: '.forge/tasks.jsonl', name: 'a GitLab token' },
    ]);
    // And what the last commit has is in the history already.
    for (const [name = ''] of settings) repo.git('config', '--unset', name);
    repo.git('commit', '--quiet', '--no-verify', '-m', 'second');
    for (const setting of settings) repo.git('config', ...setting);
    appendFileSync(file, `${JSON.stringify({ id: 'fg-2', title: 'harmless' })}\n`);
    repo.git('add', '--', file);
    expect(await flag()).toEqual([]);
  });

  it('is told of where git cannot read it', async () => {
    await using repo = await tempRepo();
    const machine = testMachine(join(repo.path, '..', 'home'));
    await initWithStore(repo.path, machine, { prefix: 'fg' });
    await using project = await openSyncProject(repo.path, machine);
    const { paths } = project;
    writeFileSync(join(repo.path, '.git', 'index'), 'no index');
    const place = { paths, machine, revs: [] };
    expect(await refusal(flagStagedSecrets(toGitRepo(repo.path, machine), place))).toMatchObject({
      code: 'io_failed',
    });
  });
});

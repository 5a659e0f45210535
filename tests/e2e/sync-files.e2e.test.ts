import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Task, TaskView } from '#contract/task.ts';
import { forgeProject, type ForgeProject } from '../support/forge-cli.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import { expectCanonical, linesOf, recordIn, titlesIn, titlesOf } from '../support/git-clones.ts';

const TASKS = '.forge/tasks.jsonl';
/** The example entries of the seed, to the letter. */
const SEED_TEXT = readFileSync(join(import.meta.dirname, '../fixtures/seed-tasks.jsonl'), 'utf8');

/** Everything of a task that a person put into it; the number of writes is this machine's own. */
async function contentOf(project: ForgeProject, id: string): Promise<Partial<TaskView>> {
  const { version: _, ...content } = JSON.parse(
    (await project.run('task', 'show', id, '--json')).stdout,
  ) as TaskView;
  return content;
}

function removeDatabase(project: ForgeProject): void {
  for (const end of ['', '-wal', '-shm'])
    rmSync(join(project.path, `.git/forge/forge.db${end}`), { force: true });
}

describe('.forge/tasks.jsonl', () => {
  it('[S5] [S6] [S9] is made by init with its neighbours, and tracked from the first commit on', async () => {
    await using project = await forgeProject();
    expect(await project.read(TASKS)).toBe('');
    expect(statSync(join(project.path, '.forge/issues')).isDirectory()).toBe(true);
    for (const hook of ['pre-commit', 'post-merge'])
      expect(statSync(join(project.path, '.forge/hooks', hook)).mode & 0o111).not.toBe(0);
    project.git('add', '.');
    project.git('commit', '--quiet', '-m', 'forge');
    expect(project.git('ls-files', '--error-unmatch', TASKS)).toBe(TASKS);
  });

  it('[S41] [S44] [S45] [S131] has every field of every task, and a rebuild brings all of it back', async () => {
    await using project = await forgeProjectHere();
    const epic = await project.create('epic', '--type', 'epic');
    const first = await project.create('first', '--parent', epic.id, '--priority', '0', '--label', 'a');
    const all = ['--type', 'bug', '--label', 'x', '--label', 'ü', '--github-issue', '7', '--assignee', 'w-1'];
    const full = await project.create('full', '--parent', epic.id, '--description', 'two\nlines', ...all);
    await project.json('dep', 'add', full.id, first.id);
    await project.json('task', 'update', full.id, '--meta-set', 'plan={"a":[1,null]}', '--label-remove', 'x');
    await project.json('task', 'comment', full.id, 'a comment');
    await project.json('task', 'close', first.id, '--reason', 'wontfix: no');
    const gone = await project.create('deleted');
    await project.json('task', 'delete', gone.id);
    await project.json('export');
    const text = await project.read(TASKS);
    expectCanonical(text);
    expect(linesOf(text)).toHaveLength(4);
    for (const word of ['content_hash', 'rowid', 'version', 'open_blockers'])
      expect(text).not.toContain(word);
    expect(recordIn(text, 'full')).toMatchObject({
      description: 'two\nlines',
      type: 'bug',
      assignee: 'w-1',
      parent_id: epic.id,
      dependencies: [{ id: first.id, type: 'blocks' }],
      labels: ['ü'],
      github_issue: 7,
      metadata: { plan: { a: [1, null] } },
    });
    const ids = [epic.id, first.id, full.id];
    const before = await Promise.all(ids.map((id) => contentOf(project, id)));
    // The whole store: database, local replica and all.
    rmSync(join(project.path, '.git/forge'), { recursive: true });
    expect(await project.run('import')).toMatchObject({ exit: 0 });
    expect(await Promise.all(ids.map((id) => contentOf(project, id)))).toEqual(before);
    expect(await project.json('export')).toMatchObject({ tasks: { changed: false } });
    expect(await project.read(TASKS)).toBe(text);
    expect(await titlesOf(project)).toEqual(['epic', 'first', 'full']);
  });

  it('[S1] [S3] without the database nothing is lost, whether or not it was exported', async () => {
    await using project = await forgeProjectHere();
    const { id } = await project.create('never exported');
    removeDatabase(project);
    expect(await contentOf(project, id)).toMatchObject({ title: 'never exported' });
    // By the link, as the seed's reader would do it.
    await project.create('two');
    rmSync(join(project.path, '.forge/forge.db'));
    expect(await titlesOf(project)).toEqual(['never exported', 'two']);
    // A lost page cache: the write-ahead log did not make it to the disk, the acknowledged line did.
    await project.create('three');
    rmSync(join(project.path, '.git/forge/forge.db-wal'), { force: true });
    expect(await titlesOf(project)).toEqual(['never exported', 'three', 'two']);
    project.git('add', '.');
    project.git('commit', '--quiet', '-m', 'all');
    await project.create('after the commit');
    project.git('clean', '--quiet', '-fdx');
    expect(existsSync(join(project.path, '.forge/forge.db'))).toBe(false);
    expect(await titlesOf(project)).toEqual(['after the commit', 'never exported', 'three', 'two']);
    rmSync(join(project.path, '.forge'), { recursive: true });
    expect(await titlesOf(project)).toHaveLength(4);
    project.git('restore', '.');
    expect(await titlesOf(project)).toHaveLength(4);
    expect(project.git('status', '--porcelain')).toBe('');
  });

  it('[S42] [S43] [S115] gcOnExport false appends, the newest line wins, and gc makes one of them', async () => {
    await using project = await forgeProjectHere();
    const config = JSON.parse(await project.read('.forge/config.json')) as object;
    const settings = { gcOnExport: false };
    await project.write('.forge/config.json', JSON.stringify({ ...config, settings }));
    const one = await project.create('one');
    const two = await project.create('two');
    await project.json('export');
    const [before] = [await project.read(TASKS)];
    await project.json('task', 'update', one.id, '--title', 'one again');
    await project.json('export');
    await project.json('task', 'update', one.id, '--title', 'one at last');
    await project.json('export');
    const after = await project.read(TASKS);
    expect(after.startsWith(before), 'appended').toBe(true);
    expect(linesOf(after).map((line) => (JSON.parse(line) as Task).title)).toEqual([
      ...(one.id < two.id ? ['one', 'two'] : ['two', 'one']),
      'one again',
      'one at last',
    ]);
    expect(await project.json('export')).toMatchObject({ tasks: { changed: false } });
    rmSync(join(project.path, '.git/forge'), { recursive: true });
    expect(await titlesOf(project)).toEqual(['one at last', 'two']);
    await project.json('task', 'update', two.id, '--title', 'two again');
    expect(await project.json('gc')).toMatchObject({ tasks: { changed: true } });
    const tidy = await project.read(TASKS);
    expectCanonical(tidy);
    expect(titlesIn(tidy)).toEqual(['one at last', 'two again']);
    expect(await project.json('gc')).toMatchObject({ tasks: { changed: false } });
    await project.json('task', 'update', two.id, '--title', 'two at last');
    await project.json('export', '--gc');
    expectCanonical(await project.read(TASKS));
    // The default is one line a task, as the seed has it.
    await project.write('.forge/config.json', JSON.stringify(config));
    await project.json('task', 'update', one.id, '--title', 'one');
    await project.json('export');
    expectCanonical(await project.read(TASKS));
  });

  it('[S46] [S47] [S106] the four lines of the seed import as they stand, and export with the same data', async () => {
    await using project = await forgeProjectHere();
    await project.write(TASKS, SEED_TEXT);
    expect(await project.run('import')).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('Imported 4 new'),
    });
    expect(await project.json<Task[]>('search')).toHaveLength(4);
    expect(await contentOf(project, 'fg-b2c1')).toMatchObject({ parent_id: 'fg-e5a2', status: 'closed' });
    expect(await contentOf(project, 'fg-c9d1')).toMatchObject({
      state: 'in_progress',
      assignee: 'worker-2',
      dependencies: [expect.objectContaining({ id: 'fg-b2c1' })],
    });
    await project.json('export', '--gc');
    const written = linesOf(await project.read(TASKS)).map((line) => JSON.parse(line) as Task);
    const asked = linesOf(SEED_TEXT).map((line) => JSON.parse(line) as Task);
    // Lines have digests besides, which say what of them was edited by hand.
    const withoutDigests = (task: Task): Task => ({ ...task, _v: undefined }) as Task;
    expect(written.map(withoutDigests).map(sortLabels)).toEqual(asked.map(sortLabels));
    const text = await project.read(TASKS);
    await project.json('export');
    expect(await project.run('import')).toMatchObject({ exit: 0 });
    expect(await project.read(TASKS)).toBe(text);
  });

  it('[S57] the state of a task survives a rebuild where it says more than the status', async () => {
    await using project = await forgeProjectHere();
    const parked = await project.create('parked', '--state', 'backlog');
    const dropped = await project.create('dropped');
    await project.json('task', 'close', dropped.id, '--reason', 'cancelled: no budget');
    await project.json('export');
    const line = recordIn(await project.read(TASKS), 'parked');
    // What later states will be: a line may carry one that no command of today sets.
    writeFileSync(
      join(project.path, TASKS),
      `${JSON.stringify({ ...line, id: 'fg-revw', title: 'in review', status: 'in_progress', state: 'review', assignee: 'w' })}\n${await project.read(TASKS)}`,
    );
    rmSync(join(project.path, '.git/forge'), { recursive: true });
    await project.run('ready');
    const states = await Promise.all(
      [parked.id, dropped.id, 'fg-revw'].map(async (id) => (await contentOf(project, id)).state),
    );
    expect(states).toEqual(['backlog', 'cancelled', 'review']);
    await project.json('export');
    expect(recordIn(await project.read(TASKS), 'in review')).toMatchObject({ state: 'review' });
  });
});

/** Their order means nothing. */
function sortLabels(task: Task): Task {
  return { ...task, labels: task.labels.toSorted() };
}

import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { forgeClones, type Clone } from './support/git-clones.ts';

const FILE = '.forge/tasks.jsonl';
/** Git keeps the times of its moves in seconds: this one is surely after the files of the test were written. */
const LATER = { GIT_COMMITTER_DATE: new Date(Date.now() + 3_600_000).toISOString() };

function edit(clone: Clone, from: string, to: string): void {
  clone.write(FILE, clone.read(FILE).replace(from, to));
}

/** A clone with a task, and a patch that gives it another title, as it comes in a mail; `git apply` puts it into the index. */
async function openPatched() {
  const world = await forgeClones(['a', 'b']);
  const { a, b } = world.clone;
  const [{ id }, other] = [await a.create('as it was'), await a.create('other')];
  await a.commitTasks();
  a.git('push', '--quiet');
  b.git('pull', '--quiet');
  edit(b, '"title":"as it was"', '"title":"patched"');
  b.git('commit', '--quiet', '--no-verify', '-am', 'by hand');
  const patch = join(world.folder, 'by-hand.patch');
  writeFileSync(patch, `${b.git('format-patch', '-1', '--stdout')}\n`);
  a.git('apply', '--cached', patch);
  return { world, a, id, other: other.id };
}

function commit(clone: Clone, ...args: string[]): void {
  const { exit, output } = clone.tryGit(['commit', '--quiet', ...args], { env: LATER });
  expect({ exit, output }).toMatchObject({ exit: 0 });
}

describe('an edit by hand that is in the index and not in the working tree', () => {
  it.each([[[]], [['--no-verify']]])('stays when it is committed by itself: git commit %s', async (how) => {
    const { world, a, id, other } = await openPatched();
    await using _ = world;
    commit(a, '-m', 'the patch', ...how);
    await a.json('task', 'update', other, '--title', 'another');
    a.write('code.txt', '1');
    a.git('add', 'code.txt');
    commit(a, '-m', 'code');
    expect(a.git('show', `HEAD:${FILE}`)).toContain('"title":"patched"');
    expect(await a.show(id)).toMatchObject({ title: 'patched' });
  });

  it('goes into the commit that it is staged for, with code beside it', async () => {
    const { world, a, id } = await openPatched();
    await using _ = world;
    a.write('code.txt', '1');
    a.git('add', 'code.txt');
    commit(a, '-m', 'patch and code');
    expect(a.git('show', `HEAD:${FILE}`)).toContain('"title":"patched"');
    expect(await a.show(id)).toMatchObject({ title: 'patched' });
  });
});

it('an edit that was staged and edited once more in the working tree is what stands there', async () => {
  await using world = await forgeClones(['a']);
  const { a } = world.clone;
  const { id } = await a.create('as it was');
  await a.commitTasks();
  edit(a, '"title":"as it was"', '"title":"staged"');
  a.git('add', FILE);
  edit(a, '"title":"staged"', '"title":"as it was"');
  edit(a, '"priority":2', '"priority":0');
  a.write('code.txt', '1');
  a.git('add', 'code.txt');
  commit(a, '-m', 'code');
  expect(a.git('show', `HEAD:${FILE}`)).toContain('"title":"as it was"');
  expect(await a.show(id)).toMatchObject({ title: 'as it was', priority: 0 });
  expect(await a.json('conflicts')).toEqual([]);
});

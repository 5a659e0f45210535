import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findRepository } from '#git/find-repository.ts';
import { tempRepo } from '../../tests/support/temp-repo.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { toProjectPaths, type ProjectPaths } from './project-paths.ts';
import { openProjectWorkflow, type ProjectWorkflow } from './project-workflow.ts';

/** A workflow that says by its initial state which one it is. */
function named(initial: string): string {
  const states = [
    { name: initial, kind: 'initial', next: ['doing'] },
    { name: 'doing', kind: 'active', next: ['done'] },
    { name: 'done', kind: 'terminal' },
    { name: 'cancelled', kind: 'terminal' },
  ];
  return JSON.stringify({ states });
}

interface Checkout {
  readonly paths: ProjectPaths;
  readonly notices: string[];
  /** What a process that begins here now works by. */
  open(): Promise<ProjectWorkflow>;
  /** Its initial state. */
  read(): Promise<string>;
  show(initial: string): void;
}

function checkout(root: string, temp: TempStore): Checkout {
  const repository = findRepository(root);
  if (repository === undefined) throw new Error('no repository');
  const paths = toProjectPaths(repository);
  mkdirSync(paths.forge_dir, { recursive: true });
  mkdirSync(paths.store_dir, { recursive: true });
  const notices: string[] = [];
  const around = { env: process.env, clock: temp.clock, notice: (text: string) => void notices.push(text) };
  const open = () => openProjectWorkflow({ paths, store: temp.store }, around);
  return {
    paths,
    notices,
    open,
    read: async () => (await open()).current().initial,
    show: (initial) => writeFileSync(join(paths.forge_dir, 'workflow.json'), named(initial)),
  };
}

async function twoCheckouts(): Promise<
  { here: Checkout; there: Checkout; temp: TempStore } & AsyncDisposable
> {
  const repo = await tempRepo();
  const temp = await tempStore();
  repo.git('commit', '--quiet', '--allow-empty', '-m', 'first');
  const linked = join(repo.path, '..', 'linked');
  repo.git('worktree', 'add', '--quiet', linked);
  return {
    temp,
    here: checkout(repo.path, temp),
    there: checkout(linked, temp),
    async [Symbol.asyncDispose]() {
      await temp[Symbol.asyncDispose]();
      rmSync(linked, { recursive: true, force: true });
      await repo[Symbol.asyncDispose]();
    },
  };
}

it('is what the first checkout shows, and then what a file of any checkout became', async () => {
  await using both = await twoCheckouts();
  const { here, there } = both;
  here.show('one');
  expect(await here.read()).toBe('one');
  expect(await there.read()).toBe('one');
  there.show('one');
  expect(await there.read()).toBe('one');
  there.show('two');
  expect(await there.read()).toBe('two');
  expect(await here.read()).toBe('two');
  here.show('three');
  expect(await there.read()).toBe('two');
  expect(await here.read()).toBe('three');
  expect(await there.read()).toBe('three');
  expect([...here.notices, ...there.notices]).toEqual([]);
});

it('stays what it is where a checkout of an older commit is met, which is told once', async () => {
  await using both = await twoCheckouts();
  const { here, there } = both;
  here.show('new');
  there.show('old');
  await here.read();
  for (const at of [there, here, there]) expect(await at.read()).toBe('new');
  expect(here.notices).toEqual([]);
  expect(there.notices).toEqual([
    expect.stringMatching(/is not the one that counts.*forge workflow show.*forge workflow set/) as string,
  ]);
});

it('follows a switch of branches in one checkout, there and back', async () => {
  await using both = await twoCheckouts();
  const { here } = both;
  for (const initial of ['main', 'old', 'main']) {
    here.show(initial);
    expect(await here.read()).toBe(initial);
  }
});

it('is refused where the file has faults, and is the one before in every other checkout', async () => {
  await using both = await twoCheckouts();
  const { here, there, temp } = both;
  there.show('one');
  await there.read();
  await here.read();
  writeFileSync(join(here.paths.forge_dir, 'workflow.json'), '{"states": 7}');
  const workflow = await here.open();
  expect(() => workflow.current()).toThrow('is not a workflow');
  expect(await there.read()).toBe('one');
  expect(await temp.store.readKeptWorkflow()).toMatchObject({ version: 1 });
  here.show('two');
  await workflow.look();
  expect(workflow.current().initial).toBe('two');
});

it('is told by a look to a process that stays, whoever changed it; a question changes nothing', async () => {
  await using both = await twoCheckouts();
  const { here, there, temp } = both;
  here.show('one');
  const stays = await here.open();
  const before = await temp.store.newestEvent();
  here.show('two');
  expect(stays.current().initial).toBe('one');
  expect(await temp.store.newestEvent()).toBe(before);
  await stays.look();
  expect(stays.current().initial).toBe('two');
  there.show('two');
  await there.read();
  there.show('three');
  await there.read();
  await stays.look();
  expect(stays.current().initial).toBe('three');
});

it('is what the first file says that is written where none was', async () => {
  await using both = await twoCheckouts();
  const { here, temp } = both;
  const by = { actor: { kind: 'user', name: 'ann', named: true }, now: temp.clock.now() } as const;
  await temp.store.setWorkflow({ definition: undefined, digest: 'the built-in one, asked for' }, by);
  expect(await here.read()).toBe('todo');
  here.show('one');
  expect(await here.read()).toBe('one');
  rmSync(join(here.paths.forge_dir, 'workflow.json'));
  expect(await here.read()).toBe('one');
});

it('is found again in the file after the database was made anew', async () => {
  await using both = await twoCheckouts();
  const { here, temp } = both;
  here.show('one');
  await here.read();
  await temp.rebuild();
  expect(await here.read()).toBe('one');
  expect(await temp.store.readKeptWorkflow()).toMatchObject({ version: 1 });
});

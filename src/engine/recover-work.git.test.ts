import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt, Merge, Run } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { toKeepRef } from '#git/attempt-refs.ts';
import { showCommit } from '#git/show-commit.ts';
import { ForgeError } from '#kernel/errors.ts';
import { findIdentity, readOwnIdentity } from '#process/process-identity.ts';
import type { ProcessMark } from '#store/attempt-store.ts';
import { goneProcess } from '../../tests/support/dying-store.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { openControl, openWorkspace, toCheckout } from './attempt-workspace.ts';
import { settleLost, settleSilent } from './recover-work.ts';
import { harvestAttempt } from './settle-run.ts';
import { systemWriter } from './work.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

interface Begun {
  readonly task: Task;
  readonly attempt: Attempt;
}

/** A task with an attempt, and a file in its folder that nobody has committed. */
async function begin(title: string): Promise<Begun> {
  const task = await shop.create(title);
  const { attempt } = await openWorkspace(shop.place, { task, agent: 'w1' });
  writeFileSync(join(attempt.path, 'done.txt'), 'done\n');
  return { task, attempt };
}

interface RunFacts {
  readonly watcher: ProcessMark;
  readonly role?: string;
  readonly state?: 'scheduled' | 'running';
  readonly process?: ProcessMark;
  readonly beat_at?: number;
}

async function addRun({ task, attempt }: Begun, facts: RunFacts): Promise<Run> {
  const { watcher, role = 'coder', state = 'running', ...known } = facts;
  const { store } = shop.place;
  const by = systemWriter(shop.place);
  const made = { id: crypto.randomUUID(), task_id: task.id, attempt_id: attempt.id, agent: 'w1', role };
  const how = { executor: 'shell', fence: null, in_state: null, session_id: null, watcher };
  const run = await store.createRun({ ...made, ...how, state: 'scheduled' }, by);
  await store.noteRun({ id: run.id, ...known });
  return state === 'scheduled' ? run : store.moveRun({ id: run.id, to: 'running' }, by);
}

const filesOf = async ({ attempt }: Begun): Promise<string> => {
  const { head_commit } = await shop.place.store.getAttempt(attempt.id);
  return head_commit === null ? '' : shop.repo.git('ls-tree', '--name-only', head_commit);
};

describe('a run whose watcher is gone', () => {
  it('has failed, and what it left in its folder is kept', async () => {
    const begun = await begin('Left');
    const watcher = goneProcess();
    const run = await addRun(begun, { watcher });
    expect(await settleLost(shop.place)).toMatchObject({ runs: [{ id: run.id }] });
    expect(await shop.place.store.getRun(run.id)).toMatchObject({
      state: 'failed',
      outcome: 'crashed',
      message: `It lost its watcher: process ${watcher.pid} on ${watcher.host} is gone`,
    });
    expect(await filesOf(begun)).toContain('done.txt');
    expect(shop.news).toContainEqual(
      expect.objectContaining({
        kind: 'run',
        run: expect.objectContaining({ id: run.id, state: 'failed' }) as Run,
      }),
    );
    expect(await settleLost(shop.place)).toEqual({ runs: [] });
  });

  it('is looked at again where another process has harvested it in the same moment', async () => {
    // The user's program that signs commits runs in the middle of a harvest.
    const script = join(shop.place.home, 'sign');
    shop.repo.git('config', 'gpg.format', 'ssh');
    shop.repo.git('config', 'gpg.ssh.program', script);
    shop.repo.git('config', 'user.signingKey', script);
    shop.repo.git('config', 'commit.gpgSign', 'true');
    const begun = await begin('Raced');
    const { id, base_commit } = begun.attempt;
    const other = shop.repo.git('commit-tree', `${base_commit}^{tree}`, '-p', base_commit, '-m', 'other');
    const flag = join(shop.place.home, 'signed');
    const move = `git -C ${shop.repo.path} update-ref ${toKeepRef(id)} ${other}`;
    writeFileSync(script, `#!/bin/sh\n[ -e ${flag} ] || { touch ${flag}; ${move}; }\nexit 1\n`);
    chmodSync(script, 0o755);
    await addRun(begun, { watcher: goneProcess() });
    await settleLost(shop.place);
    expect(existsSync(flag)).toBe(true);
    expect(await filesOf(begun)).toContain('done.txt');
  });

  it.each<[string, Partial<RunFacts>, string]>([
    ['had not begun', { state: 'scheduled' }, 'cancelled'],
    ['looked at the work from a folder of its own', { role: 'reviewer' }, 'failed'],
  ])('keeps nothing of the folder where it %s', async (_, facts, state) => {
    const begun = await begin('Not its own');
    const run = await addRun(begun, { watcher: goneProcess(), ...facts });
    await settleLost(shop.place);
    expect((await shop.place.store.getRun(run.id)).state).toBe(state);
    expect(await filesOf(begun)).not.toContain('done.txt');
  });

  it('has ended also where its task is deleted meanwhile', async () => {
    const [first, second] = [await begin('Deleted'), await begin('Left')];
    const lost = await addRun(first, { watcher: goneProcess() });
    const run = await addRun(second, { watcher: goneProcess() });
    const { store, processes } = shop.place;
    let deleted: Promise<unknown> | undefined;
    const place = {
      ...shop.place,
      processes: async () => {
        await (deleted ??= store.deleteTask({ id: first.task.id }, systemWriter(shop.place)));
        return processes();
      },
    };
    const settled = (await settleLost(place)).runs.map(({ id, state }) => [id, state]);
    expect(new Map(settled as [string, string][])).toEqual(
      new Map([lost, run].map(({ id }) => [id, 'failed'])),
    );
  });
});

it('what keeps a run from being settled is told, and the others are settled', async () => {
  const lost = await addRun(await begin('Stuck'), { watcher: goneProcess() });
  const run = await addRun(await begin('Left'), { watcher: goneProcess() });
  const { store } = shop.place;
  const busy = new ForgeError('store_busy', 'The database is busy');
  const moveRun: typeof store.moveRun = (move, by) =>
    move.id === lost.id ? Promise.reject(busy) : store.moveRun(move, by);
  await expect(settleLost({ ...shop.place, store: { ...store, moveRun } })).rejects.toBe(busy);
  expect((await store.getRun(lost.id)).state).toBe('running');
  expect((await store.getRun(run.id)).state).toBe('failed');
});

describe('a run that nobody has heard of', () => {
  const living = (): ProcessMark => {
    const mark = findIdentity(process.ppid);
    if (mark === undefined) throw new Error('this process has no parent');
    return mark;
  };
  const own = readOwnIdentity();

  it.each<[string, () => RunFacts, boolean, boolean]>([
    [
      'the program is gone, and its watcher lives',
      () => ({ watcher: living(), process: goneProcess() }),
      false,
      true,
    ],
    [
      'the same, while this process works on the task',
      () => ({ watcher: living(), process: goneProcess() }),
      true,
      true,
    ],
    ['its program lives', () => ({ watcher: living(), process: living() }), false, false],
    ['another process has not started its program yet', () => ({ watcher: living() }), false, false],
    [
      'its watcher is gone, which is another matter',
      () => ({ watcher: goneProcess(), process: goneProcess() }),
      false,
      false,
    ],
    ['this process watches it, and is not at work on it', () => ({ watcher: own }), false, true],
    ['this process watches it, and is at work on it', () => ({ watcher: own }), true, false],
    [
      'its program is gone, but it was heard of a moment ago',
      () => ({ watcher: living(), process: goneProcess(), beat_at: shop.place.clock.now() + 60_000 }),
      false,
      false,
    ],
  ])('%s', async (_, facts, isAtWork, isOver) => {
    const run = await addRun(await begin('Silent'), facts());
    // A later look, so that the start of the run was before it.
    const now = shop.place.clock.now() + 1_000;
    const place = { ...shop.place, clock: { now: () => now } };
    const { runs } = await settleSilent(place, () => isAtWork, 0);
    expect(runs.map(({ id }) => id)).toEqual(isOver ? [run.id] : []);
  });
});

describe('a merge whose process is gone', () => {
  async function addMerge(begun: Begun): Promise<{ merge: Merge; candidate: string }> {
    const { task, attempt } = begun;
    const { store } = shop.place;
    const by = systemWriter(shop.place);
    const { head } = await harvestAttempt(shop.place, { task, attempt, agent: 'w1' });
    await shop.repo.write('other.txt', 'other\n');
    shop.repo.git('add', '-A');
    shop.repo.git('commit', '-qm', 'other');
    const parents = ['-p', 'main', '-p', head, '-m', `merged\n\nForge-Attempt: ${attempt.id}`];
    const tree = shop.repo.git('merge-tree', '--write-tree', 'main', head);
    const candidate = shop.repo.git('commit-tree', tree, ...parents);
    const watcher = goneProcess();
    const merge = await store.queueMerge(
      {
        id: crypto.randomUUID(),
        attempt_id: attempt.id,
        target: 'main',
        strategy: 'merge',
        head_commit: head,
        watcher,
      },
      by,
    );
    await store.takeMerge({ id: merge.id, watcher }, by);
    const { state } = await store.getTask(task.id);
    expect(await store.takeLanding({ id: merge.id, in_state: state, candidate }, by)).toBeUndefined();
    return { merge, candidate };
  }

  it('has landed where the target has it', async () => {
    const begun = await begin('Landed');
    const { candidate } = await addMerge(begun);
    shop.repo.git('reset', '--hard', '-q', candidate);
    await settleLost(shop.place);
    const { store } = shop.place;
    expect(await store.listMerges({ task_id: begun.task.id })).toMatchObject([
      { state: 'landed', candidate },
    ]);
    expect(await store.getAttempt(begun.attempt.id)).toMatchObject({
      state: 'merged',
      merge_commit: candidate,
    });
  });

  it('is dropped where the target does not have it, and the folder shows the work alone again', async () => {
    const begun = await begin('Not landed');
    const { candidate } = await addMerge(begun);
    const control = await openControl(shop.place);
    await showCommit(control, toCheckout(shop.place, control, begun.attempt), candidate);
    const shown = (): boolean[] =>
      ['done.txt', 'other.txt'].map((name) => existsSync(join(begun.attempt.path, name)));
    expect(shown()).toEqual([true, true]);
    await settleLost(shop.place);
    expect(await shop.place.store.listMerges({ task_id: begun.task.id })).toMatchObject([
      { state: 'dropped' },
    ]);
    expect((await shop.place.store.getAttempt(begun.attempt.id)).state).toBe('active');
    expect(shown()).toEqual([true, false]);
  });
});

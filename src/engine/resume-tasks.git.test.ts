import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { startCheckout } from '#git/attempt-checkout.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { findIdentity } from '#process/process-identity.ts';
import type { ProcessMark } from '#store/attempt-store.ts';
import { goneProcess } from '../../tests/support/dying-store.ts';
import { killAfter, openDying } from '../../tests/support/killed-work.ts';
import { shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { openControl } from './attempt-workspace.ts';
import { claimTask } from './change-task.ts';
import { FolderLocks } from './folder-locks.ts';
import { inTurns } from './in-turns.ts';
import { recoverProject } from './recover-project.ts';
import { settleSilent } from './recover-work.ts';
import { resumeTasks } from './resume-tasks.ts';
import { sweepFolders } from './sweep-folders.ts';
import { systemWriter } from './work.ts';
import { workTask } from './work-task.ts';
import { Workshop } from './workshop.ts';

let shop: TempWorkshop;
beforeAll(async () => {
  shop = await tempWorkshop();
  shop.addAgent('w1', 'echo "$FORGE_TASK_ID" > "$FORGE_TASK_ID.txt"');
});
afterAll(() => shop[Symbol.asyncDispose]());

const STEPS = ['test -f "$FORGE_TASK_ID.txt"'];
const RUN = { agent: 'w1', merge: true };

/** What `forge run --merge` writes, one after the other; what the next start does; where the task is then. */
type Point = readonly [write: string, step: string, state: string];
const POINTS: readonly Point[] = [
  ['takeWatch', 'none', 'todo'],
  ['claimTask', 'give_back', 'todo'],
  ['takeWatch', 'give_back', 'todo'],
  ['startAttempt', 'give_back', 'todo'],
  ['createRun', 'conclude', 'todo'],
  ['takeWatch', 'conclude', 'todo'],
  ['takeMessages', 'conclude', 'todo'],
  ['recordHookResults', 'conclude', 'todo'],
  ['moveRun', 'conclude', 'todo'],
  ['noteRun', 'conclude', 'todo'],
  ['changeAttempt', 'conclude', 'todo'],
  ['moveRun', 'conclude', 'todo'],
  ['moveRun', 'conclude', 'review'],
  ['moveTask', 'enter', 'review'],
  ['takeWatch', 'enter', 'review'],
  ['changeAttempt', 'enter', 'review'],
  ['startReview', 'enter', 'review'],
  ['keepStep', 'enter', 'review'],
  ['addStepResult', 'enter', 'review'],
  ['finishReview', 'pass', 'review'],
  ['updateTask', 'none', 'review'],
  ['recordHookResults', 'none', 'review'],
  ['moveTask', 'enter', 'done'],
  ['takeWatch', 'enter', 'done'],
  ['queueMerge', 'enter', 'done'],
  ['takeMerge', 'enter', 'done'],
  ['takeLanding', 'enter', 'done'],
  ['finishMerge', 'land', 'done'],
  ['changeAttempt', 'land', 'done'],
  ['recordHookResults', 'land', 'done'],
  ['moveTask', 'enter', 'done'],
  ['takeWatch', 'enter', 'done'],
  ['changeAttempt', 'none', 'done'],
  ['changeAttempt', 'none', 'done'],
  ['recordHookResults', 'none', 'done'],
];
const FIRST_OF_QUEUE = POINTS.findIndex(([write]) => write === 'queueMerge');
/** After these the rows are as they were before, as far as anybody else is concerned; the soak has them too. */
const QUIET = ['takeWatch', 'takeMessages', 'keepStep', 'recordHookResults'];

describe('a process that is killed', () => {
  it('[S217] after any of its writes is gone on from by the next start', async () => {
    const loud = POINTS.flatMap(([write], at) => (QUIET.includes(write) ? [] : [at]));
    const points = shareOf(loud, 3);
    // Whoever waits in the queue settles what is dead there: those are killed one by one.
    const early = points.filter((at) => at < FIRST_OF_QUEUE);
    const found = await goOn(await inTurns(early, 6, (at) => kill(at + 1)));
    for (const at of points.slice(early.length)) found.push(...(await goOn([await kill(at + 1)])));
    expect(found).toEqual(points.map((at) => POINTS[at]));
    expect(readdirSync(shop.place.root)).toEqual([]);
    expect(shop.repo.git('for-each-ref', 'refs/heads/forge', 'refs/forge/keep')).toBe('');
    expect(shop.repo.git('status', '--porcelain')).toBe('');
    shop.repo.git('fsck', '--strict');
  }, 120_000);

  it('[S2-F7] has not landed because a commit of another says so', async () => {
    const at = POINTS.findIndex(([write]) => write === 'takeMerge');
    const killed = await kill(at + 1);
    const [attempt] = await shop.place.store.listAttempts({ task_id: killed.id });
    shop.repo.git('commit', '--allow-empty', '-qm', `forged\n\nForge-Attempt: ${attempt?.id}`);
    // The next start merges it, and looks whether main has its file.
    expect(await goOn([killed])).toEqual([['takeMerge', 'enter', 'done']]);
  });

  it('is gone on from by one of all who find it', async () => {
    const killed = await inTurns([5, 14, 17, 20], 4, (lives) => kill(lives));
    const others = [1, 2, 3].map(() => new Workshop({ ...shop.place, watcher: livingProcess() }));
    const found = await Promise.all(others.map((other) => resumeTasks(other)));
    await Promise.all(others.map((other) => other.settled()));
    const ids = found.flat().map(({ task_id }) => task_id);
    expect(ids.toSorted()).toEqual(killed.map(({ id }) => id).toSorted());
    await Promise.all(killed.map(({ id }) => workTask(shop.workshop, shop.as(), { id, ...RUN })));
    for (const { id, write } of killed) await expectMerged(id, write);
  });

  it('while somebody else goes on is nobody’s business', async () => {
    const { id } = await shop.create('Alive', { steps: STEPS });
    const dying = openDying(shop, 5, livingProcess());
    const engine = { ...shop.as(), store: dying.dying.store, work: async () => dying.workshop };
    workTask(dying.workshop, engine, { id, ...RUN }).catch(() => undefined);
    await dying.dying.died;
    expect(await resumeTasks(shop.workshop, { unwatched_ms: 0 })).toEqual([]);
    const [run] = await shop.place.store.listRuns({ task_id: id });
    expect(run).toMatchObject({ state: 'scheduled', ended_at: null });
    await cancel(id);
  });

  it('in the middle of a claim that starts nothing is not missed', async () => {
    const { store } = shop.place;
    const mine = await shop.create('A person’s');
    await claimTask(shop.as(), { id: mine.id, assignee: 'ann', force: false });
    const theirs = await shop.create('For an agent that is started elsewhere');
    await claimTask({ ...shop.as(), follows: false }, { id: theirs.id, assignee: 'w1', force: false });
    // Somebody was killed at work on it once, long before this claim.
    await store.takeWatch({ task_id: theirs.id, watcher: goneProcess() }, 1);
    expect(await resumeTasks(shop.workshop, { unwatched_ms: 0 })).toEqual([]);
    for (const { id } of [mine, theirs]) expect((await store.getTask(id)).state).toBe('in_progress');
    expect(await store.listWatchedTasks()).toEqual([]);
  });

  it('is found without a word of who it was, when nobody has said anything for a while', async () => {
    const { id, write } = await kill(14);
    const { store } = shop.place;
    const watch = (await store.listWatchedTasks()).find(({ task_id }) => task_id === id);
    await store.noteUnwatched({ task_id: id, watcher: watch?.watcher ?? goneProcess() });
    expect(await resumeTasks(shop.workshop)).toEqual([]);
    expect(await resumeTasks(shop.workshop, { unwatched_ms: 0 })).toEqual([{ task_id: id, step: 'enter' }]);
    await workTask(shop.workshop, shop.as(), { id, ...RUN });
    await expectMerged(id, write);
  });

  it.each(
    shareOf(
      [
        ['that stays', {}],
        ['that does not stay', { starts_nothing: true }],
      ],
      2,
    ),
  )('leaves work that was not asked for to others: a process %s', async (_, more) => {
    const [gate, claim] = [await kill(17), await kill(4)];
    const wishes = { only: new Set<string>(), ...more };
    expect(await resumeTasks(shop.workshop, wishes)).toEqual([{ task_id: claim.id, step: 'give_back' }]);
    await shop.workshop.settled();
    await goOn([gate]);
    await cancel(claim.id);
  });

  it('does not try again and again what stays as it is', async () => {
    const { id } = await kill(17);
    const tried = new Set<string>();
    const key = `${id} ${(await shop.place.store.getTask(id)).version} enter`;
    tried.add(key);
    expect(await resumeTasks(shop.workshop, { tried })).toEqual([]);
    await goOn([{ id, write: 'startReview' }]);
  });
});

describe('what is left of it', () => {
  it('is a folder that no row knows: it goes, and what it holds is kept', async () => {
    const { id, write } = await kill(10);
    const [attempt] = await shop.place.store.listAttempts({ task_id: id });
    const control = await openControl(shop.place);
    const path = join(shop.place.root, 'nobody-knows');
    await startCheckout(control, {
      attempt_id: 'nobody-knows',
      name: 'nobody-knows',
      root: shop.place.root,
      path,
      base: attempt?.base_commit ?? '',
      facts: { task: id },
    });
    await writeFile(join(path, 'left.txt'), 'left\n');
    const removed = await sweepFolders(shop.place);
    expect(removed.map(({ name }) => name)).toEqual(['nobody-knows']);
    expect(existsSync(path)).toBe(false);
    const [rescue] = shop.repo.git('for-each-ref', '--format=%(refname)', 'refs/forge/rescue').split('\n');
    expect(shop.repo.git('show', `${rescue}:left.txt`)).toBe('left');
    await goOn([{ id, write }]);
  });

  it('[S218] is a run that nobody has heard of, of a process that lives: its program is gone', async () => {
    const { id } = await shop.create('Silent', { steps: STEPS });
    const { workshop, dying } = openDying(shop, 10, livingProcess());
    const engine = { ...shop.as(), store: dying.store, work: async () => workshop };
    workTask(workshop, engine, { id, ...RUN }).catch(() => undefined);
    await dying.died;
    await expect.poll(() => silent(0), { timeout: 20_000 }).toHaveLength(1);
    const [run] = await shop.place.store.listRuns({ task_id: id });
    expect(run).toMatchObject({ state: 'failed', outcome: 'crashed' });
    expect(await silent(0)).toEqual([]);
    await cancel(id);
  });

  it('[S232] is not one that was heard of a moment ago: while an agent of the shell works, its watcher says so', async () => {
    expect(await silent(LIMITS.run_silence_ms)).toEqual([]);
    shop.addAgent('slow', 'echo x > x; until test -e .git/go; do sleep 0.05; done');
    const task = await shop.create('Beats');
    const working = shop.work(task, 'slow');
    const since = Date.now();
    const beat = async (): Promise<number> => (await shop.place.store.listOpenRuns())[0]?.beat_at ?? 0;
    await expect.poll(beat, { timeout: 20_000 }).toBeGreaterThanOrEqual(since);
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    await writeFile(join(attempt?.path ?? '', '.git/go'), '');
    await working;
  });
});

describe('a task that a process was at work on', () => {
  const claimed = async (title: string): Promise<string> => {
    const { id } = await shop.create(title);
    await claimTask({ ...shop.as(), follows: false }, { id, assignee: 'w1', force: false });
    return id;
  };
  const watch = (task_id: string, since: number): Promise<boolean> =>
    shop.place.store.takeWatch({ task_id, watcher: goneProcess() }, since);
  const watched = async (id: string): Promise<boolean> =>
    (await shop.place.store.listWatchedTasks()).some(({ task_id }) => task_id === id);
  /** The workshop of a process whose store does this. */
  const openWith = (changed: Partial<TempWorkshop['place']['store']>): Workshop =>
    new Workshop({ ...shop.place, store: { ...shop.place.store, ...changed } });

  it('was about to start an agent where its last word is not older than the claim by more than the silence', async () => {
    const id = await claimed('On the edge');
    const [move] = await shop.place.store.listTransitions({ id, limit: 1 });
    const entered = Date.parse(move?.created_at ?? '');
    await watch(id, entered - 1_001);
    expect(await resumeTasks(shop.workshop, { unwatched_ms: 1_000 })).toEqual([]);
    await watch(id, entered - 1_000);
    expect(await resumeTasks(shop.workshop, { unwatched_ms: 1_000 })).toEqual([
      { task_id: id, step: 'give_back' },
    ]);
    await shop.workshop.settled();
    await cancel(id);
  });

  it('is not forgotten because the store is busy', async () => {
    const id = await claimed('Busy');
    await watch(id, shop.place.clock.now());
    const busy = new ForgeError('store_busy', 'The database is busy');
    const workshop = openWith({ readStanding: () => Promise.reject(busy) });
    await expect(resumeTasks(workshop)).rejects.toBe(busy);
    expect(await watched(id)).toBe(true);
    await cancel(id);
  });

  it('is not forgotten while a run of it has not ended', async () => {
    const { id } = await shop.create('Open');
    const { workshop, dying } = openDying(shop, 5, livingProcess());
    const engine = { ...shop.as(), store: dying.store, work: async () => workshop };
    workTask(workshop, engine, { id, ...RUN }).catch(() => undefined);
    await dying.died;
    await watch(id, shop.place.clock.now());
    expect(await resumeTasks(shop.workshop, { unwatched_ms: 0 })).toEqual([]);
    expect(await watched(id)).toBe(true);
    await cancel(id);
  });

  it('is left as another made it meanwhile', async () => {
    const id = await claimed('Raced');
    await watch(id, shop.place.clock.now());
    const { store } = shop.place;
    const workshop = openWith({
      takeWatch: async (...args) => {
        await store.updateTask({ id, title: 'Changed meanwhile' }, shop.as().by);
        return store.takeWatch(...args);
      },
    });
    expect(await resumeTasks(workshop)).toEqual([{ task_id: id, step: 'give_back' }]);
    await workshop.settled();
    expect(await store.getTask(id)).toMatchObject({ title: 'Changed meanwhile', state: 'in_progress' });
    await cancel(id);
  });

  it('has a merged attempt where its merge has landed', async () => {
    const { id, write } = await kill(POINTS.findIndex((point) => point[0] === 'finishMerge') + 1);
    expect(await resumeTasks(shop.workshop)).toEqual([{ task_id: id, step: 'land' }]);
    await shop.workshop.settled();
    const [merge] = await shop.place.store.listMerges({ task_id: id });
    const [attempt] = await shop.place.store.listAttempts({ task_id: id });
    expect(attempt).toMatchObject({ state: 'merged', merge_commit: merge?.candidate });
    await expectMerged(id, write);
  });
});

/** The process that lives may hold the folder too, and would be waited for. */
const silent = async (ms: number) => {
  const place = { ...shop.place, folders: new FolderLocks(shop.place, 100) };
  return (await settleSilent(place, () => false, ms)).runs;
};

async function cancel(id: string): Promise<void> {
  const { store, watcher, clock } = shop.place;
  await store.takeWatch({ task_id: id, watcher }, clock.now());
  for (const run of await store.listRuns({ task_id: id, open: true }))
    await store.moveRun({ id: run.id, to: 'cancelled' }, systemWriter(shop.place));
  await shop.move({ id } as Task, 'cancelled');
}

/** Another one that is alive and does nothing. */
function livingProcess(): ProcessMark {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' });
  living.push(child);
  const mark = findIdentity(child.pid ?? 0);
  if (mark === undefined) throw new Error('it has ended already');
  return mark;
}
const living: ChildProcess[] = [];
afterAll(() => living.forEach((child) => void child.kill('SIGKILL')));

interface Killed {
  readonly id: string;
  readonly write: string;
}

async function kill(lives: number): Promise<Killed> {
  const { id } = await shop.create(`Point ${lives}`, { steps: STEPS });
  const { writes, over } = await killAfter(shop, lives, { id, ...RUN });
  expect(over).toBe(false);
  return { id, write: writes.at(-1) ?? '' };
}

/** The next start; then the command that was killed, again. */
async function goOn(killed: readonly Killed[]): Promise<Point[]> {
  const { store } = shop.place;
  const resumed = await recoverProject(shop.workshop);
  await shop.workshop.settled();
  expect([...(await store.listOpenRuns()), ...(await store.listOpenReviews())]).toEqual([]);
  expect(await store.listOpenMerges()).toEqual([]);
  await recoverProject(shop.workshop);
  return inTurns(killed, 4, async ({ id, write }) => {
    const { state } = await store.getTask(id);
    const steps = resumed.flatMap(({ task_id, step }) => (task_id === id ? [step] : []));
    if (state !== 'done') await workTask(shop.workshop, shop.as(), { id, ...RUN });
    await expectMerged(id, write);
    return [write, steps.join(', ') || 'none', state];
  });
}

/** Once, whole, and nothing of it is left. */
async function expectMerged(id: string, write: string): Promise<void> {
  const { store } = shop.place;
  const { state, error_annotation } = await store.getTask(id);
  expect({ write, state, error_annotation }).toEqual({ write, state: 'done', error_annotation: undefined });
  expect(shop.repo.git('show', `main:${id}.txt`)).toBe(id);
  const landed = (await store.listMerges({ task_id: id })).filter((merge) => merge.state === 'landed');
  expect(landed).toHaveLength(1);
  const attempts = await store.listAttempts({ task_id: id });
  expect(attempts.filter(({ removed_at, path }) => removed_at === null || existsSync(path))).toEqual([]);
}

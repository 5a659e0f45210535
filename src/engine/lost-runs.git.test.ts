import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Attempt } from '#contract/attempt.ts';
import type { Task } from '#contract/task.ts';
import { NO_USAGE } from '#domain/count-usage.ts';
import { NO_AGENTS } from '#domain/claimer.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readOwnIdentity } from '#process/process-identity.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { concludePlan } from './apply-plan.ts';
import { assignRole } from './assign-role.ts';
import { claimTask, releaseTask, updateTask } from './change-task.ts';
import { endLost } from './end-lost.ts';
import { resumeTasks } from './resume-tasks.ts';
import { moveAfterWork } from './settle-run.ts';
import { createRun } from './start-run.ts';
import { transitionTask } from './transition-task.ts';
import { toHold } from './work.ts';
import { Workshop } from './workshop.ts';

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

/** Its processes, in the order they were started; each says so in a file of the folder. */
const SLOW = 'echo $$ >> pids; sleep 600 & echo $! >> pids; wait; echo late > late.txt';

type Change = (task: Task) => Promise<unknown>;

/** Every way by which a task is taken from whoever works on it. */
const LOSSES: readonly (readonly [string, Change, string])[] = [
  ['release --force', ({ id }) => releaseTask(shop.as(), release(id)), 'todo'],
  ['assignee: null', ({ id }) => updateTask(shop.as(), { id, assignee: null }), 'todo'],
  ['status: open', ({ id }) => updateTask(shop.as(), { id, status: 'open' }), 'todo'],
  ['state: backlog', ({ id }) => updateTask(shop.as(), { id, status: 'open', state: 'backlog' }), 'backlog'],
  ['another assignee', ({ id }) => updateTask(shop.as(), { id, assignee: 'ext' }), 'in_progress'],
  ['a claim by force', ({ id }) => claimTask(shop.as(), { id, assignee: 'ann', force: true }), 'in_progress'],
  ['transition todo', ({ id }) => transitionTask(shop.as(), { id, to: 'todo', reason: null }), 'todo'],
  [
    'transition blocked',
    ({ id }) => transitionTask(shop.as(), { id, to: 'blocked', reason: null }),
    'blocked',
  ],
  ['transition review', ({ id }) => transitionTask(shop.as(), { id, to: 'review', reason: null }), 'review'],
  ['cancel', ({ id }) => transitionTask(shop.as(), { id, to: 'cancelled', reason: null }), 'cancelled'],
  ['archive', ({ id }) => change(id, { workflow_fields: new Map([['archived_at', 'now']]) }), 'in_progress'],
  [
    'delete',
    ({ id }) => shop.place.store.deleteTask({ id }, by()).then(() => endLost(shop.as(), id)),
    'gone',
  ],
];

describe('[C1] an owner that loses a task loses its run', () => {
  it.each(shareOf(LOSSES, 4))('%s', async (_, lose, state) => {
    const { task, pids, done } = await startSlow();
    await lose(task);
    // When the change is answered nothing of it is left.
    expect(pids.filter(isAlive)).toEqual([]);
    const [run, ...others] = await shop.place.store.listRuns({ task_id: task.id });
    expect([run?.outcome, others]).toEqual(['stopped', []]);
    await done;
    const now = await shop.place.store.getTask(task.id).catch(ignoreGone);
    expect(now?.state ?? 'gone').toBe(state);
  });

  it('also where nobody waits for it: a change that was written elsewhere is seen', async () => {
    const { task, pids, done } = await startSlow();
    await shop.place.store.releaseTask(release(task.id), by());
    await done;
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'todo', assignee: null });
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    expect(run).toMatchObject({ outcome: 'stopped', message: `Stopped: ${task.id} was released` });
  });

  it('removal of its agent stops it and puts the task back into the queue', async () => {
    const { task, pids, done } = await startSlow();
    shop.removeAgent('slow');
    await done;
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await shop.place.store.getTask(task.id)).toMatchObject({
      state: 'todo',
      assignee: null,
      error_annotation: { code: 'agent_removed' },
    });
  });

  it('[O7] removal of its agent counts also where another is added by its name at once; a change does not', async () => {
    const { task, pids, done } = await startSlow();
    shop.addAgent('slow', 'echo changed > changed.txt');
    await sleep(2 * LIMITS.agent_look_ms);
    expect(pids.filter(isAlive)).toEqual(pids);
    shop.removeAgent('slow');
    shop.addAgent('slow', 'echo new > new.txt');
    await done;
    expect(pids.filter(isAlive)).toEqual([]);
    expect(await shop.place.store.getTask(task.id)).toMatchObject({
      state: 'todo',
      error_annotation: { code: 'agent_removed' },
    });
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    expect(run).toMatchObject({ outcome: 'stopped', message: 'Stopped: slow was removed' });
  });

  it.each(
    shareOf(
      [
        // It refuses to go for a while.
        [
          'a release and a claim',
          'trap "" TERM;',
          (id: string) => releaseTask(shop.as(), release(id)).then(() => claimFor(id)),
        ],
        ['a claim by force', '', (id: string) => claimFor(id, true)],
        ['another assignee', '', (id: string) => updateTask(shop.as(), { id, assignee: 'next' })],
      ],
      3,
    ),
  )('%s for another agent of ours starts it when the first is gone', async (_, trap, hand) => {
    shop.addAgent('slow', `${trap} ${SLOW}`);
    // Whoever of the first is alive, and no zombie.
    const look = 'for pid in $(cat pids); do grep -s ") [^Z] " /proc/$pid/stat >> together; done';
    shop.addAgent('next', `${look}; rm pids; echo next > next.txt`);
    const { task, pids, done } = await startSlow();
    await hand(task.id);
    await done;
    await shop.workshop.settled();
    expect(pids.filter(isAlive)).toEqual([]);
    const runs = await shop.place.store.listRuns({ task_id: task.id });
    expect(runs.map(({ agent, outcome }) => [agent, outcome])).toEqual([
      ['slow', 'stopped'],
      ['next', 'completed'],
    ]);
    const [attempt] = await shop.place.store.listAttempts({ task_id: task.id });
    expect(shop.repo.git('show', `${attempt?.branch}:together`)).toBe('');
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state: 'review', assignee: 'next' });
  });

  it.each(shareOf(['completed', 'failed', 'stopped', 'usage_limit'] as const, 4))(
    '%s, said too late, moves nothing',
    async (outcome) => {
      shop.addAgent('quick', 'echo work > work.txt');
      const task = await shop.create('Late');
      const { store } = shop.place;
      await shop.work(task, 'quick');
      const [run] = await store.listRuns({ task_id: task.id });
      if (run === undefined) throw new Error('it did not run');
      // Back at work with another owner, in the same state: only the number of the claim tells them apart.
      await transitionTask(shop.as(), { id: task.id, to: 'in_progress', reason: null });
      await shop.workshop.settled();
      await store.updateTask({ id: task.id, status: 'open', agents: NO_AGENTS }, by());
      await store.claimTask({ id: task.id, assignee: 'ext', force: false, agents: NO_AGENTS }, by());
      const before = await store.getTask(task.id);
      expect(before).toMatchObject({ state: run.in_state, assignee: 'ext' });
      const conclusion = { outcome, message: 'late', retry_after: null };
      await moveAfterWork(shop.as(), { task: before, run }, conclusion, { count: 1, limit: 3 });
      expect(await store.getTask(task.id)).toEqual(before);
    },
  );

  it.each(
    shareOf(
      [
        ['released', 'todo', (id: string) => releaseTask(shop.as(), release(id))],
        ['given to another', 'in_progress', (id: string) => updateTask(shop.as(), { id, assignee: 'ext' })],
        [
          'cancelled',
          'cancelled',
          (id: string) => transitionTask(shop.as(), { id, to: 'cancelled', reason: null }),
        ],
      ],
      3,
    ),
  )('%s while its folder is set up: the set-up ends, and nobody is started', async (_, state, lose) => {
    const flag = join(shop.place.records, '..', 'setting-up');
    shop.set({ workspace: { setup: [`echo $$ > ${flag}; sleep 600`] } });
    shop.addAgent('slow', SLOW);
    const task = await shop.create('Set up');
    const done = shop.work(task, 'slow');
    await expect.poll(() => existsSync(flag), { timeout: 20_000 }).toBe(true);
    await lose(task.id);
    await done;
    expect(isAlive(Number(readFileSync(flag, 'utf8')))).toBe(false);
    expect(await shop.place.store.listRuns({ task_id: task.id })).toEqual([]);
    expect(await shop.place.store.getTask(task.id)).toMatchObject({ state });
  });

  it.each<[string, (id: string) => Promise<unknown>, object]>(
    shareOf(
      [
        ['another assignee', (id) => updateTask(shop.as(), { id, assignee: 'ext' }), { assignee: 'ext' }],
        ['a claim by force', (id) => claimFor(id, true), { assignee: 'next' }],
        ['archive', (id) => change(id, { workflow_fields: new Map([['archived_at', 'now']]) }), {}],
      ],
      3,
    ),
  )('[O3] %s ends the auditor, and its end moves nothing', async (_, lose, owner) => {
    const { id, pid, done } = await startAudited();
    await lose(id);
    expect(isAlive(pid)).toBe(false);
    await done;
    const now = await shop.place.store.getTask(id);
    expect(now).toMatchObject({ state: 'review', ...owner });
    expect(now.error_annotation).toBeUndefined();
    // What is archived stays as it is; the rest is reviewed again.
    const again = await resumeTasks(shop.workshop, { unwatched_ms: 0 });
    expect(again.map(({ step }) => step)).toEqual(now.archived_at === undefined ? ['enter'] : []);
    if (now.archived_at === undefined) await begunAudit();
    shop.removeAgent('critic');
    await shop.workshop.settled();
  });

  inSoak(() => {
    it('[O3] a deleted task takes its auditor with it', async () => {
      const { id, pid, done } = await startAudited();
      await shop.place.store.deleteTask({ id }, by());
      await endLost(shop.as(), id);
      expect(isAlive(pid)).toBe(false);
      await done;
      await shop.workshop.settled();
    });
  });

  it('[O3] a removed auditor leaves a review that waits for somebody, and is begun anew by the next one', async () => {
    const { id, pid, done } = await startAudited();
    shop.removeAgent('critic');
    await done;
    expect(isAlive(pid)).toBe(false);
    const { store } = shop.place;
    const waiting = await store.getTask(id);
    expect(waiting).toMatchObject({ state: 'review', assignee: 'w1' });
    expect(waiting.error_annotation).toBeUndefined();
    expect((await store.listReviews({ task_id: id })).map(({ status }) => status)).toEqual([
      'void',
      'waiting',
    ]);
    shop.addAgent('other', `echo '{"verdict":"pass","summary":"fine","findings":[]}'`);
    await assignRole(shop.as(), { id, role: 'reviewer', holder: { agent: 'other' }, ...NO_RESET });
    await resumeTasks(shop.workshop, { unwatched_ms: 0 });
    await shop.workshop.settled();
    expect((await store.listReviews({ task_id: id })).at(-1)).toMatchObject({
      status: 'passed',
      verdict_by: 'agent:other',
    });
  });

  it('[O3] the plan of a task that was taken away is not written', async () => {
    const plan = {
      summary: 's',
      subtasks: [{ title: 'Part', description: '', depends_on: [] }],
      checklist: [],
    };
    const { task, done } = await startSlow();
    const [run] = await shop.place.store.listRuns({ task_id: task.id });
    if (run === undefined) throw new Error('it did not run');
    await updateTask(shop.as(), { id: task.id, assignee: 'ext' });
    await done;
    const end = { outcome: 'completed', structured: plan, ...NOTHING_SAID } as const;
    expect(await concludePlan(shop.place, { task, run }, end)).toMatchObject({ outcome: 'stopped' });
    expect(await shop.place.store.listTasks({ parent_id: task.id })).toEqual([]);
  });

  it('a claim that is refused takes nothing from whoever is setting up', async () => {
    const flag = join(shop.place.records, '..', 'setting-up');
    shop.set({ workspace: { setup: [`touch ${flag}; until [ -e ${flag}.go ]; do sleep 0.05; done`] } });
    shop.addAgent('quick', 'echo x > x');
    shop.addAgent('next', 'echo y > y');
    const task = await shop.create('Contended');
    const working = shop.work(task, 'quick');
    await expect.poll(() => existsSync(flag), { timeout: 20_000 }).toBe(true);
    // Another process on the same project.
    const { store } = shop.place;
    const other = new Workshop({ ...shop.place, watcher: { ...readOwnIdentity(), pid: process.ppid } });
    const engine = { ...shop.as(), work: async () => other };
    const before = await store.listWatchedTasks();
    expect(await claimTask(engine, { id: task.id, assignee: 'next', force: false })).toMatchObject({
      outcome: 'taken',
      owner: 'quick',
    });
    await expect(other.resume(await store.getTask(task.id), 'quick')).rejects.toMatchObject({
      code: 'state_invalid',
    });
    expect(await store.listWatchedTasks()).toEqual(before);
    expect(await resumeTasks(other, { unwatched_ms: 0 })).toEqual([]);
    writeFileSync(`${flag}.go`, '');
    expect(await working).toMatchObject({ state: 'review', assignee: 'quick' });
  });

  it('an agent that was removed while its folder was set up is not started', async () => {
    const flag = join(shop.place.records, '..', 'setting-up');
    shop.set({ workspace: { setup: [`touch ${flag}; until [ -e ${flag}.go ]; do sleep 0.05; done`] } });
    shop.addAgent('quick', 'echo x > x');
    const task = await shop.create('Orphaned');
    const working = shop.work(task, 'quick');
    await expect.poll(() => existsSync(flag), { timeout: 20_000 }).toBe(true);
    shop.removeAgent('quick');
    writeFileSync(`${flag}.go`, '');
    expect(await working).toMatchObject({
      state: 'todo',
      error_annotation: { message: 'quick was removed' },
    });
    expect(await shop.place.store.listRuns({ task_id: task.id })).toEqual([]);
  });

  it('a claim that starts nobody is not taken for one that was cut off', async () => {
    const flag = join(shop.place.records, '..', 'setting-up');
    shop.set({ workspace: { setup: [`touch ${flag}; sleep 600`] } });
    shop.addAgent('slow', SLOW);
    shop.addAgent('next', 'echo y > y');
    const task = await shop.create('Forced');
    const working = shop.work(task, 'slow');
    await expect.poll(() => existsSync(flag), { timeout: 20_000 }).toBe(true);
    const command = { ...shop.as(), follows: false };
    expect(await claimTask(command, { id: task.id, assignee: 'next', force: true })).toMatchObject({
      outcome: 'claimed',
    });
    await working;
    expect(await resumeTasks(shop.workshop, { unwatched_ms: 0 })).toEqual([]);
    expect(await shop.place.store.getTask(task.id)).toMatchObject({
      state: 'in_progress',
      assignee: 'next',
    });
  });

  it('two never work in one folder, and nobody starts in the place of somebody else', async () => {
    const { task, done } = await startSlow();
    const { store } = shop.place;
    const [attempt] = await store.listAttempts({ task_id: task.id });
    const agent = { name: 'other', profile: { executor: 'null', permissions: 'all' }, env: {} } as const;
    const standing = await store.readStanding(task.id);
    const start = (hold: { fence: number; in_state: string }): Promise<unknown> =>
      createRun(shop.place, { attempt: attempt as Attempt, role: 'coder', agent, hold });
    await expect(start(toHold(standing))).rejects.toMatchObject({ code: 'state_invalid' });
    await expect(start({ ...toHold(standing), fence: standing.fence - 1 })).rejects.toMatchObject({
      code: 'fence_conflict',
    });
    await expect(start({ ...toHold(standing), in_state: 'review' })).rejects.toMatchObject({
      code: 'fence_conflict',
    });
    await releaseTask(shop.as(), release(task.id));
    await done;
  });
});

const NO_RESET = { reset_worktree: false, reset_workspace: false } as const;

const NOTHING_SAID = {
  exit_code: 0,
  denials: 0,
  survivors: 0,
  usage: NO_USAGE,
} as const;

/** The work of `w1`, in its review by `critic`, who is at it. */
async function startAudited(): Promise<{ id: string; pid: number; done: Promise<unknown> }> {
  shop.addAgent('w1', 'echo x > x');
  shop.addAgent('next', 'echo y > y');
  shop.addAgent('critic', `echo $$ > ${auditorFile()}; sleep 600`);
  const { id } = await shop.create('Audited', { steps: ['true'] });
  const task = await assignRole(shop.as(), {
    id,
    role: 'reviewer',
    holder: { agent: 'critic' },
    ...NO_RESET,
  });
  const done = shop.work(task, 'w1').catch(ignoreGone);
  return { id, pid: await begunAudit(), done };
}

function auditorFile(): string {
  return join(shop.place.records, '..', 'auditor.pid');
}

async function begunAudit(): Promise<number> {
  const find = (): boolean => existsSync(auditorFile()) && readFileSync(auditorFile(), 'utf8') !== '';
  await expect.poll(find, { timeout: 20_000 }).toBe(true);
  const pid = Number(readFileSync(auditorFile(), 'utf8'));
  rmSync(auditorFile());
  return pid;
}

function release(id: string) {
  return { id, owner: 'ann', force: true, reason: null };
}

function by() {
  return { actor: shop.as().by.actor, now: shop.engine.temp.clock.now() };
}

function claimFor(id: string, force = false): Promise<unknown> {
  return claimTask(shop.as(), { id, assignee: 'next', force });
}

async function change(id: string, fields: { workflow_fields: Map<string, string> }): Promise<void> {
  await shop.place.store.updateTask({ id, ...fields }, by());
  await endLost(shop.as(), id);
}

async function startSlow(): Promise<{ task: Task; pids: number[]; done: Promise<unknown> }> {
  if (shop.place.agents.find('slow') === undefined) shop.addAgent('slow', SLOW);
  const task = await shop.create('Slow');
  const done = shop.work(task, 'slow').catch(ignoreGone);
  const { path } = await begun(task.id, 2);
  const pids = readFileSync(join(path, 'pids'), 'utf8').trim().split('\n').map(Number);
  expect(pids.filter(isAlive)).toEqual(pids);
  return { task, pids, done };
}

async function begun(task_id: string, lines = 1): Promise<{ path: string }> {
  for (let looks = 0; looks < 400; looks += 1) {
    const [attempt] = await shop.place.store.listAttempts({ task_id });
    const file = attempt && join(attempt.path, 'pids');
    if (attempt && file && existsSync(file) && readFileSync(file, 'utf8').split('\n').length > lines)
      return attempt;
    await sleep(25);
  }
  throw new Error('its agent was not started');
}

/** One that has ended and that nobody has asked for its end is not. */
function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function ignoreGone(error: unknown): undefined {
  if (!isForgeError(error) || error.code !== 'not_found') throw error;
  return undefined;
}

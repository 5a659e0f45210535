import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunOutcome } from '#contract/attempt.ts';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { Task } from '#contract/task.ts';
import type { ExecutorProfile } from '#executors/executor.ts';
import { toIso } from '#kernel/clock.ts';
import { LIMITS } from '#kernel/limits.ts';
import { agentCommand } from '../../tests/support/executor-run.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { assignRole } from './assign-role.ts';
import { countFailures } from './count-failures.ts';
import { resumeTasks } from './resume-tasks.ts';
import { dispatchTasks } from './dispatch-tasks.ts';
import { Scheduler, type DispatchWishes, type Tick } from './scheduler.ts';
import { workTask } from './work-task.ts';

const LONG = { first_ms: 600_000, last_ms: 600_000 };
const DO_IT = 'echo "$FORGE_TASK_ID" > "$FORGE_TASK_ID.txt"';
const PASS = `echo '{"verdict":"pass","summary":"good","findings":[]}'`;
const PLAN = `echo '{"summary":"easy","subtasks":[],"checklist":[]}'`;

let shop: TempWorkshop;
let told: string[];
const open = async (faults = LONG): Promise<void> => {
  await shop?.[Symbol.asyncDispose]();
  shop = await tempWorkshop({ faults });
};
beforeEach(async () => {
  shop = await tempWorkshop({ faults: LONG });
  told = [];
});
afterEach(() => shop[Symbol.asyncDispose]());

const wishes = (agents?: string[]): DispatchWishes => ({
  merge: true,
  agents,
  tell: (line) => void told.push(line),
  backoff: { first_ms: 20, last_ms: 40 },
});

const newScheduler = (agents: string[]): Scheduler => new Scheduler(shop.workshop, wishes(agents));

const dispatch = (): Promise<WorkedTask[]> =>
  dispatchTasks(shop.workshop, { ...wishes(), until_empty: true });

/** Starts what may be started, until nothing is at work; gives what the last look found. */
async function tickUntilQuiet(agents: string[]): Promise<Tick> {
  const scheduler = newScheduler(agents);
  for (;;) {
    const tick = await scheduler.tick();
    if (tick.started === 0 && scheduler.working === 0 && shop.workshop.busy === 0) return tick;
    await scheduler.finish();
    await shop.workshop.settled();
  }
}

const assign = (task: Task, role: string, agent: string): Promise<unknown> =>
  assignRole(shop.as(), {
    id: task.id,
    role,
    holder: { agent },
    reset_worktree: false,
    reset_workspace: false,
  });

const states = (tasks: readonly Task[]): Promise<string[]> =>
  Promise.all(tasks.map(async (task) => (await read(task)).state));
const read = ({ id }: Task) => shop.place.store.getTask(id);
const outcomes = async ({ id }: Task): Promise<(RunOutcome | null)[]> =>
  (await shop.place.store.listRuns({ task_id: id })).map(({ outcome }) => outcome);

function useScript(steps: readonly object[]): Pick<ExecutorProfile, 'executor' | 'command'> {
  const file = join(shop.place.home, 'script.json');
  writeFileSync(file, JSON.stringify({ steps }));
  return { executor: 'script', command: [file] };
}

const shell = (script: string) => () => ({ executor: 'shell', command: ['bash', '-c', script] });
const play = (type: string) => () => useScript([{ fail: { message: 'no', type } }]);
const speak = (kind: string, scenario: string) => () => ({
  executor: kind,
  command: agentCommand(kind, scenario),
});
const absent = (executor: string) => () => ({ executor, command: ['/no/such/program'] });

/** What an agent is started with, and what becomes of its run. */
const FAULTS: readonly [string, () => Pick<ExecutorProfile, 'executor' | 'command'>, RunOutcome][] = [
  ['shell, a program that is not there', absent('shell'), 'not_installed'],
  ['shell, a command that is not there', shell('no-such-command'), 'not_installed'],
  ['shell, EX_TEMPFAIL', shell('exit 75'), 'unavailable'],
  ['shell, EX_NOPERM', shell('exit 77'), 'auth'],
  ['script, a limit', play('usage_limit'), 'usage_limit'],
  ['script, an outage', play('overloaded'), 'unavailable'],
  ['script, no login', play('authentication'), 'auth'],
  ['claude, not there', absent('claude'), 'not_installed'],
  ['claude, no network', speak('claude', 'network'), 'unavailable'],
  ['codex, not there', absent('codex'), 'not_installed'],
  ['codex, no network', speak('codex', 'network'), 'unavailable'],
  ['acp, not there', absent('acp'), 'not_installed'],
  ['acp, no login', speak('acp', 'auth'), 'auth'],
];

/** One of each way to wait. */
const TYPICAL = [FAULTS[0], FAULTS[2], FAULTS[4]].filter((one) => one !== undefined);

/** Where the agent is used: what makes the tasks, and what its work is when it can work. */
const SURFACES = {
  coder: { good: DO_IT, prepare: async (): Promise<void> => undefined },
  planner: {
    good: PLAN,
    prepare: async (task: Task): Promise<void> => {
      await assign(task, 'planner', 'weak');
      await assign(task, 'coder', 'coder');
    },
  },
  reviewer: { good: PASS, prepare: (task: Task) => assign(task, 'reviewer', 'weak') },
} as const;

function weaken(fault: () => Pick<ExecutorProfile, 'executor' | 'command'>): void {
  shop.addAgent('weak', '', { profile: { ...fault(), permissions: 'all' } });
}

/** The fault is gone, and a person says so. */
function mend(good: string): void {
  shop.addAgent('weak', good, { resumed_at: toIso(shop.place.clock.now()) });
}

describe('[A16] a fault of the agent or the world', () => {
  it('spends nothing of a task, with any executor', async () => {
    for (const [what, fault, outcome] of shareOf(FAULTS, 4)) {
      weaken(fault);
      const { id } = await shop.create(what);
      const worked = await workTask(shop.workshop, shop.as(), { id, agent: 'weak', merge: true });
      expect([what, worked]).toMatchObject([
        what,
        { reached: false, task: { state: 'todo', assignee: null } },
      ]);
      expect([what, worked.runs]).toMatchObject([what, [{ outcome, state: 'blocked' }]]);
      expect(worked.task.error_annotation).toMatchObject({ code: outcome });
      expect(await countFailures(shop.place, { task_id: id, role: 'coder' })).toBe(0);
    }
  }, 60_000);

  it.each(shareOf(Object.keys(SURFACES) as (keyof typeof SURFACES)[], 2))(
    'suspends the agent, and the queue is whole afterwards: as a %s',
    async (surface) => {
      const { good, prepare } = SURFACES[surface];
      shop.addAgent('coder', DO_IT);
      const agents = surface === 'coder' ? ['weak'] : ['weak', 'coder'];
      // The ways to wait differ for none of them, so one that mends by itself stands for all elsewhere.
      for (const [what, fault, outcome] of surface === 'coder' ? shareOf(TYPICAL, 2) : TYPICAL.slice(0, 1)) {
        weaken(fault);
        const tasks = [await shop.create(`${what} 1`), await shop.create(`${what} 2`)];
        for (const task of tasks) await prepare(task);
        const { until, stranded } = await tickUntilQuiet(agents);
        const isMended = outcome === 'usage_limit' || outcome === 'unavailable';
        expect([until !== undefined, stranded.length > 0]).toEqual([isMended, !isMended]);
        const waits = surface === 'reviewer' ? 'review' : 'todo';
        expect(await states(tasks)).toEqual([waits, waits]);
        const tries = (await Promise.all(tasks.map(outcomes))).flat().filter((one) => one === outcome);
        expect(tries.length).toBeLessThanOrEqual(2);
        expect(told.findLast((line) => line.startsWith('weak'))).toMatch(
          /^weak is suspended until .* forge agent resume weak$/,
        );
        mend(good);
        await dispatch();
        expect(await states(tasks)).toEqual(['done', 'done']);
      }
    },
    60_000,
  );

  it('keeps no task from an agent that can work', async () => {
    weaken(absent('claude'));
    shop.addAgent('coder', DO_IT);
    const tasks = [await shop.create('One'), await shop.create('Two'), await shop.create('Three')];
    await dispatch();
    expect(await states(tasks)).toEqual(['done', 'done', 'done']);
    expect(told.filter((line) => line.startsWith('weak')).length).toBe(1);
    expect(told[0]).toContain('npm install -g @anthropic-ai/claude-code');
  });

  it('ends a dispatch that only a person could help, and names what is left', async () => {
    weaken(absent('codex'));
    const tasks = [await shop.create('One'), await shop.create('Two'), await shop.create('Three')];
    const worked = await dispatch();
    expect(worked.map(({ task, reached }) => [task.id, reached])).toEqual(
      expect.arrayContaining(tasks.map(({ id }) => [id, false])),
    );
    expect(worked).toHaveLength(3);
    expect(told[0]).toContain('npm install -g @openai/codex');
  });

  it('is waited for where it mends by itself, longer each time, also with the same task again and again', async () => {
    await open({ first_ms: 30, last_ms: 60 });
    const count = join(shop.place.home, 'count');
    shop.addAgent('weak', `echo x >> ${count}; [ "$(wc -l < ${count})" -gt 5 ] || exit 69; ${DO_IT}`);
    const tasks = [await shop.create('One'), await shop.create('Two')];
    await dispatch();
    expect(await states(tasks)).toEqual(['done', 'done']);
    const all = (await Promise.all(tasks.map(outcomes))).flat();
    expect(all.filter((outcome) => outcome === 'unavailable')).toHaveLength(5);
  });

  inSoak(() => {
    it('of one task does not keep the agent from the others', async () => {
      await open({ first_ms: 10, last_ms: 20 });
      shop.addAgent('weak', `grep -q Poison && exit 75; ${DO_IT}`);
      const poison = await shop.create('Poison');
      const others = [await shop.create('One'), await shop.create('Two')];
      const scheduler = newScheduler(['weak']);
      await expect
        .poll(
          async () => {
            await scheduler.tick();
            await scheduler.pause(20);
            return states(others);
          },
          { timeout: 20_000, interval: 1 },
        )
        .toEqual(['done', 'done']);
      await scheduler.finish();
      expect(await read(poison)).toMatchObject({ state: 'todo' });
    });
  });
});

describe('[A16] attempts side by side', () => {
  const sides = (id: string, agents: string[]) =>
    workTask(shop.workshop, shop.as(), {
      id,
      agent: agents[0],
      merge: true,
      attempts: { agents, count: 2, pick: 'smallest_green' },
    });

  it('go on without the agent that cannot work', async () => {
    weaken(absent('claude'));
    shop.addAgent('coder', DO_IT);
    const { id } = await shop.create('One');
    expect(await sides(id, ['weak', 'coder'])).toMatchObject({ reached: true, task: { state: 'done' } });
  });

  inSoak(() => {
    it('have a reviewer asked again that makes no choice, and a person after that', async () => {
      const count = join(shop.place.home, 'choices');
      shop.addAgent('coder', DO_IT);
      shop.addAgent(
        'weak',
        `echo x >> ${count}; [ "$(wc -l < ${count})" -gt 1 ] || exit 3; echo '{"attempt":2,"why":"good"}'`,
      );
      const pick = async (title: string) => {
        const task = await shop.create(title);
        await assign(task, 'reviewer', 'weak');
        const attempts = { agents: ['coder'], count: 2, pick: 'reviewer' } as const;
        await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'coder', merge: false, attempts });
        return task;
      };
      const second = await pick('Second time lucky');
      const attempts = await shop.place.store.listAttempts({ task_id: second.id });
      expect(attempts.map(({ number, state }) => `${number} ${state}`)).toEqual(['1 archived', '2 active']);
      shop.addAgent('weak', 'exit 3');
      const never = await pick('Never');
      expect(await read(never)).toMatchObject({
        state: 'in_progress',
        error_annotation: { code: 'pick_attempt' },
      });
      expect((await outcomes(never)).filter((one) => one === 'failed')).toHaveLength(LIMITS.audit_tries);
    });

    it('wait where none of their agents can, and start no agent in vain', async () => {
      weaken(shell('exit 75'));
      shop.addAgent('coder', DO_IT);
      const task = await shop.create('One');
      const { task: back } = await sides(task.id, ['weak', 'weak']);
      expect(back).toMatchObject({ state: 'todo', error_annotation: { code: 'unavailable' } });
      expect((await tickUntilQuiet(['weak', 'coder'])).until).toBeDefined();
      expect(await outcomes(task)).toEqual(['unavailable', 'unavailable']);
      mend(DO_IT);
      shop.set({ attempts: { pick: 'smallest_green' } });
      await dispatch();
      expect(await states([task])).toEqual(['done']);
    });
  });
});

describe('[A16] a reviewer that gives no verdict', () => {
  /** Fails so often, and passes then. */
  const failing = (times: number, how: string): string => {
    const count = join(shop.place.home, 'audits');
    return `echo x >> ${count}; [ "$(wc -l < ${count})" -gt ${times} ] || { ${how}; }; ${PASS}`;
  };

  it.each(shareOf(['exit 3', 'echo I like it; exit 0'], 2))('is asked again: %s', async (how) => {
    shop.addAgent('coder', DO_IT);
    shop.addAgent('weak', failing(LIMITS.audit_tries - 1, how));
    const task = await shop.create('One', { steps: ['true'] });
    await assign(task, 'reviewer', 'weak');
    const worked = await workTask(shop.workshop, shop.as(), { id: task.id, agent: 'coder', merge: true });
    expect(worked).toMatchObject({ reached: true, task: { state: 'done' } });
  });

  it('leaves it to a person after that, without a word against the work; resumed it is asked again', async () => {
    shop.addAgent('coder', DO_IT);
    shop.addAgent('weak', 'exit 3');
    const task = await shop.create('One');
    await assign(task, 'reviewer', 'weak');
    const { task: left, review } = await workTask(shop.workshop, shop.as(), {
      id: task.id,
      agent: 'coder',
      merge: true,
    });
    expect(review).toMatchObject({ status: 'waiting' });
    expect(left).toMatchObject({ state: 'review', error_annotation: { code: 'auditor' } });
    expect(left.error_annotation?.message).toContain(`weak gave no verdict in ${LIMITS.audit_tries} tries`);
    const audits = (await shop.place.store.listRuns({ task_id: task.id })).filter(
      ({ role }) => role === 'reviewer',
    );
    expect(audits).toHaveLength(LIMITS.audit_tries);
    await dispatch();
    expect(await states([task])).toEqual(['review']);
    mend(PASS);
    await resumeTasks(shop.workshop, { unwatched_ms: 0 });
    await dispatch();
    expect(await read(task)).toMatchObject({ state: 'done' });
  });

  it('is not asked about the next task where it cannot work, and that task says so', async () => {
    shop.addAgent('coder', DO_IT);
    weaken(absent('codex'));
    for (const [title, asked] of [
      ['First', 1],
      ['Second', 0],
    ] as const) {
      const task = await shop.create(title);
      await assign(task, 'reviewer', 'weak');
      const wish = { id: task.id, agent: 'coder', merge: true };
      expect((await workTask(shop.workshop, shop.as(), wish)).task).toMatchObject({
        state: 'review',
        error_annotation: { code: 'auditor_suspended' },
      });
      const runs = await shop.place.store.listRuns({ task_id: task.id });
      expect(runs.filter(({ role }) => role === 'reviewer')).toHaveLength(asked);
    }
  });

  it('is tried at once by a person who names the task', async () => {
    shop.addAgent('coder', DO_IT);
    weaken(absent('codex'));
    const task = await shop.create('One');
    await assign(task, 'reviewer', 'weak');
    const wish = { id: task.id, agent: 'coder', merge: true };
    expect((await workTask(shop.workshop, shop.as(), wish)).task).toMatchObject({
      state: 'review',
      error_annotation: { code: 'auditor_suspended' },
    });
    shop.addAgent('weak', PASS);
    const only = new Set([task.id]);
    expect(await resumeTasks(shop.workshop, { only })).toMatchObject([{ step: 'wait' }]);
    shop.place.mended.all = toIso(shop.place.clock.now());
    await resumeTasks(shop.workshop, { only });
    const worked = await workTask(shop.workshop, shop.as(), { ...wish, agent: undefined });
    expect(worked).toMatchObject({ reached: true, task: { state: 'done' } });
    expect(worked.task.error_annotation).toBeUndefined();
  });
});

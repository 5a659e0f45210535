import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptView } from '#contract/attempt.ts';
import type { WorkedTask } from '#contract/run-task-operations.ts';
import type { Task } from '#contract/task.ts';
import { openDying } from '../../tests/support/killed-work.ts';
import { inSoak, shareOf } from '../../tests/support/share-of.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { assignRole } from './assign-role.ts';
import { updateTask } from './change-task.ts';
import { concludeSide } from './conclude-side.ts';
import { endLost } from './end-lost.ts';
import { PICK_CODES, pickAttempt } from './pick-attempt.ts';
import { recoverProject } from './recover-project.ts';
import type { SideWishes } from './sides.ts';
import { viewAttempts } from './view-attempts.ts';
import { workTask } from './work-task.ts';
import { toHold } from './work.ts';
import { Workshop } from './workshop.ts';

let shop: TempWorkshop;
beforeAll(async () => {
  shop = await tempWorkshop();
  shop.addAgent('small', 'echo one > "$FORGE_TASK_ID.txt"');
  shop.addAgent('large', 'printf "%s\\n" one two three > "$FORGE_TASK_ID.txt"');
  shop.addAgent('wrong', 'echo wrong > other.txt');
  shop.addAgent('broken', 'echo half > half.txt; exit 3');
  shop.addAgent('slow', 'echo begun > "$FORGE_TASK_ID.txt"; touch "$FORGE_WORKTREE.begun"; sleep 60');
});
afterAll(() => shop[Symbol.asyncDispose]());
afterEach(() =>
  shop.set({ attempts: { pick: 'person' }, scheduler: { max: 4, per_agent: 4, retry_limit: 3 } }),
);

const STEPS = ['test -f "$FORGE_TASK_ID.txt"'];

const views = async ({ id }: Pick<Task, 'id'>): Promise<AttemptView[]> =>
  (await viewAttempts(shop.place, { task_id: id })).map(({ view }) => view);

async function work(
  task: Pick<Task, 'id'>,
  { merge = false, ...attempts }: SideWishes & { merge?: boolean },
): Promise<WorkedTask> {
  const agent = attempts.agents[0] ?? '';
  return workTask(shop.workshop, shop.as(), { id: task.id, agent, merge, attempts });
}

const shown = (all: readonly AttemptView[]): string[] =>
  all.map(({ number, agent, state, result }) => `${number} ${agent} ${state} ${result}`);

describe('several attempts at one task', () => {
  it('are made side by side, and wait for a person who picks one; the rest are archived', async () => {
    const task = await shop.create('By a person', { steps: STEPS });
    const waiting = await work(task, { agents: ['small', 'wrong', 'broken'], count: 4 });
    expect(waiting).toMatchObject({
      reached: false,
      attempt: null,
      task: { state: 'in_progress', assignee: 'small' },
    });
    expect(waiting.runs).toHaveLength(4);
    expect(waiting.task.error_annotation).toMatchObject({
      code: 'pick_attempt',
      message: `2 of 4 attempts are green: forge attempt compare ${task.id}, then forge attempt pick <attempt>`,
    });
    expect(shown(waiting.attempts)).toEqual([
      '1 small active green',
      '2 wrong active red',
      '3 broken active failed',
      '4 small active green',
    ]);
    // What is missing is a choice, and no agent.
    await expect(
      workTask(shop.workshop, shop.as(), { id: task.id, agent: undefined, merge: true }),
    ).rejects.toMatchObject({
      hint: `forge attempt compare ${task.id}, then forge attempt pick <attempt>`,
    });
    const [, red, failed, last] = waiting.attempts;
    expect(red?.message).toBe(`${STEPS[0]}: exit 1`);
    expect(failed?.changes).toEqual({ files: 1, insertions: 1, deletions: 0 });
    expect(new Set(waiting.attempts.map(({ port }) => port)).size).toBe(4);
    expect(new Set(waiting.attempts.map(({ path }) => path)).size).toBe(4);
    // Neither a gate nor a start of others takes one of them by chance.
    await expect(shop.move(task, 'review')).rejects.toMatchObject({ code: 'state_invalid' });
    expect(await recoverProject(shop.workshop)).toEqual([]);
    if (last === undefined) throw new Error('four were made');
    const { version } = waiting.task;
    const reason = 'It reads best';
    const picked = await pickAttempt(shop.place, shop.as(), { attempt: last, version, reason });
    expect(picked.state).toBe('review');
    expect(shown(await views(task))).toEqual([
      '1 small archived green',
      '2 wrong archived red',
      '3 broken archived failed',
      '4 small active green',
    ]);
    await expect(
      pickAttempt(shop.place, shop.as(), { attempt: last, version, reason }),
    ).rejects.toMatchObject({ code: 'version_conflict' });
    expect((await shop.move(task, 'merging')).state).toBe('done');
    expect(shop.repo.git('show', `main:${task.id}.txt`)).toBe('one');
    expect((await views(task)).every(({ path }) => !existsSync(path))).toBe(true);
  });

  it('are decided by the smallest green diff, and what was picked is merged', async () => {
    const task = await shop.create('Smallest', { steps: STEPS });
    const wishes = { agents: ['large', 'small', 'wrong'], count: 3, pick: 'smallest_green' } as const;
    const done = await work(task, { ...wishes, merge: true });
    expect(done).toMatchObject({ reached: true, attempt: { number: 2, agent: 'small', state: 'merged' } });
    expect(shown(done.attempts)).toEqual([
      '1 large archived green',
      '2 small merged green',
      '3 wrong archived red',
    ]);
    // Whose work was picked goes on with the task.
    expect(done.task.assignee).toBe('small');
    const moves = await shop.engine.temp.store.listTransitions({ id: task.id, limit: undefined });
    expect(moves.map(({ trigger_reason }) => trigger_reason)).toContain(
      'attempt 2 of 3 was picked: the smallest green diff',
    );
  });

  it('end with the first that is green: the others are stopped, and what they left is rescued', async () => {
    shop.set({ attempts: { pick: 'first_green' } });
    const task = await shop.create('First', { steps: STEPS });
    const passed = await work(task, { agents: ['slow', 'wrong', 'small'], count: 3 });
    expect(passed).toMatchObject({ reached: true, attempt: { number: 3 }, task: { state: 'review' } });
    expect(shown(passed.attempts)).toEqual([
      '1 slow archived failed',
      expect.stringMatching(/^2 wrong archived (red|unchecked|failed)$/),
      '3 small active green',
    ]);
    const [slow] = passed.attempts;
    const rescued = shop.repo.git('for-each-ref', '--format=%(refname)', `refs/forge/rescue/${slow?.id}`);
    const begun = existsSync(`${slow?.path}.begun`);
    expect(rescued).toBe(begun ? `refs/forge/rescue/${slow?.id}/1` : '');
    await shop.move(task, 'cancelled');
  });

  inSoak(() => {
    it('end with the first that is green, not with the first that is checked', async () => {
      const flag = join(shop.place.records, '..', 'first-checked');
      shop.addAgent('later', `until [ -e ${flag} ]; do sleep 0.05; done; echo one > "$FORGE_TASK_ID.txt"`);
      const task = await shop.create('First is red', { steps: STEPS });
      const working = work(task, { agents: ['wrong', 'later'], count: 2, pick: 'first_green' });
      await expect
        .poll(async () => shown(await views(task)), { timeout: 20_000 })
        .toContain('1 wrong active red');
      writeFileSync(flag, '');
      expect(shown((await working).attempts)).toEqual(['1 wrong archived red', '2 later active green']);
      await shop.move(task, 'cancelled');
    });

    it('are not begun any more when one is green', async () => {
      shop.set({ scheduler: { max: 1 } });
      const flag = join(shop.place.records, '..', 'place-taken');
      shop.addAgent('holds', `touch ${flag}; sleep 60`);
      const steps = [...STEPS, `until [ -e ${flag} ]; do sleep 0.05; done`];
      const task = await shop.create('Not begun', { steps });
      const passed = await work(task, { agents: ['small', 'holds', 'large'], count: 3, pick: 'first_green' });
      expect(shown(passed.attempts)).toEqual([
        '1 small active green',
        '2 holds archived failed',
        '3 large archived unbegun',
      ]);
      await shop.move(task, 'cancelled');
    });
  });

  it('are chosen between by a reviewer that may change nothing', async () => {
    const started: string[] = [];
    const executorFor: typeof shop.place.executorFor = async (profile) => {
      const executor = await shop.place.executorFor(profile);
      return {
        ...executor,
        start: (spec, host) => {
          started.push(spec.read_only === true ? 'reads' : 'writes');
          return executor.start(spec, host);
        },
      };
    };
    const workshop = new Workshop({ ...shop.place, executorFor });
    const engine = { ...shop.as(), work: async () => workshop };
    shop.addAgent('critic', `cat > /dev/null; echo '{"attempt": 1, "why": "It is smaller"}'`);
    const { id } = await shop.create('Read only', { steps: STEPS });
    const resets = { reset_worktree: false, reset_workspace: false };
    await assignRole(engine, { id, role: 'reviewer', holder: { agent: 'critic' }, ...resets });
    const attempts = { agents: ['small', 'large'], count: 2, pick: 'reviewer' } as const;
    await workTask(workshop, engine, { id, agent: 'small', merge: false, attempts });
    expect(started.slice(0, 3)).toEqual(['writes', 'writes', 'reads']);
    await shop.move({ id } as Task, 'cancelled');
  });

  inSoak(() => {
    it('are not chosen between where another process has chosen in the same moment', async () => {
      const task = await shop.create('Chosen twice', { steps: STEPS });
      await work(task, { agents: ['small', 'large'], count: 2 });
      const { store } = shop.place;
      const standing = await store.readStanding(task.id);
      const { state } = standing.task;
      const assignment = {
        task: standing.task,
        state,
        role: 'coder',
        agent: 'small',
        hold: toHold(standing),
      };
      const picked = { code: PICK_CODES.picked, message: 'Attempt 2 was picked', at: 'now' };
      let reads = 0;
      const readStanding: typeof store.readStanding = async (id) => {
        reads += 1;
        // After the look at the task, before the choice is written.
        if (reads === 2)
          await store.updateTask(
            { id, workflow_fields: new Map([['error_annotation', picked]]) },
            shop.as().by,
          );
        return store.readStanding(id);
      };
      const engine = () => ({ ...shop.workshop.engine(), store: { ...store, readStanding } });
      await concludeSide({ place: shop.place, engine, overrides: undefined }, assignment, {
        rule: 'smallest_green',
        fault: undefined,
      });
      expect(reads).toBeGreaterThan(1);
      expect((await views(task)).map((view) => view.state)).toEqual(['active', 'active']);
      await shop.move(task, 'cancelled');
    });

    it('are as the last of their runs where none was any good', async () => {
      const flag = join(shop.place.records, '..', 'first-ended');
      shop.addAgent('early', 'echo half > half.txt; exit 3');
      shop.addAgent('late', `until [ -e ${flag} ]; do sleep 0.05; done; echo half > half.txt; exit 4`);
      const task = await shop.create('None');
      const working = work(task, { agents: ['early', 'late'], count: 2 });
      await expect
        .poll(
          async () => (await shop.place.store.listRuns({ task_id: task.id })).map(({ outcome }) => outcome),
          {
            timeout: 20_000,
          },
        )
        .toContain('failed');
      writeFileSync(flag, '');
      expect((await working).task.error_annotation?.message).toContain('4');
      await shop.move(task, 'cancelled');
    });
  });

  it('are chosen between by the reviewer, who sees every green diff', async () => {
    shop.addAgent(
      'critic',
      `cat > told; if grep -q '^# Choose' told; then cp told "$FORGE_WORKTREE.prompt"; echo '{"attempt": 2, "why": "It says more"}'; else echo '{"verdict": "pass", "summary": "Good", "findings": []}'; fi`,
    );
    const task = await shop.create('Chosen', { steps: STEPS });
    const resets = { reset_worktree: false, reset_workspace: false };
    await assignRole(shop.as(), { id: task.id, role: 'reviewer', holder: { agent: 'critic' }, ...resets });
    const wishes = { agents: ['small', 'large', 'wrong'], count: 3, pick: 'reviewer' } as const;
    const chosen = await work(task, wishes);
    expect(chosen).toMatchObject({ reached: true, task: { state: 'review', assignee: 'large' } });
    expect(shown(chosen.attempts)).toEqual([
      '1 small archived green',
      '2 large active green',
      '3 wrong archived red',
    ]);
    const prompt = readFileSync(`${chosen.attempts[0]?.path}.prompt`, 'utf8');
    expect(prompt).toContain('## Attempt 1, by small');
    expect(prompt).toContain('+three');
    expect(prompt).not.toContain('Attempt 3');
    await shop.move(task, 'cancelled');
  });

  it.each<[string, (id: string) => Promise<unknown>, string | undefined]>(
    shareOf(
      [
        [
          'archive of the task',
          async (id) => {
            const workflow_fields = new Map([['archived_at', 'now']]);
            const { by } = shop.as();
            await shop.place.store.updateTask({ id, workflow_fields }, { ...by, now: Date.now() });
            await endLost(shop.as(), id);
          },
          undefined,
        ],
        ['another assignee', (id) => updateTask(shop.as(), { id, assignee: 'ext' }), undefined],
        ['removal of the reviewer', async () => shop.removeAgent('chooser'), 'pick_attempt'],
      ],
      3,
    ),
  )('[O3] %s while the reviewer chooses: what was decided stands', async (_, lose, code) => {
    const file = join(shop.place.records, '..', 'chooser');
    shop.addAgent('chooser', `cat > /dev/null; touch ${file}; sleep 600`);
    const { id } = await shop.create('Chosen late', { steps: STEPS });
    const resets = { reset_worktree: false, reset_workspace: false };
    await assignRole(shop.as(), { id, role: 'reviewer', holder: { agent: 'chooser' }, ...resets });
    const done = work({ id }, { agents: ['small', 'large'], count: 2, pick: 'reviewer' });
    await expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(true);
    rmSync(file);
    await lose(id);
    const { task } = await done;
    expect([task.state, task.error_annotation?.code]).toEqual(['in_progress', code]);
    expect((await views({ id })).map(({ state }) => state)).toEqual(['active', 'active']);
    await shop.move({ ...task, id }, 'cancelled');
  });
});

describe('where nothing is green', () => {
  it('says so, and lets them have another go with what failed', async () => {
    shop.addAgent(
      'learns',
      'if grep -q "The check"; then echo x > "$FORGE_TASK_ID.txt"; else echo x > y; fi',
    );
    const task = await shop.create('Red', { steps: STEPS });
    const wishes = { agents: ['wrong', 'learns'], count: 2, pick: 'smallest_green' } as const;
    const red = await work(task, wishes);
    expect(red.task).toMatchObject({
      state: 'in_progress',
      error_annotation: { code: 'no_green_attempt' },
    });
    expect(await recoverProject(shop.workshop)).toEqual([]);
    const again = await work(task, wishes);
    expect(again).toMatchObject({ reached: true, attempt: { number: 2 } });
    expect(again.attempts).toHaveLength(2);
    await shop.move(task, 'cancelled');
  });

  inSoak(() => {
    it('puts a task back whose agents all failed, and goes on with the same attempts', async () => {
      shop.set({ scheduler: { retry_limit: 2 } });
      const task = await shop.create('Broken', { steps: STEPS });
      const failed = await work(task, { agents: ['broken'], count: 2 });
      expect(failed.task).toMatchObject({ state: 'todo', error_annotation: { code: 'run_failed' } });
      const again = await work(task, { agents: ['broken'], count: 2 });
      expect(shown(again.attempts)).toEqual(['1 broken active failed', '2 broken active failed']);
      expect(await shop.place.store.listRuns({ task_id: task.id })).toHaveLength(4);
      // Each round was one try, however many worked in it.
      expect(again.task).toMatchObject({
        state: 'blocked',
        error_annotation: {
          code: 'retry_budget',
          message: expect.stringMatching(/^2 tries in a row failed/),
        },
      });
      await shop.move(task, 'cancelled');
    });
  });
});

describe('what happens meanwhile', () => {
  it('a cancel ends all of them', async () => {
    const task = await shop.create('Cancelled', { steps: STEPS });
    const working = work(task, { agents: ['slow'], count: 3 });
    await expect
      .poll(async () => (await shop.place.store.listRuns({ task_id: task.id, open: true })).length, {
        timeout: 20_000,
      })
      .toBe(3);
    await shop.move(task, 'cancelled');
    expect((await working).task.state).toBe('cancelled');
    expect((await views(task)).map(({ state }) => state)).toEqual(['archived', 'archived', 'archived']);
    expect(await shop.place.store.listOpenRuns()).toEqual([]);
  });

  it('a pick ends the others, and keeps what these write while they end', async () => {
    const flag = join(shop.place.records, '..', 'other-begun');
    shop.addAgent(
      'tidies',
      `trap 'echo late > late.txt; exit 0' TERM; touch ${flag}; while :; do sleep 0.05; done`,
    );
    const task = await shop.create('Picked early', { steps: STEPS });
    const working = work(task, { agents: ['small', 'tidies'], count: 2 });
    await expect
      .poll(async () => existsSync(flag) && (await views(task))[0]?.result, { timeout: 20_000 })
      .toBe('green');
    const [green, other] = await views(task);
    if (green === undefined || other === undefined) throw new Error('two were made');
    const { store } = shop.place;
    const { version } = await store.getTask(task.id);
    await pickAttempt(shop.place, shop.as(), { attempt: green, version, reason: 'Good enough' });
    expect(await store.listRuns({ attempt_id: other.id })).toMatchObject([{ outcome: 'stopped' }]);
    expect(shop.repo.git('show', `refs/forge/rescue/${other.id}/1:late.txt`)).toBe('late');
    await working;
    expect(shown(await views(task))).toEqual(['1 small active green', '2 tidies archived failed']);
    await shop.move(task, 'cancelled');
  });

  it('a plan comes first, once; and who gets the task may begin all of them anew', async () => {
    shop.addAgent('planner', `cat > /dev/null; echo '{"summary": "p", "subtasks": [], "checklist": []}'`);
    const task = await shop.create('Planned', { steps: STEPS });
    const resets = { reset_worktree: false, reset_workspace: false };
    const give = (role: string, agent: string, more = {}) =>
      assignRole(shop.as(), { id: task.id, role, holder: { agent }, ...resets, ...more });
    await give('planner', 'planner');
    await give('coder', 'small');
    const wishes = { agents: ['planner', 'small'], count: 2 };
    const waiting = await work(task, wishes);
    expect(waiting.task.error_annotation?.code).toBe('pick_attempt');
    expect(shown(waiting.attempts)).toEqual([
      '1 planner archived unbegun',
      '2 planner active failed',
      '3 small active green',
    ]);
    await give('coder', 'large', { reset_workspace: true });
    const back = await shop.place.store.getTask(task.id);
    expect(back.state).toBe('todo');
    expect((await views(task)).map(({ state }) => state)).toEqual(['archived', 'archived', 'archived']);
    await shop.move(task, 'cancelled');
  });

  it('no more of them work at once than may', async () => {
    shop.set({ scheduler: { max: 1 } });
    let most = 0;
    const open = new Set<string>();
    const stop = shop.workshop.listen((news) => {
      if (news.kind !== 'run') return;
      if (news.run.ended_at === null) open.add(news.run.id);
      else open.delete(news.run.id);
      most = Math.max(most, open.size);
    });
    const task = await shop.create('Crowded', { steps: STEPS });
    const done = await work(task, { agents: ['small', 'large'], count: 3, pick: 'smallest_green' });
    stop();
    expect([done.reached, most]).toEqual([true, 1]);
    await shop.move(task, 'cancelled');
  });

  it('a kill leaves a task that the next start goes on with: nothing is done twice', async () => {
    const task = await shop.create('Killed', { steps: STEPS });
    const attempts = { agents: ['small', 'large', 'wrong'], count: 3, pick: 'smallest_green' } as const;
    for (const last of ['startAttempt', 'moveRun', 'addStepResult']) {
      const { workshop, dying } = openDying(shop);
      const engine = { ...shop.as(), store: dying.store, work: async () => workshop };
      const run = { id: task.id, agent: 'small', merge: false, attempts };
      workTask(workshop, engine, run).catch(() => undefined);
      await expect.poll(() => dying.writes.includes(last), { timeout: 20_000, interval: 5 }).toBe(true);
      dying.kill();
      await recoverProject(shop.workshop, { unwatched_ms: 0 });
      await shop.workshop.settled();
      expect(await shop.place.store.listOpenRuns()).toEqual([]);
      expect(await shop.place.store.listOpenReviews()).toEqual([]);
    }
    const done = await work(task, { ...attempts, merge: true });
    expect(done).toMatchObject({ reached: true, attempt: { agent: 'small', state: 'merged' } });
    const active = done.attempts.filter(({ result }) => result !== 'unbegun');
    expect(active.map(({ agent }) => agent ?? '').toSorted()).toEqual(['large', 'small', 'wrong']);
    expect(shop.repo.git('show', `main:${task.id}.txt`)).toBe('one');
    shop.repo.git('fsck', '--strict');
  });

  inSoak(() => {
    it('a kill does not make anybody forget the rule that was given', async () => {
      const gate = join(shop.repo.path, '.git', 'gate');
      const steps = [...STEPS, `until [ -f ${gate} ]; do sleep 0.02; done`];
      const task = await shop.create('By the same rule', { steps });
      const attempts = { agents: ['large', 'small'], count: 2, pick: 'smallest_green' } as const;
      const { workshop, dying } = openDying(shop);
      const engine = { ...shop.as(), store: dying.store, work: async () => workshop };
      const run = { id: task.id, agent: 'large', merge: false, attempts };
      workTask(workshop, engine, run).catch(() => undefined);
      // Both runs have ended; their checks cannot.
      const ended = async (): Promise<number> =>
        (await shop.place.store.listRuns({ task_id: task.id })).filter(({ outcome }) => outcome !== null)
          .length;
      await expect.poll(ended, { timeout: 20_000, interval: 5 }).toBe(2);
      dying.kill();
      writeFileSync(gate, '');
      expect(shop.place.settings().attempts.pick).toBe('person');
      await recoverProject(shop.workshop, { unwatched_ms: 0 });
      await shop.workshop.settled();
      expect(shown(await views(task))).toEqual(['1 large archived green', '2 small active green']);
      expect((await shop.place.store.getTask(task.id)).state).toBe('review');
      await shop.move(task, 'cancelled');
    });
  });

  // The last one: the run of the fault is left open, as after a crash.
  it('tell a fault of the program in one of them', async () => {
    const bug = new Error('a bug');
    const executorFor: typeof shop.place.executorFor = async (profile) => {
      if (profile.command?.includes('faulty') === true) throw bug;
      return shop.place.executorFor(profile);
    };
    const workshop = new Workshop({ ...shop.place, executorFor });
    const engine = { ...shop.as(), work: async () => workshop };
    shop.addAgent('faulty', '', { profile: { executor: 'shell', command: ['faulty'], permissions: 'all' } });
    const { id } = await shop.create('Faulty', { steps: STEPS });
    const attempts = { agents: ['small', 'faulty'], count: 2 };
    await expect(workTask(workshop, engine, { id, agent: 'small', merge: false, attempts })).rejects.toBe(
      bug,
    );
  });
});

import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { killAfter } from '../../tests/support/killed-work.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { assignRole } from './assign-role.ts';
import { recoverProject } from './recover-project.ts';
import { workTask } from './work-task.ts';

/** A way that a task may take to its end, with an agent that does the same however often it is started. */
interface Way {
  readonly agents: (repo: string) => Readonly<Record<string, string>>;
  readonly steps: readonly string[];
  readonly agent?: string;
  readonly roles?: Readonly<Record<string, string>>;
  readonly subtasks?: readonly string[];
  readonly expected: string;
}

const verdict = (word: string, findings: readonly object[]): string =>
  JSON.stringify({ verdict: word, summary: 'it is too short', findings });

const WAYS: Readonly<Record<string, Way>> = {
  'a straight one': {
    agents: () => ({ w1: 'echo good > "$FORGE_TASK_ID"' }),
    steps: ['grep good "$FORGE_TASK_ID"'],
    expected: 'good',
  },
  'one over checks that are red first': {
    agents: () => ({
      w1: 'grep -q "the check" && echo good > "$FORGE_TASK_ID" || echo bad > "$FORGE_TASK_ID"',
    }),
    steps: ['grep good "$FORGE_TASK_ID" || { echo "the check says no"; exit 1; }'],
    expected: 'good',
  },
  'one over an auditor who says no first': {
    agents: () => ({
      w1: 'grep -q "too short" && echo good > "$FORGE_TASK_ID" || echo bad > "$FORGE_TASK_ID"',
      critic: `if grep -q good "$FORGE_TASK_ID"; then echo '${verdict('pass', [])}'; else echo '${verdict('reject', [{ severity: 'major', message: 'too short' }])}'; fi`,
    }),
    steps: ['true'],
    roles: { reviewer: 'critic' },
    expected: 'good',
  },
  'one over a planner': {
    agents: () => ({
      thinker: `echo '${JSON.stringify({ summary: 'two', subtasks: [{ title: 'First', description: '', depends_on: [] }], checklist: ['tell somebody'] })}'`,
      w1: 'echo good > "$FORGE_TASK_ID"',
    }),
    steps: ['true'],
    agent: 'thinker',
    roles: { planner: 'thinker', coder: 'w1' },
    subtasks: ['First'],
    expected: 'good',
  },
  'one over a conflict that its coder resolves': {
    agents: (repo) => ({
      w1: `if grep -q conflicts; then grep -v "^[<=>]" "$FORGE_TASK_ID" | sort > x; mv x "$FORGE_TASK_ID"; else
        echo two > "$FORGE_TASK_ID"; cd '${repo}' && test ! -e "$FORGE_TASK_ID" && echo one > "$FORGE_TASK_ID" &&
        git add . && git commit -qm theirs; fi; true`,
    }),
    steps: ['! grep -q "<<<<" "$FORGE_TASK_ID"'],
    expected: 'one\ntwo',
  },
};

let shop: TempWorkshop;
beforeEach(async () => {
  shop = await tempWorkshop();
});
afterEach(() => shop[Symbol.asyncDispose]());

it.each(Object.entries(WAYS))(
  'a process that is killed after any write on %s is gone on from',
  async (_title, way) => {
    for (const [name, script] of Object.entries(way.agents(shop.repo.path))) shop.addAgent(name, script);
    for (let lives = 1; ; lives += 1) {
      const { id } = await prepare(way, `Point ${lives}`);
      const run = { id, agent: way.agent ?? 'w1', merge: true };
      const { writes, over } = await killAfter(shop, lives, run);
      if (over) break;
      const point = `${lives} ${writes.at(-1)}`;
      await recoverProject(shop.workshop);
      await shop.workshop.settled();
      await finish(run, point);
      expect([point, shop.repo.git('show', `main:${id}`)]).toEqual([point, way.expected]);
      await expectSettled(id, point);
      const { subtasks } = await shop.place.store.getTask(id);
      expect([point, subtasks.map(({ title }) => title)]).toEqual([point, way.subtasks ?? []]);
    }
    await recoverProject(shop.workshop);
    expect(readdirSync(shop.place.root)).toEqual([]);
    expect(shop.repo.git('for-each-ref', 'refs/heads/forge', 'refs/forge/keep')).toBe('');
    shop.repo.git('fsck', '--strict');
  },
  3_600_000,
);

async function prepare({ steps, roles = {} }: Way, title: string): Promise<Task> {
  const task = await shop.create(title, { steps });
  const resets = { reset_worktree: false, reset_workspace: false };
  for (const [role, agent] of Object.entries(roles))
    await assignRole(shop.as(), { id: task.id, role, holder: { agent }, ...resets });
  return task;
}

/** The same command again, as a person would who sees where the task is. */
async function finish(run: { id: string; agent: string; merge: boolean }, point: string): Promise<void> {
  for (let tries = 0; tries < 3; tries += 1) {
    const { state, subtasks, roles } = await shop.place.store.getTask(run.id);
    if (state === 'done') return;
    // What was planned waits for its parts, and is then for whoever works on it.
    for (const { id, status } of subtasks)
      if (status !== 'closed') await workTask(shop.workshop, shop.as(), { id, agent: 'w1', merge: true });
    const agent = roles?.['planner'] === undefined ? 'w1' : run.agent;
    if (state === 'merge_failed') await shop.move({ id: run.id } as Task, 'merging');
    else await workTask(shop.workshop, shop.as(), { ...run, agent });
  }
  const { state, error_annotation } = await shop.place.store.getTask(run.id);
  expect({ point, state, error_annotation }).toEqual({ point, state: 'done' });
}

async function expectSettled(id: string, point: string): Promise<void> {
  const { store } = shop.place;
  const open = [
    ...(await store.listOpenRuns()),
    ...(await store.listOpenReviews()),
    ...(await store.listOpenMerges()),
  ];
  expect([point, open]).toEqual([point, []]);
  const landed = (await store.listMerges({ task_id: id })).filter(({ state }) => state === 'landed');
  expect([point, landed.length]).toEqual([point, 1]);
}

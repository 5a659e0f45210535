import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Task } from '#contract/task.ts';
import { RUN_MARKER } from '#executors/executor.ts';
import { findMarked } from '#process/sweep-marked.ts';
import { tempWorkshop, type TempWorkshop } from '../../tests/support/temp-workshop.ts';
import { inTurns } from './in-turns.ts';
import { workTask } from './work-task.ts';

const AT_ONCE = 50;
const ROUNDS = 20;

it(`${AT_ONCE} at work at once, ${ROUNDS} times: all land, nothing is left, and the user's checkout stays as it is`, async ({
  annotate,
}) => {
  await using shop = await tempWorkshop();
  shop.addAgent('w1', 'echo "$FORGE_TASK_ID" > "$FORGE_TASK_ID.txt"; sleep 0.5');
  shop.set({ workspace: { ports: 0 } });
  await beAtWork(shop);
  const before = lookAt(shop);
  for (let round = 0; round < ROUNDS; round += 1) {
    await workAtOnce(shop, round);
    expect([round, lookAt(shop)]).toEqual([round, before]);
  }
  expect(readdirSync(shop.place.root)).toEqual([]);
  shop.repo.git('fsck', '--strict');
  await annotate(`${AT_ONCE * ROUNDS} executions`);
}, 3_600_000);

async function workAtOnce(shop: TempWorkshop, round: number): Promise<void> {
  const { store } = shop.place;
  const numbers = [...Array.from({ length: AT_ONCE }).keys()];
  const steps = ['test -f "$FORGE_TASK_ID.txt"'];
  const tasks = await inTurns(numbers, 1, (n) => shop.create(`Task ${n} of round ${round}`, { steps }));
  const work = ({ id }: Task, merge: boolean) =>
    workTask(shop.workshop, shop.as(), { id, agent: 'w1', merge });
  await Promise.all(tasks.map((task) => work(task, false)));
  await Promise.all(tasks.map((task) => work(task, true)));
  await shop.workshop.settled();
  const host = await shop.place.processes();
  for (const { id } of tasks) {
    const { state, error_annotation } = await store.getTask(id);
    const attempts = await store.listAttempts({ task_id: id });
    const runs = await store.listRuns({ task_id: id });
    expect({
      state,
      error_annotation,
      landed: shop.repo.git('show', `main:${id}.txt`),
      folders: attempts.filter(({ removed_at, path }) => removed_at === null || existsSync(path)),
      processes: runs.flatMap((run) => findMarked({ name: RUN_MARKER, value: run.id }, host)),
    }).toEqual({ state: 'done', error_annotation: undefined, landed: id, folders: [], processes: [] });
  }
  expect([
    ...(await store.listOpenRuns()),
    ...(await store.listOpenReviews()),
    ...(await store.listOpenMerges()),
  ]).toEqual([]);
}

/** A user on a branch of their own, with something staged, something changed and something new. */
async function beAtWork({ repo }: TempWorkshop): Promise<void> {
  repo.git('switch', '--quiet', '--create', 'mine');
  await repo.write('staged.txt', 'mine\n');
  repo.git('add', 'staged.txt');
  await repo.write('README.md', 'mine\n');
  await repo.write('new.txt', 'mine\n');
}

function lookAt({ repo }: TempWorkshop): unknown {
  const read = (...path: string[]): string => readFileSync(join(repo.path, ...path), 'hex');
  const files = readdirSync(repo.path).filter((name) => name !== '.git');
  return {
    head: read('.git', 'HEAD'),
    index: read('.git', 'index'),
    branch: repo.git('rev-parse', 'mine'),
    files: files.map((name) => [name, read(name)]),
  };
}

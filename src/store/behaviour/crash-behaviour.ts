import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Random } from '../../../tests/support/random.ts';
import { WRONG_COUNTS } from '../../../tests/support/seed-sql.ts';
import { bundleWorker, startWorker, type StoreWorker } from '../../../tests/support/store-workers.ts';
import { tempStore, type TempStore } from '../../../tests/support/temp-store.ts';
import { create } from './open-behaviour.ts';

/** Moments of the kill: all over a tenth of a second, the same in every run. */
const SPREAD_MS = 100;
const STEP_MS = 37;

/** A process that writes is killed so many times, and each time the next one finds all that was acknowledged. */
export async function expectKillsSurvived(rounds: number): Promise<void> {
  await using temp = await tempStore();
  const tasks = await churnTasks(temp);
  const heard: Record<string, unknown>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const said = await runUntilKilled(temp, tasks, (round * STEP_MS) % SPREAD_MS);
    heard.push(...said);
    await expectSound(temp);
    await expectOldOrNew(temp, tasks, said);
    await expectWhole(temp);
    const ids = new Set<unknown>((await temp.store.listTasks({})).map(({ id }) => id));
    expect(findLost(heard, ids)).toEqual([]);
  }
  const before = await shown(temp);
  await temp.rebuild();
  expect(await shown(temp)).toEqual(before);
}

/** Writers at once; each is killed and followed by the next while the others go on. */
const SLOTS = 8;
/** How often each of them is killed before all that is there is looked at. */
const LIVES = 4;

/**
 * Writers on one store are killed while others write: each finds what its predecessor had acknowledged, and after some
 * kills all of it is looked at. Gives the number of kills of writers that had acknowledged a write.
 */
export async function countKillsSurvived(rounds: number, random: Random): Promise<number> {
  await using temp = await tempStore();
  const script = await bundleWorker(temp.folder);
  const slots = await Promise.all(Array.from({ length: SLOTS }, () => churnTasks(temp)));
  const heard: StoreWorker['said'][number][] = [];
  let kills = 0;
  for (let round = 0; round < rounds; round += 1) {
    const ends: StoreWorker['said'][] = [];
    await temp.reopen(async () => {
      const lives = await Promise.all(
        slots.map((tasks, at) => liveAndDie(temp, { tasks, at, script, random })),
      );
      for (const lived of lives) {
        kills += lived.length;
        heard.push(...lived.flat());
        ends.push(lived.at(-1) ?? []);
        expectContinued(lived);
      }
    });
    await expectSound(temp);
    await expectWhole(temp);
    for (const [at, tasks] of slots.entries()) await expectOldOrNew(temp, tasks, ends[at] ?? []);
    expect(findLost(heard, new Set((await temp.store.listTasks({})).map(({ id }) => id)))).toEqual([]);
  }
  const before = await shown(temp);
  await temp.rebuild();
  expect(await shown(temp)).toEqual(before);
  return kills;
}

/** What was acknowledged and is not as it was acknowledged. */
export function findLost(heard: readonly Record<string, unknown>[], ids: ReadonlySet<unknown>): unknown[] {
  const lost = heard.flatMap((one) => one['created'] ?? []).filter((id) => !ids.has(id));
  return [...lost, ...heard.flatMap((one) => one['deleted'] ?? []).filter((id) => ids.has(id))];
}

/** The numbers of a counter over the lives of its writers: each goes on where the last had acknowledged, or one later. */
export function expectContinued(lives: readonly StoreWorker['said'][]): void {
  const numbers = lives.map((said) =>
    said.flatMap((one) => Number(one['updated'] ?? 0)).filter((n) => n > 0),
  );
  for (const [at, [first = 0]] of numbers.entries()) {
    const last = numbers[at - 1]?.at(-1);
    if (last !== undefined) expect([last + 1, last + 2]).toContain(first);
  }
}

interface Life {
  readonly tasks: ChurnTasks;
  readonly at: number;
  readonly script: string;
  readonly random: Random;
}

/** One after the other; gives what each had acknowledged. */
async function liveAndDie(
  temp: TempStore,
  { tasks: { counter, toggle }, at, script, random }: Life,
): Promise<StoreWorker['said'][]> {
  const lives: StoreWorker['said'][] = [];
  for (let life = 0; life < LIVES; life += 1) {
    await using worker = await startWorker(temp.folder, ['churn', counter, toggle, `${at}.`], { script });
    const begun = worker.heard('updated');
    worker.go();
    await begun;
    await sleep(random.below(SPREAD_MS));
    worker.kill();
    expect(await worker.ended).toMatchObject({ signal: 'SIGKILL' });
    lives.push(worker.said);
  }
  return lives;
}

interface ChurnTasks {
  readonly counter: string;
  readonly toggle: string;
}

async function churnTasks(temp: TempStore): Promise<ChurnTasks> {
  const fields = { description: 'n 0', github_issue: 1, priority: 0, labels: ['n0'] };
  const counter = await create(temp, 'n 0', { ...fields, metadata: new Map([['n', 0]]) });
  const toggle = await create(temp, 'Toggle');
  return { counter: counter.id, toggle: toggle.id };
}

/** Lets a process write and kills it some time after its first words. Gives all that it acknowledged. */
async function runUntilKilled(
  temp: TempStore,
  tasks: ChurnTasks,
  delay: number,
): Promise<StoreWorker['said']> {
  let said: StoreWorker['said'] = [];
  await temp.reopen(async () => {
    await using worker = await startWorker(temp.folder, ['churn', tasks.counter, tasks.toggle]);
    const begun = worker.heard('updated');
    worker.go();
    await begun;
    await sleep(delay);
    worker.kill();
    expect(await worker.ended).toMatchObject({ signal: 'SIGKILL' });
    said = worker.said;
  });
  return said;
}

/** The counter shows the last number that was acknowledged, or the next; all its fields show the same. */
async function expectOldOrNew(temp: TempStore, tasks: ChurnTasks, said: StoreWorker['said']): Promise<void> {
  const last = Number(said.flatMap((one) => one['updated'] ?? []).at(-1));
  const counter = await temp.store.getTask(tasks.counter);
  const n = Number(counter.metadata['n']);
  expect([last, last + 1]).toContain(n);
  const fields = { title: `n ${n}`, description: `n ${n}`, github_issue: n + 1, priority: n % 5 };
  expect(counter).toMatchObject({ ...fields, labels: [`n${n}`] });
  const { status, state, close_reason, closed_at } = await temp.store.getTask(tasks.toggle);
  expect([state, typeof close_reason, typeof closed_at]).toEqual(
    status === 'closed' ? ['done', 'string', 'string'] : ['todo', 'undefined', 'object'],
  );
}

/** A deletion takes the child's parent and the dependent's edge with it, or none of them. */
async function expectWhole(temp: TempStore): Promise<void> {
  const tasks = await temp.store.listTasks({});
  const byTitle = new Map(tasks.map((task) => [task.title, task]));
  const wrong = tasks.filter(({ title, parent_id, dependencies }) => {
    const parent = byTitle.get(title.replace(/^(child|waits)/, 'parent'));
    if (title.startsWith('child')) return parent_id !== (parent?.id ?? null);
    return title.startsWith('waits') && dependencies[0]?.id !== parent?.id;
  });
  expect(wrong).toEqual([]);
}

export async function expectSound(temp: TempStore): Promise<void> {
  using db = temp.connect();
  const all = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  expect(all('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(all('PRAGMA foreign_key_check')).toEqual([]);
  expect(all(WRONG_COUNTS)).toEqual([]);
}

async function shown(temp: TempStore): Promise<unknown> {
  const tasks = await temp.store.listTasks({ sort: 'id' });
  return Promise.all(tasks.map(async ({ id }) => ({ ...(await temp.store.getTask(id)), version: 0 })));
}

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempStore } from '../../tests/support/temp-store.ts';
import { newTask } from './behaviour/open-behaviour.ts';

const TASKS = 10_000;
const EVENTS = 1_000_000;
/** Writes that are made together, as in a server. */
const TOGETHER = 100;
const MOST_BYTES = 300_000_000;

it(`[M6] ${TASKS} tasks with ${EVENTS} events stay under ${MOST_BYTES} bytes`, async ({ annotate }) => {
  await using temp = await tempStore({ lock: 'await' });
  const { store } = temp;
  const by = () =>
    ({ actor: { kind: 'agent', name: 'worker-1', named: true }, now: temp.clock.now() }) as const;
  const size = (): number =>
    readdirSync(temp.folder).reduce((sum, name) => sum + statSync(join(temp.folder, name)).size, 0);
  const text = 'What has to be done, in some two hundred letters. '.repeat(4);
  const ids: string[] = [];
  while (ids.length < TASKS) {
    const tasks = Array.from({ length: TOGETHER }, (_, at) => newTask(`Task ${ids.length + at}`));
    const made = await Promise.all(
      tasks.map((task) => store.createTask({ ...task, description: text }, by())),
    );
    ids.push(...made.map(({ id }) => id));
  }
  let largest = 0;
  for (let events = TASKS; events < EVENTS; events += TOGETHER) {
    temp.clock.advance(1_000);
    const some = Array.from({ length: TOGETHER }, (_, at) => ids[(events + at) % TASKS] ?? '');
    await Promise.all(some.map((id) => store.updateTask({ id, description: `${events} ${text}` }, by())));
    // As each command and each look of a server does.
    await store.keepBounded(temp.clock.now());
    if (events % 20_000 === 0) largest = Math.max(largest, size());
  }
  expect((await store.readFeed()).newest).toBeGreaterThanOrEqual(EVENTS);
  await annotate(
    `${Math.round(largest / 1_000_000)} MB at most, ${Math.round(size() / 1_000_000)} MB at the end`,
  );
  expect(largest).toBeLessThan(MOST_BYTES);
  const tasks = await store.listTasks({ limit: 1_000 });
  await temp.rebuild();
  expect(await temp.store.listTasks({ limit: 1_000 })).toEqual(tasks);
}, 3_600_000);

import { expect, it } from 'vitest';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { eventList } from './event-list.ts';
import type { OperationContext } from './operation.ts';
import { taskWait } from './task-wait.ts';

const FIRST = 1_000_000_000;
const COUNT = 30_000;

/** A feed that has come far, and has forgotten its beginning; the task's one event is its oldest. */
async function openLongFeed(): Promise<{ temp: TempStore; id: string; context: OperationContext }> {
  const temp = await tempStore();
  const { id } = await createOne(temp);
  using db = temp.connect();
  db.exec(`UPDATE events SET seq = ${FIRST}`);
  db.prepare(
    `INSERT INTO events (seq, type, task_id, triggered_by, created_at, data)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     SELECT ? + i, 'project.changed', NULL, 'user:ann', ?, '{"changed":["x"]}' FROM n`,
  ).run(COUNT, FIRST, new Date(temp.clock.now()).toISOString());
  const project = { store: temp.store, workflow: () => DEFAULT_RESOLVED };
  return { temp, id, context: { clock: temp.clock, project } as unknown as OperationContext };
}

async function createOne({ store, clock }: TempStore): Promise<{ id: string }> {
  const by = { actor: { kind: 'user', name: 'ann', named: true }, now: clock.now() } as const;
  const rest = { type: 'task', priority: 2, parent_id: null, assignee: null, github_issue: null } as const;
  const none = { labels: [], depends_on: [], metadata: new Map<string, never>() };
  return store.createTask(
    { id_prefix: 'fg', title: 'old', description: '', state: 'todo', ...rest, ...none },
    by,
  );
}

it('a list of the newest events reads each event once, and none of the numbers that were forgotten', async () => {
  const { temp, id, context } = await openLongFeed();
  await using _ = temp;
  let looks = 0;
  const readEvents = temp.store.readEvents.bind(temp.store);
  temp.store.readEvents = async (query) => {
    looks += 1;
    return readEvents(query);
  };
  const events = await eventList.run(context, { task: id });
  expect(events.map(({ seq, type }) => [seq, type])).toEqual([[FIRST, 'task.created']]);
  expect(looks).toBeLessThan(12);
});

it.each([
  { after: 0, first: 'task.created' },
  { after: FIRST - 1, first: 'task.created' },
  { after: FIRST, first: 'project.changed' },
])('a list behind $after begins with what is still known', async ({ after, first }) => {
  const { temp, context } = await openLongFeed();
  await using _ = temp;
  const [event] = await eventList.run(context, { after, limit: 2 });
  expect(event).toMatchObject({ type: first, seq: Math.max(after + 1, FIRST) });
  expect(event?.data).not.toHaveProperty('reset');
});

it('a list behind a number that was forgotten says so first', async () => {
  const { temp, context } = await openLongFeed();
  await using _ = temp;
  expect(await eventList.run(context, { after: 5, limit: 1 })).toMatchObject([
    { seq: FIRST - 1, type: 'project.changed', task_id: null, data: { changed: ['tasks'], reset: true } },
    { seq: FIRST, type: 'task.created' },
  ]);
});

it('a wait for an event behind a number that was forgotten is refused: it may have come already', async () => {
  const { temp, id, context } = await openLongFeed();
  await using _ = temp;
  const wait = (after: number) =>
    taskWait.run(context, { id, event: 'task.created', after, timeout_seconds: 1 });
  await expect(wait(5)).rejects.toMatchObject({
    code: 'state_invalid',
    hint: `forge task show ${id}, then wait with --after ${FIRST - 1}`,
  });
  expect(await wait(FIRST - 1)).toMatchObject({ seq: FIRST });
});

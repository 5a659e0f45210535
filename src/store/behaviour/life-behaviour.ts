import { NO_AGENTS } from '#domain/claimer.ts';
import { describe, expect, it } from 'vitest';
import type { Status, Task } from '#contract/task.ts';
import type { UpdateResult } from '../store.ts';
import {
  by,
  claim,
  close,
  create,
  everything,
  expectCode,
  type OpenStore,
  type StoreUnderTest,
} from './open-behaviour.ts';

type Start = 'open' | 'reserved' | 'parked' | 'started' | 'closed';
interface Change {
  readonly status?: Status;
  readonly state?: string;
  readonly assignee?: string | null;
  readonly reason?: string;
}
/** `status state owner`, then what else the answer says. */
type Outcome = string;

/** What carol's update makes of a task of alice's (reserved, started, closed) or of nobody's. */
const UPDATES: readonly [Change, Partial<Record<Start, Outcome>>][] = [
  [
    { status: 'in_progress' },
    {
      open: 'in_progress in_progress carol',
      reserved: 'in_progress in_progress alice',
      parked: 'state_invalid',
      started: 'same',
      closed: 'state_invalid',
    },
  ],
  [
    { status: 'in_progress', assignee: 'bob' },
    {
      open: 'in_progress in_progress bob claimed',
      reserved: 'lost',
      parked: 'state_invalid',
      started: 'lost',
      closed: 'state_invalid',
    },
  ],
  [
    { status: 'in_progress', assignee: 'alice' },
    { reserved: 'in_progress in_progress alice claimed', started: 'same claimed', closed: 'state_invalid' },
  ],
  [
    { status: 'in_progress', assignee: null },
    { open: 'state_invalid', reserved: 'state_invalid', started: 'state_invalid', closed: 'state_invalid' },
  ],
  [
    { status: 'in_progress', state: 'todo' },
    { open: 'state_invalid', parked: 'state_invalid', started: 'state_invalid', closed: 'state_invalid' },
  ],
  [
    { status: 'closed', reason: 'Implemented in abc' },
    {
      open: 'closed done nobody "Implemented in abc"',
      reserved: 'closed done alice "Implemented in abc"',
      parked: 'closed done nobody "Implemented in abc"',
      started: 'closed done alice "Implemented in abc"',
      closed: 'same',
    },
  ],
  [
    { status: 'closed' },
    { open: 'closed done nobody "done"', started: 'closed done alice "done"', closed: 'same' },
  ],
  [{ status: 'closed', reason: 'cancelled: no' }, { open: 'closed cancelled nobody "cancelled: no"' }],
  [{ status: 'closed', reason: 'Duplicate of x' }, { parked: 'closed cancelled nobody "Duplicate of x"' }],
  [{ status: 'closed', reason: 'wontfix' }, { started: 'closed cancelled alice "wontfix"' }],
  [{ status: 'closed', reason: 'not cancelled' }, { open: 'closed done nobody "not cancelled"' }],
  [
    { status: 'closed', assignee: 'bob' },
    { open: 'closed done bob "done"', started: 'closed done bob "done"' },
  ],
  [{ status: 'closed', assignee: null }, { started: 'closed done nobody "done"' }],
  [
    { status: 'closed', state: 'backlog' },
    { open: 'state_invalid', closed: 'state_invalid' },
  ],
  [
    { status: 'open' },
    {
      open: 'same',
      reserved: 'same',
      parked: 'same',
      started: 'open todo nobody',
      closed: 'open todo nobody',
    },
  ],
  [
    { status: 'open', state: 'backlog' },
    {
      open: 'open backlog nobody',
      reserved: 'open backlog alice',
      parked: 'same',
      started: 'open backlog nobody',
      closed: 'open backlog nobody',
    },
  ],
  [
    { status: 'open', assignee: 'bob' },
    {
      open: 'open todo bob',
      reserved: 'open todo bob',
      parked: 'open backlog bob',
      started: 'open todo bob',
      closed: 'open todo bob',
    },
  ],
  [
    { status: 'open', assignee: null },
    { open: 'same', reserved: 'open todo nobody', started: 'open todo nobody', closed: 'open todo nobody' },
  ],
  [
    { state: 'backlog' },
    {
      open: 'open backlog nobody',
      reserved: 'open backlog alice',
      parked: 'same',
      started: 'state_invalid',
      closed: 'state_invalid',
    },
  ],
  [
    { state: 'todo' },
    { open: 'same', parked: 'open todo nobody', started: 'state_invalid', closed: 'state_invalid' },
  ],
  [
    { state: 'todo', assignee: 'bob' },
    { parked: 'open todo bob', started: 'state_invalid' },
  ],
  [
    { assignee: 'bob' },
    {
      open: 'open todo bob',
      reserved: 'open todo bob',
      parked: 'open backlog bob',
      started: 'in_progress in_progress bob',
      closed: 'closed done bob "before"',
    },
  ],
  [
    { assignee: null },
    {
      open: 'same',
      reserved: 'open todo nobody',
      started: 'open todo nobody',
      closed: 'closed done nobody "before"',
    },
  ],
];

function casesOf(wanted: (outcome: Outcome) => boolean): [Start, Change, Outcome][] {
  return UPDATES.flatMap(([change, outcomes]) =>
    Object.entries(outcomes).map(([start, outcome]): [Start, Change, Outcome] => [
      start as Start,
      change,
      outcome,
    ]),
  ).filter(([, , outcome]) => wanted(outcome));
}

export function describeLife(open: OpenStore): void {
  describe('status, state and owner move together', () => {
    it.each(casesOf((outcome) => outcome === 'state_invalid'))(
      '%s task, update %j: %s',
      async (start, change) => {
        await using sut = await open();
        const task = await begin(sut, start);
        const before = await everything(sut);
        const error = await expectCode(update(sut, task, change), 'state_invalid');
        expect(error.details).toMatchObject({ id: task.id, status: task.status });
        expect(await everything(sut)).toEqual(before);
      },
    );

    it.each(casesOf((outcome) => outcome === 'lost'))('%s task, update %j: %s', async (start, change) => {
      await using sut = await open();
      const task = await begin(sut, start);
      const before = await everything(sut);
      expect(await update(sut, task, change)).toStrictEqual({ ...task, claimed: false });
      expect(await everything(sut)).toEqual(before);
    });

    it.each(casesOf((outcome) => outcome !== 'lost' && outcome !== 'state_invalid'))(
      '%s task, update %j: %s',
      async (start, change, outcome) => {
        await using sut = await open();
        const task = await begin(sut, start);
        const result = await update(sut, task, change);
        expect(describeTask(result)).toBe(outcome.replace(/^same/, describeTask(task)));
        expect(result).toMatchObject({ title: 'Renamed too', version: task.version + 1 });
        expectLegal(result);
        const { claimed, fence, former_owner, ...plain } = result;
        const isEnded = result.assignee !== task.assignee || result.status === 'closed';
        const isAlices = task.assignee === 'alice' && task.status !== 'closed' && isEnded;
        expect(former_owner).toBe(isAlices ? 'alice' : undefined);
        expect(fence === undefined).toBe(claimed === undefined);
        expect((await sut.store.listTasks({})).at(0)).toStrictEqual(plain);
      },
    );

    it('a claim by update that is repeated is a no-op with the same fence', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Mine');
      const change = { id, status: 'in_progress', assignee: 'bob', agents: NO_AGENTS } as const;
      const first = await sut.store.updateTask(change, by(sut, 'bob'));
      const before = await everything(sut);
      expect(await sut.store.updateTask(change, by(sut, 'bob'))).toStrictEqual(first);
      expect(await everything(sut)).toEqual(before);
    });

    it('[S67] a claim sets status, owner and updated_at', async () => {
      await using sut = await open();
      const { id } = await create(sut, 'Free');
      const writer = by(sut, 'worker-1');
      await sut.store.updateTask(
        { id, status: 'in_progress', assignee: 'worker-1', agents: NO_AGENTS },
        writer,
      );
      const shown = await sut.store.getTask(id);
      expect(shown).toMatchObject({ status: 'in_progress', assignee: 'worker-1', ready: false });
      expect(Date.parse(shown.updated_at)).toBe(writer.now);
    });
  });
}

/** Carol's; the title shows whether the rest of the update went through too. */
function update(sut: StoreUnderTest, { id }: Task, change: Change): Promise<UpdateResult> {
  return sut.store.updateTask(
    { id, title: 'Renamed too', ...change, agents: NO_AGENTS },
    by(sut, 'carol', 'user'),
  );
}

async function begin(sut: StoreUnderTest, start: Start): Promise<Task> {
  const more = {
    reserved: { assignee: 'alice' },
    parked: { state: 'backlog' },
    open: {},
    started: {},
    closed: {},
  };
  const task = await create(sut, 'Task', more[start]);
  if (start === 'started' || start === 'closed') await claim(sut, task.id, 'alice');
  if (start === 'closed') await close(sut, task.id, 'before');
  const [now] = await sut.store.listTasks({});
  if (now === undefined) throw new Error('it was just created');
  return now;
}

function describeTask(task: Task & { claimed?: boolean }): string {
  return [
    task.status,
    task.state,
    task.assignee ?? 'nobody',
    ...(task.close_reason === undefined ? [] : [JSON.stringify(task.close_reason)]),
    ...(task.claimed === undefined ? [] : [task.claimed ? 'claimed' : 'lost']),
  ].join(' ');
}

/** No update may leave a combination that no single operation means. */
function expectLegal(task: Task): void {
  expect(task.closed_at !== null).toBe(task.status === 'closed');
  expect(task.close_reason !== undefined).toBe(task.status === 'closed');
  expect(task.status === 'in_progress' && task.assignee === null).toBe(false);
  const states = { open: ['todo', 'backlog'], in_progress: ['in_progress'], closed: ['done', 'cancelled'] };
  expect(states[task.status]).toContain(task.state);
}

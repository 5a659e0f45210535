import { expect, test } from 'vitest';
import { PROPOSED_LABEL } from '#domain/list-waiting.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import type { WalkEnd } from '#store/task-looks.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { listWaitingTasks } from './list-waiting-tasks.ts';
import type { OperationContext } from './operation.ts';
import { eachWalked, readBriefs } from './read-briefs.ts';

const MOST = SERVED_LIMITS.inbox_tasks;
const AT = '2026-01-01T00:00:00.000Z';

test('reads no task whole, and of those at ordinary work nothing', async () => {
  await using temp = await tempStore();
  fill(temp, 'work', { count: 50, state: 'in_progress' });
  fill(temp, 'stuck', { count: 2, state: 'blocked' });
  fill(temp, 'idea', { count: 3, status: 'open', state: 'backlog', labels: [PROPOSED_LABEL] });
  fill(temp, 'other', { count: 3, status: 'open', state: 'backlog' });
  const asked: unknown[][] = [];
  const items = await listWaitingTasks(context(temp, { stays: true, asked }));
  expect(items.map(({ kind, task_id, message }) => [kind, task_id, message])).toEqual([
    ['stuck', 'fg-stuck1', 'it is in blocked'],
    ['stuck', 'fg-stuck2', 'it is in blocked'],
    ['proposed', null, 'agents propose 3 tasks; the first goes by forge task transition fg-idea1 todo'],
  ]);
  const names = asked.map(([name]) => name);
  for (const whole of ['getTask', 'listTasks', 'readStanding']) expect(names).not.toContain(whole);
  const briefs = asked.filter(([name]) => name === 'listBriefs').map(([, ids]) => ids);
  expect(briefs).toContainEqual(['fg-stuck1', 'fg-stuck2']);
});

test('a server looks at a bounded number of tasks and says that there are more; a command at all', async () => {
  await using temp = await tempStore();
  fill(temp, 'stuck', { count: MOST + 3, state: 'blocked' });
  const served = await listWaitingTasks(context(temp, { stays: true }));
  expect(served).toHaveLength(MOST + 1);
  expect(served.at(-1)).toMatchObject({ kind: 'more', task_id: null, command: 'forge inbox' });
  const own = await listWaitingTasks(context(temp, { stays: false }));
  expect(own).toHaveLength(MOST + 3);
  expect(own.every(({ kind }) => kind === 'stuck')).toBe(true);
});

test('a walk and a read of tasks end early where the tasks are large, and go on behind that', async () => {
  await using temp = await tempStore();
  fill(temp, 'large', { count: 3, state: 'blocked', description: 'x'.repeat(1_000) });
  const bounds = { status: 'in_progress', label: 'x', max_rows: 10, max_bytes: 2_500 } as const;
  const first = await temp.store.walkTasks(bounds);
  expect(first.tasks.map(({ id }) => id)).toEqual(['fg-large1', 'fg-large2']);
  const second = await temp.store.walkTasks({ ...bounds, after: first.after });
  expect(second).toMatchObject({ tasks: [{ id: 'fg-large3', assignee: 'w' }] });
  expect(second.after).toBeUndefined();
  const byOne = await temp.store.walkTasks({ ...bounds, max_rows: 1, max_bytes: 1 });
  expect(byOne.tasks).toHaveLength(1);

  fill(temp, 'idea', { count: 4, status: 'open', state: 'backlog', description: 'x'.repeat(1_000) });
  fill(temp, 'open', { count: 4, status: 'open', state: 'todo', description: 'x'.repeat(1_000) });
  const open = { status: 'open', label: 'x', parked_only: true, max_rows: 5 } as const;
  for (const max_bytes of [1, 2_500, 1_000_000]) {
    const parked: string[] = [];
    for (let after: WalkEnd | undefined; ;) {
      const part = await temp.store.walkTasks({ ...open, max_bytes, after });
      expect(part.tasks.length).toBeLessThanOrEqual(Math.max(1, max_bytes / 1_000));
      parked.push(...part.tasks.map(({ id }) => id));
      after = part.after;
      if (after === undefined) break;
    }
    expect(parked).toEqual(['fg-idea1', 'fg-idea2', 'fg-idea3', 'fg-idea4']);
  }

  const ids = ['fg-large3', 'fg-none', 'fg-large1'];
  const small = await temp.store.listBriefs({ ids, max_bytes: 1 });
  expect(small).toMatchObject({ looked: 1, tasks: [{ id: 'fg-large3' }] });
  expect(small.tasks[0]).not.toHaveProperty('description');
  expect((await readBriefs(temp.store, ids)).map(({ id }) => id)).toEqual(['fg-large3', 'fg-large1']);
  expect(await readBriefs(temp.store, [])).toEqual([]);
  const walked: number[] = [];
  for await (const part of eachWalked(temp.store, { status: 'in_progress' })) walked.push(part.length);
  expect(walked).toEqual([3]);
});

interface Filled {
  readonly count: number;
  readonly state: string;
  readonly status?: string;
  readonly labels?: readonly string[];
  readonly description?: string;
}

function fill(temp: TempStore, name: string, { count, state, status, labels, description }: Filled): void {
  using db = temp.connect();
  const insert = db.prepare(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    INSERT INTO tasks (id, title, created_at, created_by, updated_at, assignee, status, state, parked, labels, description)
    SELECT 'fg-${name}' || i, 'T' || i, '${AT}', 'ann', '${AT}', 'w', ?, ?, ?, ?, ? FROM n`);
  const parked = state === 'backlog' ? 1 : 0;
  insert.run(count, status ?? 'in_progress', state, parked, JSON.stringify(labels ?? []), description ?? '');
}

/** It only reads: no actor and no host is asked for. Each call of the store is noted with its ids. */
function context(
  temp: TempStore,
  { stays, asked = [] }: { readonly stays: boolean; readonly asked?: unknown[][] },
): OperationContext {
  const store = new Proxy(temp.store, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...values: unknown[]) => unknown;
      return (...values: unknown[]) => {
        asked.push([name, (values[0] as { ids?: unknown } | undefined)?.ids]);
        return method.apply(target, values);
      };
    },
  });
  const project = { store, workflow: () => DEFAULT_RESOLVED };
  return { clock: temp.clock, project, stays, place: { home: temp.folder } } as unknown as OperationContext;
}

import { expect, it } from 'vitest';
import { NO_AGENTS } from '#domain/claimer.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';

const AT = '2026-01-01T00:00:00.000Z';
const WHOLE = 1 << 30;

const claim = {
  assignee: 'bob',
  agents: NO_AGENTS,
  sort: 'impact',
} as const;

/** So many ready tasks, and dependencies of the first five hundred on those before them. */
async function fill(temp: TempStore, tasks: number, edges: number): Promise<void> {
  const lines = Array.from({ length: tasks }, (_, n) => ({
    id: `fg-${n}`,
    title: `${n}`,
    status: 'open',
    created_at: AT,
    created_by: 'ann',
  }));
  await temp.bring(lines);
  using db = temp.connect();
  db.prepare(
    `INSERT INTO dependencies (from_id, to_id)
     WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
     SELECT 'fg-' || waiting.i, 'fg-' || blocker.i FROM n waiting JOIN n blocker ON blocker.i < waiting.i LIMIT ?`,
  ).run(edges);
}

it.each([
  { what: 'dependencies', tasks: 501, edges: SERVED_LIMITS.ranked_edges + 1 },
  { what: 'ready tasks', tasks: SERVED_LIMITS.ranked_tasks + 1, edges: 0 },
])('a server refuses to sort by impact where there are too many $what; a command does it', async (given) => {
  await using temp = await tempStore({ lock: 'await' });
  await fill(temp, given.tasks, given.edges);
  const { store } = temp;
  const tooLarge = {
    code: 'too_large',
    hint: expect.stringContaining('forge ready --sort impact') as string,
  };
  await expect(store.pageReady({ sort: 'impact', max_bytes: WHOLE })).rejects.toMatchObject(tooLarge);
  const by = { actor: { kind: 'agent', name: 'bob', named: true }, now: temp.clock.now() } as const;
  await expect(store.claimNext(claim, by)).rejects.toMatchObject(tooLarge);
  expect(await store.pageReady({ sort: 'priority', limit: 1, max_bytes: WHOLE })).toMatchObject({
    tasks: [{ id: 'fg-0' }],
  });
  expect(await store.listReady({ sort: 'impact', limit: 1 })).toMatchObject([{ id: 'fg-0' }]);
});

it('portions are of one list, and a change between them is seen', async () => {
  await using temp = await tempStore({ lock: 'await' });
  await fill(temp, 20, 0);
  const { store } = temp;
  const by = { actor: { kind: 'user', name: 'ann', named: true }, now: temp.clock.now() } as const;
  const read = async (after?: Parameters<typeof store.pageReady>[0]['after']) =>
    store.pageReady({ sort: 'impact', limit: 50, max_bytes: 20, after });
  const first = await read();
  expect(first.tasks.map(({ id }) => id)[0]).toBe('fg-0');
  expect(first.after).toMatchObject({ id: first.tasks.at(-1)?.id });
  const second = await read(first.after);
  expect(second.tasks[0]?.id).not.toBe('fg-0');
  await store.addDependency({ from_id: 'fg-19', to_id: 'fg-7', type: 'blocks' }, by);
  expect((await read()).tasks[0]).toMatchObject({ id: 'fg-7', impact: { critical_path: 1, unblocks: 1 } });
});

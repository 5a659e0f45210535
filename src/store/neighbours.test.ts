import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import { tempStore, type TempStore } from '../../tests/support/temp-store.ts';
import { by, close, create, expectCode, line } from './behaviour/open-behaviour.ts';

const { walked_edges } = SERVED_LIMITS;
const { shown, rewritten, rewritten_bytes, rewritten_parts, recounted } = NEIGHBOUR_LIMITS;

test('a server refuses to take a task out of very many others, and a command does it', async () => {
  await using served = await tempStore({ lock: 'await' });
  const hub = await create(served, 'Hub');
  fill(served, hub.id, { count: rewritten + 1, ties: 'dependents' });
  const error = await expectCode(served.store.deleteTask({ id: hub.id }, by(served)), 'too_large');
  expect(error).toMatchObject({
    hint: `In the repository, without --server: forge task delete ${hub.id}`,
    details: { limit: rewritten },
  });
  expect(await served.store.newestEvent()).toBe(1);
  using other = served.connect();
  other.exec(`DELETE FROM dependencies WHERE from_id = 'fg-n1'`);
  expect((await served.store.deleteTask({ id: hub.id }, by(served))).unblocked).toHaveLength(rewritten);

  await using command = await tempStore();
  const own = await create(command, 'Hub');
  fill(command, own.id, { count: rewritten + 1, ties: 'dependents' });
  expect((await command.store.deleteTask({ id: own.id }, by(command))).unblocked).toHaveLength(rewritten + 1);
});

test('a server refuses to bring back what very many others would be tied to', async () => {
  await using temp = await tempStore();
  const hub = await create(temp, 'Hub');
  fill(temp, hub.id, { count: rewritten + 1, ties: 'children' });
  await temp.store.deleteTask({ id: hub.id }, by(temp));
  await using served = await tempStore({ lock: 'await' });
  using from = temp.connect();
  const row = from.prepare('SELECT * FROM deleted_tasks').get() as Record<string, string | number>;
  using to = served.connect();
  to.prepare(
    'INSERT INTO deleted_tasks (id, deleted_at, line, undo, digest) VALUES (:id, :deleted_at, :line, :undo, :digest)',
  ).run({ ...row });
  const error = await expectCode(served.store.restoreTask({ id: hub.id }, by(served)), 'too_large');
  expect(error.hint).toContain(`forge task restore ${hub.id}`);
});

describe.each([
  ['long texts', `UPDATE tasks SET description = printf('%.*c', 1000000, 'x')`],
  [
    'long comments',
    `INSERT INTO comments (id, task_id, author, body, created_at)
      SELECT 'c-' || id, id, 'ann', printf('%.*c', 1000000, 'x'), '2026-01-01T00:00:00.000Z' FROM tasks`,
  ],
  [
    'very many dependencies',
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.ceil(rewritten_parts / 10)})
      INSERT INTO unresolved_dependencies (from_id, to_id, dep_type)
      SELECT id, 'zz-' || i, 'related' FROM tasks, n WHERE id <> 'fg-hub'`,
  ],
])('to take a task out of others with %s', (_what, sql) => {
  test('is refused by a server', async () => {
    await using temp = await heavyHub({ lock: 'await', sql });
    const remove = () => temp.store.deleteTask({ id: 'fg-hub' }, by(temp));
    expect(await expectCode(remove(), 'too_large')).toMatchObject({
      hint: 'In the repository, without --server: forge task delete fg-hub',
      details: { limit_bytes: rewritten_bytes, limit_parts: rewritten_parts },
    });
    const map = new Map([['todo', 'backlog']]);
    await expectCode(temp.store.mapStates(map, by(temp)), 'too_large');
    // One task of any size costs no more than any other change of it.
    using other = temp.connect();
    other.exec(`DELETE FROM tasks WHERE id NOT IN ('fg-hub', 'fg-n1')`);
    expect((await remove()).orphaned).toEqual(['fg-n1']);
    expect(await temp.store.restoreTask({ id: 'fg-hub' }, by(temp))).toMatchObject({ id: 'fg-hub' });
  });

  test('is done by a command', async () => {
    await using temp = await heavyHub({ lock: 'block', sql });
    expect((await temp.store.deleteTask({ id: 'fg-hub' }, by(temp))).orphaned).toHaveLength(11);
  });
});

async function heavyHub({ lock, sql }: { lock: 'await' | 'block'; sql: string }): Promise<TempStore> {
  const temp = await tempStore({ lock });
  await temp.bring([line('fg-hub')]);
  fill(temp, 'fg-hub', { count: 11, ties: 'children' });
  using other = temp.connect();
  other.exec(sql);
  return temp;
}

test('a server refuses to look for a cycle where very much leads on from both ends, and a command looks', async () => {
  for (const { lock, ending } of [
    { lock: 'await', ending: { error: { code: 'too_large', details: { limit: walked_edges } } } },
    { lock: 'block', ending: { added: true } },
  ] as const) {
    await using temp = await tempStore({ lock });
    const [low, high, free] = [
      await create(temp, 'Low'),
      await create(temp, 'High'),
      await create(temp, 'Free'),
    ];
    const width = Math.ceil(Math.sqrt(walked_edges / 2));
    fill(temp, low.id, { count: width, ties: 'dependents', prefix: 'low' });
    fill(temp, high.id, { count: width, ties: 'blockers', prefix: 'high' });
    // Behind each of them lie as many again.
    fill(temp, free.id, { count: width, ties: 'children', prefix: 'first' });
    fill(temp, free.id, { count: width, ties: 'children', prefix: 'last' });
    using other = temp.connect();
    other.exec(`INSERT INTO dependencies (from_id, to_id) SELECT f.id, t.id FROM tasks f, tasks t
      WHERE (f.id LIKE 'fg-high%' AND t.id LIKE 'fg-first%') OR (f.id LIKE 'fg-last%' AND t.id LIKE 'fg-low%')`);
    const add = (from_id: string, to_id: string) =>
      temp.store
        .addDependency({ from_id, to_id, type: 'blocks' }, by(temp))
        .catch((error: unknown) => ({ error }));
    expect(await add(low.id, high.id)).toMatchObject(ending);
    // A task that nothing waits for closes no cycle, and one that waits for nothing none either.
    expect(await add(free.id, high.id)).toMatchObject({ added: true });
    expect(await add(high.id, (await create(temp, 'Last')).id)).toMatchObject({ added: true });
  }
});

test('a server names a cycle as a command does, also one of parents', async () => {
  await using temp = await tempStore({ lock: 'await' });
  const [a, b, c] = [await create(temp, 'A'), await create(temp, 'B'), await create(temp, 'C')];
  await temp.store.addDependency({ from_id: b.id, to_id: a.id, type: 'blocks' }, by(temp));
  await temp.store.addDependency({ from_id: c.id, to_id: b.id, type: 'blocks' }, by(temp));
  const closing = temp.store.addDependency({ from_id: a.id, to_id: c.id, type: 'blocks' }, by(temp));
  expect((await expectCode(closing, 'dependency_cycle')).details).toEqual({ path: [a.id, c.id, b.id, a.id] });
  await temp.store.updateTask({ id: b.id, parent_id: a.id }, by(temp));
  const inside = temp.store.updateTask({ id: a.id, parent_id: b.id }, by(temp));
  expect((await expectCode(inside, 'dependency_cycle')).details).toEqual({ path: [a.id, b.id, a.id] });
});

test('a server refuses to bring back a task to others that are large', async () => {
  await using temp = await tempStore({ lock: 'await' });
  await temp.bring([line('fg-hub')]);
  fill(temp, 'fg-hub', { count: 11, ties: 'children' });
  await temp.store.deleteTask({ id: 'fg-hub' }, by(temp));
  using other = temp.connect();
  other.exec(`UPDATE tasks SET description = printf('%.*c', 1000000, 'x')`);
  const error = await expectCode(temp.store.restoreTask({ id: 'fg-hub' }, by(temp)), 'too_large');
  expect(error.hint).toContain('forge task restore fg-hub');
});

test('a server refuses to count very many dependents anew, and a command does it', async () => {
  await using served = await tempStore({ lock: 'await' });
  const hub = await create(served, 'Hub');
  fill(served, hub.id, { count: recounted + 1, ties: 'dependents' });
  const error = await expectCode(close(served, hub.id), 'too_large');
  expect(error).toMatchObject({ details: { id: hub.id, limit: recounted } });
  using other = served.connect();
  other.exec(`DELETE FROM dependencies WHERE from_id = 'fg-n1'`);
  expect(await close(served, hub.id)).toMatchObject({ unblocked_more: recounted - shown });
});

test('writes that are made together let other requests be served in between', async () => {
  await using temp = await tempStore({ lock: 'await' });
  const hubs = await Promise.all([1, 2, 3, 4].map((n) => create(temp, `Hub ${n}`)));
  for (const [at, { id }] of hubs.entries())
    fill(temp, id, { count: 300, ties: 'children', prefix: `h${at}` });
  let turns = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; turns += 1) await setImmediate();
  })();
  const first = create(temp, 'The write that the others wait for');
  await Promise.all([first, ...hubs.map(({ id }) => temp.store.deleteTask({ id }, by(temp)))]);
  isOver = true;
  await counting;
  expect(turns).toBeGreaterThanOrEqual(hubs.length);
});

/** Tasks that are tied to one, written past the store, because as many writes would take long. */
function fill(
  temp: TempStore,
  id: string,
  {
    count,
    ties,
    prefix = 'n',
  }: { count: number; ties: 'children' | 'dependents' | 'blockers'; prefix?: string },
): void {
  using db = temp.connect();
  const at = '2026-01-01T00:00:00.000Z';
  const parent = ties === 'children' ? `'${id}'` : 'NULL';
  db.exec(`
    BEGIN;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO tasks (id, title, created_at, created_by, updated_at, parent_id)
      SELECT 'fg-${prefix}' || i, 'T' || i, '${at}', 'ann', '${at}', ${parent} FROM n;
    COMMIT;`);
  if (ties === 'children') return;
  const edge = ties === 'blockers' ? `'${id}', id` : `id, '${id}'`;
  db.exec(
    `INSERT INTO dependencies (from_id, to_id) SELECT ${edge} FROM tasks WHERE id LIKE 'fg-${prefix}%' AND title LIKE 'T%'`,
  );
}

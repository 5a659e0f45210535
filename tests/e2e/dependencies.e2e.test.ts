import { afterAll, describe, expect, it } from 'vitest';
import type { DependencyNode, GraphView } from '#contract/graph-operations.ts';
import { DEPENDENCY_TYPES, type Task } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';

const project = await forgeProjectHere();
afterAll(() => project[Symbol.asyncDispose]());

interface Added {
  from_id: string;
  to_id: string;
  type: string;
  added: boolean;
}

const create = (...titles: string[]): Promise<Task[]> =>
  Promise.all(titles.map((title) => project.create(title)));
const add = (from: string, to: string, ...flags: string[]): Promise<Added> =>
  project.json<Added>('dep', 'add', from, to, ...flags);
const tree = (id: string, ...flags: string[]): Promise<DependencyNode> =>
  project.json<DependencyNode>('dep', 'tree', id, ...flags);

describe('forge dep add and remove', () => {
  it('[S21][S99] the first depends on the second, by blocks unless said otherwise', async () => {
    const [a, b] = await twoTasks();
    expect(await add(a, b)).toEqual({ from_id: a, to_id: b, type: 'blocks', added: true });
    const ready = await project.json<Task[]>('ready');
    expect(ready.map(({ id }) => id)).toContain(b);
    expect(ready.map(({ id }) => id)).not.toContain(a);
    const [first, second] = await Promise.all([project.show(a), project.show(b)]);
    expect(first.dependencies.map(({ id, type }) => ({ id, type }))).toEqual([{ id: b, type: 'blocks' }]);
    expect(second.dependencies, 'stands on the dependent task alone').toEqual([]);
    expect(first.version).toBe(2);
    expect(second.version).toBe(1);
  });

  it('[S16] knows blocks, related and discovered-from; the three stand beside each other', async () => {
    const [a, b] = await twoTasks();
    for (const type of DEPENDENCY_TYPES) {
      expect(await add(a, b, '--type', type)).toMatchObject({ type, added: true });
    }
    expect(await add(a, b, '--type', 'related'), 'once is enough').toMatchObject({ added: false });
    expect((await project.show(a)).dependencies.map(({ type }) => type).toSorted()).toEqual([
      'blocks',
      'discovered-from',
      'related',
    ]);
    const { exit, error } = await project.fails('dep', 'add', a, b, '--type', 'parent');
    expect(exit).toBe(2);
    expect(error.message).toBe('--type: must be one of blocks, related, discovered-from, not "parent"');
    const removed = await project.json('dep', 'remove', a, b, '--type', 'related');
    expect(removed).toEqual({ from_id: a, to_id: b, removed: ['related'] });
    const rest = await project.json<{ removed: string[] }>('dep', 'remove', a, b);
    expect(rest.removed.toSorted()).toEqual(['blocks', 'discovered-from']);
    expect((await project.show(a)).dependencies).toEqual([]);
  });

  it('[S99] says in words what is added, already there, and removed', async () => {
    const [a, b] = await twoTasks();
    expect(await project.program.text('dep', 'add', a, b)).toBe(`Added: ${a} depends on ${b}`);
    expect(await project.program.text('dep', 'add', a, b)).toBe(`Already there: ${a} depends on ${b}`);
    expect(await project.program.text('dep', 'add', a, b, '--type', 'related')).toBe(
      `Added: ${a} is related to ${b}`,
    );
    expect(await project.program.text('dep', 'add', a, b, '--type', 'discovered-from')).toBe(
      `Added: ${a} was discovered from ${b}`,
    );
    expect(await project.program.text('dep', 'remove', a, b, '--type', 'blocks')).toBe(
      `Removed: ${a} no longer depends on ${b} (blocks)`,
    );
  });

  it('[S70] refuses an edge that closes a cycle, with the path; other types may point back', async () => {
    const [a, b, c] = (await create('a', 'b', 'c')).map(({ id }) => id) as [string, string, string];
    await add(a, b);
    await add(b, c);
    const long = await project.fails('dep', 'add', c, a);
    expect(long.stderr).toBe(
      `forge: That would close a cycle: ${c} -> ${a} -> ${b} -> ${c}\n  try: forge dep tree ${a}\n`,
    );
    expect(long).toMatchObject({
      exit: 5,
      error: { code: 'dependency_cycle', details: { path: [c, a, b, c] } },
    });
    expect((await project.show(c)).dependencies).toEqual([]);
    expect(await add(c, a, '--type', 'related')).toMatchObject({ added: true });
    expect(await tree(a), 'which the tree does not follow').toMatchObject({
      children: [{ id: b, children: [{ id: c, children: [] }] }],
    });
  });
});

describe('forge dep tree', () => {
  it('[S100] draws what a task waits for', async () => {
    const [schema, ids, spec, other] = await create(
      'SQLite schema and migration runner',
      'Implement hash-based ID generation',
      'Write the spec',
      'Another',
    );
    await add(schema?.id ?? '', ids?.id ?? '');
    await project.json('task', 'close', ids?.id ?? '', '--reason', 'done');
    await project.json('task', 'update', schema?.id ?? '', '--status', 'in_progress', '--assignee', 'w');
    expect(await project.text('dep', 'tree', schema?.id ?? '')).toBe(
      `${schema?.id}  SQLite schema and migration runner  [in_progress]\n` +
        `  └─ blocks ${ids?.id}  Implement hash-based ID generation  [closed]`,
    );
    await project.json('task', 'update', other?.id ?? '', '--priority', '0');
    await add(schema?.id ?? '', other?.id ?? '');
    await add(other?.id ?? '', spec?.id ?? '');
    await add(ids?.id ?? '', spec?.id ?? '');
    expect(await project.text('dep', 'tree', schema?.id ?? '')).toBe(
      [
        `${schema?.id}  SQLite schema and migration runner  [in_progress]`,
        `  ├─ blocks ${other?.id}  Another  [open]`,
        `  │  └─ blocks ${spec?.id}  Write the spec  [open]`,
        `  └─ blocks ${ids?.id}  Implement hash-based ID generation  [closed]`,
        `     └─ blocks ${spec?.id}  Write the spec  [open]`,
      ].join('\n'),
    );
    expect(await project.text('dep', 'tree', spec?.id ?? '')).toBe(`${spec?.id}  Write the spec  [open]`);
  });

  it('[S69][S102] follows blocks edges to the end, by priority and age among siblings', async () => {
    const root = await project.create('root');
    const low = await project.create('low', '--priority', '3');
    const high = await project.create('high', '--priority', '0');
    const leaf = await project.create('leaf');
    const aside = await project.create('aside');
    await add(root.id, low.id);
    await add(root.id, high.id);
    await add(low.id, leaf.id);
    await add(root.id, aside.id, '--type', 'related');
    const node = ({ id, title }: Task, children: unknown[] = []): unknown => ({
      id,
      title,
      status: 'open',
      dep_type: id === root.id ? null : 'blocks',
      children,
    });
    expect(await tree(root.id)).toEqual(node(root, [node(high), node(low, [node(leaf)])]));
  });

  it('[S69] shows a task in full where it is nearest, elsewhere as a leaf marked seen: a wide diamond stays small', async () => {
    const top = await project.create('top');
    const shared = await project.create('shared');
    const [bottom] = await create('bottom');
    await add(shared.id, bottom?.id ?? '');
    const sides = await Promise.all(
      Array.from({ length: 4 }, (_, at) => project.create(`side ${at}`, '--depends-on', shared.id)),
    );
    for (const { id } of sides) await add(top.id, id);
    const { children } = await tree(top.id);
    expect(children).toHaveLength(4);
    const shown = children.map((side) => side.children);
    expect(shown.every((below) => below.length === 1 && below[0]?.id === shared.id)).toBe(true);
    expect(shown.filter(([one]) => one?.seen === undefined)).toHaveLength(1);
    expect(shown.filter(([one]) => one?.seen === true)).toHaveLength(3);
    expect(shown.filter(([one]) => (one?.children.length ?? 0) > 0)).toHaveLength(1);
    expect((await project.text('dep', 'tree', top.id)).match(/\(shown above\)/g)).toHaveLength(3);
  });

  it('[S70][S101] is not cut at ten levels; --depth limits and marks what it hides', async () => {
    await using chain = await forgeProjectHere();
    using db = chain.openDatabase();
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
      INSERT INTO tasks (id, title, created_at, created_by, updated_at)
      SELECT printf('fg-%04d', i), 'level ' || i, '2026-01-01T00:00:00.000Z', 'x', '2026-01-01T00:00:00.000Z' FROM n`);
    db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19)
      INSERT INTO dependencies (from_id, to_id) SELECT printf('fg-%04d', i), printf('fg-%04d', i + 1) FROM n`);
    const levels = (node: DependencyNode | undefined): number =>
      node === undefined ? 0 : 1 + levels(node.children[0]);
    const [whole, one, three, none] = await Promise.all(
      [[], ['--depth', '1'], ['--depth', '3'], ['--depth', '0']].map((flags) =>
        chain.json<DependencyNode>('dep', 'tree', 'fg-0000', ...flags),
      ),
    );
    expect([whole, one, three, none].map(levels)).toEqual([21, 2, 4, 1]);
    expect(JSON.stringify(whole)).not.toContain('truncated');
    expect(one?.children[0]).toMatchObject({ id: 'fg-0001', children: [], truncated: true });
    expect(none).toMatchObject({ children: [], truncated: true });
    expect(await chain.text('dep', 'tree', 'fg-0000', '--depth', '1')).toBe(
      'fg-0000  level 0  [open]\n  └─ blocks fg-0001  level 1  [open]  (more below, see --depth)',
    );
    const refused = await Promise.all(
      ['-1', '1001', 'x'].map((depth) => chain.run('dep', 'tree', '0000', '--depth', depth)),
    );
    expect(refused.map(({ exit }) => exit)).toEqual([2, 2, 2]);
  });
});

describe('forge graph', () => {
  it('has the same nodes and edges in every format', async () => {
    await using small = await forgeProjectHere();
    const epic = await small.create('The "epic" <one>', '--type', 'epic');
    const first = await small.create('first', '--parent', epic.id);
    const second = await small.create('second', '--parent', epic.id, '--depends-on', first.id);
    const done = await small.create('done');
    await small.json('dep', 'add', first.id, done.id);
    await small.json('task', 'close', done.id, '--reason', 'x');
    await small.create('finished').then(({ id }) => small.json('task', 'close', id, '--reason', 'x'));
    const graph = await small.json<GraphView>('graph', '--format', 'json');
    expect(graph.nodes.map(({ id, ready, parent_id }) => [id, ready, parent_id])).toEqual([
      [epic.id, true, null],
      [first.id, true, epic.id],
      [second.id, false, epic.id],
      [done.id, false, null],
    ]);
    expect(graph.edges).toEqual(
      [
        { from_id: second.id, to_id: first.id, type: 'blocks' },
        { from_id: first.id, to_id: done.id, type: 'blocks' },
      ].toSorted((a, b) => (a.from_id < b.from_id ? -1 : 1)),
    );
    expect((await small.json<GraphView>('graph', '--format', 'json', '--all')).nodes).toHaveLength(5);
    const around = await small.json<GraphView>('graph', done.id, '--format', 'json');
    expect(around.nodes.map(({ id }) => id).toSorted()).toEqual([first.id, second.id, done.id].toSorted());
    const [mermaid, dot, svg] = await Promise.all([
      small.text('graph'),
      small.text('graph', '--format', 'dot'),
      small.text('graph', '--format', 'svg'),
    ]);
    expect(mermaid).toMatch(/^flowchart LR\n/);
    expect(dot).toMatch(/^digraph forge \{\n[^]*\n\}$/);
    expect(svg).toMatch(/^<svg [^]*<\/svg>$/);
    for (const picture of [dot, svg]) {
      for (const { id } of graph.nodes) expect(picture).toContain(id);
    }
    expect(dot).toContain(`"${first.id}" -> "${second.id}"`);
    expect(svg).not.toContain('<one>');
  });
});

async function twoTasks(): Promise<[string, string]> {
  const [a, b] = await create('first', 'second');
  return [a?.id ?? '', b?.id ?? ''];
}

import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import type { DependencyNode } from '#contract/graph-operations.ts';
import type { Task } from '#contract/task.ts';
import { forgeProjectHere } from '../support/forge-here.ts';
import {
  SEED_CLAIM,
  SEED_GITHUB_ISSUE,
  SEED_READY,
  SEED_SCHEMA,
  SEED_SHOW,
  SEED_TREE,
} from '../support/seed-sql.ts';

type Row = Record<string, unknown>;

const project = await forgeProjectHere();
const db = project.openDatabase();
afterAll(async () => {
  db.close();
  await project[Symbol.asyncDispose]();
});

const all = (sql: string, ...values: string[]): Row[] => db.prepare(sql).all(...values) as Row[];

describe('the documented schema', () => {
  it('[S33] is in WAL mode, and the link leads to the one database', () => {
    expect(all('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }]);
    expect(all('PRAGMA database_list')[0]?.['file']).toBe(`${project.path}/.git/forge/forge.db`);
  });

  it('[S35][S36] has the documented columns, defaults, keys and cascades, in order', () => {
    using documented = new DatabaseSync(':memory:');
    documented.exec(SEED_SCHEMA);
    for (const table of ['tasks', 'dependencies']) {
      const wanted = documented.prepare(`PRAGMA table_info(${table})`).all();
      const found = db.prepare(`PRAGMA table_info(${table})`).all();
      expect(found.slice(0, wanted.length)).toEqual(wanted);
      const keys = (one: DatabaseSync): unknown[] =>
        one
          .prepare(
            `SELECT "table", "from", "to", on_update, on_delete FROM pragma_foreign_key_list('${table}') ORDER BY 2`,
          )
          .all();
      expect(keys(db)).toEqual(keys(documented));
    }
  });

  it('[S37] has the six documented indexes, on the same columns and with the same conditions', () => {
    using documented = new DatabaseSync(':memory:');
    documented.exec(SEED_SCHEMA);
    const indexes = (one: DatabaseSync): unknown[] =>
      one
        .prepare(
          `SELECT m.name, m.tbl_name, i.name AS col, l.partial FROM sqlite_master m
           JOIN pragma_index_info(m.name) i JOIN pragma_index_list(m.tbl_name) l ON l.name = m.name
           WHERE m.name IN ('idx_tasks_status_priority', 'idx_tasks_assignee', 'idx_tasks_parent_id',
             'idx_tasks_github_issue', 'idx_deps_to_id', 'idx_deps_from_id') ORDER BY 1, i.seqno`,
        )
        .all();
    expect(indexes(documented)).toHaveLength(7);
    expect(indexes(db)).toEqual(indexes(documented));
  });

  it.each([
    ['status', "'done'"],
    ['priority', '5'],
    ['priority', '-1'],
    ['type', "'story'"],
  ])('[S35] its checks refuse a %s of %s', (column, value) => {
    const insert = `INSERT INTO tasks (id, title, created_at, created_by, updated_at, ${column})
      VALUES ('fg-bad1', 'x', 'x', 'x', 'x', ${value})`;
    expect(() => db.exec(insert)).toThrow(/CHECK constraint failed/);
  });

  it('[S34][S36] its foreign keys refuse a dependency on what is not there, by SQL and by the CLI', async () => {
    const { id } = await project.program.create('has no such blocker', '--state', 'backlog');
    expect(() => db.exec(`INSERT INTO dependencies (from_id, to_id) VALUES ('${id}', 'fg-none')`)).toThrow(
      /FOREIGN KEY constraint failed/,
    );
    expect(await project.program.fails('dep', 'add', id, 'fg-none')).toMatchObject({
      exit: 3,
      error: { code: 'not_found' },
    });
    expect(all('PRAGMA foreign_key_check')).toEqual([]);
    await project.program.json('task', 'delete', id);
  });

  it('[S38] labels and metadata are JSON that json_each and json_extract read', async () => {
    const flags = ['--label', 'x', '--label', 'ü y', '--meta-set', 'a={"b":[1,2]}', '--meta-set', 's=text'];
    const task = await project.create('json', ...flags);
    expect(all(`SELECT tasks.id FROM tasks, json_each(labels) WHERE value = 'ü y'`)).toEqual([
      { id: task.id },
    ]);
    expect(
      all(
        `SELECT json_extract(metadata, '$.a.b[1]') AS b, metadata ->> 's' AS s FROM tasks WHERE id = ?`,
        task.id,
      ),
    ).toEqual([{ b: 2, s: 'text' }]);
    await project.json('task', 'delete', task.id);
  });
});

describe('the documented queries', () => {
  it('[S59][S60][S61] ready: the SQL gives what forge ready gives, row for row, on a graph of every kind', async () => {
    // Made by hand-written SQL with a fixed generator: blockers in every state, owners, all types, ties in priority.
    const random = generator(20_260_218);
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
    const insert =
      db.prepare(`INSERT INTO tasks (id, title, status, priority, type, assignee, created_at, created_by, updated_at, state)
      VALUES (?, ?, ?, ?, ?, ?, ?, 'x', ?, ?)`);
    const edge = db.prepare('INSERT OR IGNORE INTO dependencies (from_id, to_id, dep_type) VALUES (?, ?, ?)');
    const name = (at: number): string => `fg-${String(at).padStart(4, '0')}`;
    db.exec('BEGIN');
    for (let at = 0; at < 300; at += 1) {
      const status = pick(['open', 'open', 'open', 'in_progress', 'closed']);
      const assignee = status === 'in_progress' || random() < 0.1 ? pick(['w1', 'w2']) : null;
      const state = { open: 'todo', in_progress: 'in_progress', closed: 'done' }[status] ?? 'todo';
      const time = new Date(Date.UTC(2026, 0, 1) + Math.floor(random() * 1e9) * 10 + at).toISOString();
      const type = pick(['task', 'bug', 'feature', 'epic', 'message']);
      insert.run(name(at), `task ${at}`, status, pick([0, 1, 2, 3, 4]), type, assignee, time, time, state);
      for (let edges = 0; at > 0 && edges < 2; edges += 1) {
        if (random() < 0.4)
          edge.run(
            name(at),
            name(Math.floor(random() * at)),
            pick(['blocks', 'blocks', 'related', 'discovered-from']),
          );
      }
    }
    db.exec('COMMIT');
    const rows = all(SEED_READY);
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.length).toBeLessThan(150);
    const ready = await project.json<Task[]>('ready');
    expect(ready.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    for (const [at, row] of rows.entries()) expect(asTask(row)).toMatchObject(comparable(ready[at]));

    // And after the CLI has worked on it: every second one closed, some reopened, some edges gone.
    const some = ready.slice(0, 8);
    await Promise.all(some.map(({ id }) => project.json('task', 'close', id, '--reason', 'done')));
    await Promise.all(some.slice(0, 3).map(({ id }) => project.json('task', 'reopen', id)));
    const blocked = await project.json<{ id: string; blockers: { id: string }[] }[]>(
      'blocked',
      '--limit',
      '4',
    );
    for (const { id, blockers } of blocked) await project.json('dep', 'remove', id, blockers[0]?.id ?? '');
    const now = await project.json<Task[]>('ready');
    expect(now.map(({ id }) => id)).toEqual(all(SEED_READY).map(({ id }) => id));
    expect(now.map(({ id }) => id)).not.toEqual(rows.map(({ id }) => id));
  });

  it('[S63][S64][S65] show: the four steps give what forge task show gives', async () => {
    const epic = await project.create('The epic', '--type', 'epic', '--priority', '1');
    const blocker = await project.create('The blocker', '--assignee', 'ann');
    const graph = ['--depends-on', blocker.id, '--parent', epic.id];
    const task = await project.create(
      'The task',
      ...graph,
      '--label',
      'b',
      '--label',
      'a',
      '--meta-set',
      'k=[1]',
    );
    await project.create('Another', '--parent', epic.id, '--priority', '0');
    await project.json('dep', 'add', task.id, epic.id, '--type', 'related');
    await project.json('dep', 'add', epic.id, task.id, '--type', 'discovered-from');
    for (const id of [epic.id, blocker.id, task.id]) {
      const shown = await project.show(id);
      const [row] = all(SEED_SHOW.task, id);
      expect(asTask(row)).toMatchObject({
        ...comparable({ ...shown, dependencies: [] }),
        metadata: id === epic.id ? {} : shown.metadata,
      });
      const edges = (found: typeof shown.dependencies): Row[] =>
        found.map(({ id: other, type, resolved }) => ({
          dep_type: type,
          other,
          title: resolved?.title,
          status: resolved?.status,
          priority: resolved?.priority,
          assignee: resolved?.assignee,
        }));
      const rows = (sql: string, key: string): Row[] =>
        all(sql, id).map(({ [key]: other, ...rest }) => ({ ...rest, other }));
      const sorted = (list: Row[]): Row[] =>
        list.toSorted((a, b) =>
          JSON.stringify([a['other'], a['dep_type']]) < JSON.stringify([b['other'], b['dep_type']]) ? -1 : 1,
        );
      expect(sorted(edges(shown.dependencies))).toEqual(sorted(rows(SEED_SHOW.outbound, 'to_id')));
      expect(sorted(edges(shown.dependents))).toEqual(sorted(rows(SEED_SHOW.inbound, 'from_id')));
      expect(
        shown.subtasks.map(({ id: child, title, status, priority, assignee }) => ({
          id: child,
          title,
          status,
          priority,
          assignee,
        })),
      ).toEqual(all(SEED_SHOW.subtasks, id));
    }
  });

  it('[S66][S67] claim: the conditional update takes exactly what forge says is free', async () => {
    const [free, taken] = await Promise.all([
      project.program.create('free', '--priority', '0'),
      project.program.create('taken', '--priority', '0'),
    ]);
    await project.program.json('claim', taken.id, '--actor', 'w1');
    const claim = (id: string): number | bigint =>
      db.prepare(SEED_CLAIM).run('worker-1', new Date().toISOString(), id).changes;
    // Taken back, because the CLI is the way to write; the point is what the statement sees.
    db.exec('BEGIN IMMEDIATE');
    expect([claim(free.id), claim(free.id), claim(taken.id)]).toEqual([1, 0, 0]);
    expect(all(SEED_READY).map(({ id }) => id)).not.toContain(free.id);
    db.exec('ROLLBACK');
    expect((await project.program.json<Task[]>('ready')).map(({ id }) => id)).toContain(free.id);
    await project.program.json('claim', free.id, '--actor', 'w2');
    expect(claim(free.id)).toBe(0);
  });

  it('[S68] tasks of a GitHub issue: the SQL gives what forge search --github-issue gives', async () => {
    for (const priority of ['3', '0', '3', '1'])
      await project.create(`p${priority}`, '--priority', priority, '--github-issue', '47');
    const found = await project.json<Task[]>('search', '--github-issue', '47');
    const rows = all(SEED_GITHUB_ISSUE, '47');
    expect(rows).toHaveLength(4);
    expect(
      found.map(({ id, title, status, priority, type, assignee, created_at, updated_at }) => ({
        id,
        title,
        status,
        priority,
        type,
        assignee,
        created_at,
        updated_at,
      })),
    ).toEqual(rows);
  });

  it('[S69][S102] dependency tree: the same tasks at the same depths', async () => {
    const [root, a, b, c, d] = await Promise.all(
      ['root', 'a', 'b', 'c', 'd'].map((title) => project.create(title)),
    );
    const edges = [
      [root, a],
      [root, b],
      [a, c],
      [c, d],
      [b, d],
    ];
    for (const [from, to] of edges) await project.json('dep', 'add', from?.id ?? '', to?.id ?? '');
    await project.json('dep', 'add', b?.id ?? '', a?.id ?? '', '--type', 'related');
    const id = root?.id ?? '';
    const nearest = new Map<unknown, unknown>();
    for (const { id: task, depth } of all(SEED_TREE, id, id))
      if (!nearest.has(task)) nearest.set(task, depth);
    const shown = new Map<unknown, unknown>();
    const walk = (node: DependencyNode, depth: number): void => {
      if (Number(shown.get(node.id) ?? Infinity) > depth) shown.set(node.id, depth);
      for (const child of node.children) walk(child, depth + 1);
    };
    walk(await project.json<DependencyNode>('dep', 'tree', id), 0);
    expect(shown).toEqual(nearest);
    expect(shown.size).toBe(5);
  });
});

/** The row of a `SELECT *` as the CLI writes a task, dependencies left out. */
function asTask(row: Row | undefined): Row {
  const { labels, metadata, close_reason, ...rest } = row ?? {};
  return {
    ...rest,
    labels: JSON.parse(String(labels)) as unknown,
    metadata: JSON.parse(String(metadata)) as unknown,
    ...(close_reason !== null && { close_reason }),
  };
}

function comparable(task: Task | undefined): Row {
  const { id, title, description, status, priority, type, assignee, parent_id, ...rest } =
    task ?? ({} as Task);
  const { labels, github_issue, created_at, created_by, updated_at, closed_at, metadata } = rest;
  const facts = { id, title, description, status, priority, type, assignee, parent_id, labels, github_issue };
  return { ...facts, created_at, created_by, updated_at, closed_at, metadata };
}

/** Mulberry32: the same graph in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

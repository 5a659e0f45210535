import type { DependencyType, Status } from '#contract/task.ts';
import { type BoundedTree, buildDependencyTree, type TreeTask } from '#domain/dependency-tree.ts';
import { compareText } from '#kernel/text.ts';
import type { GraphQuery, ReadGraph, TreeQuery } from '../graph-query.ts';
import type { Database, Row } from './database.ts';
import { resolveTaskId } from './resolve-id.ts';
import { rowToSummary, SUMMARY_COLUMNS } from './task-rows.ts';

const NODE_COLUMNS = `${SUMMARY_COLUMNS}, t.parent_id,
  (t.status = 'open' AND t.assignee IS NULL AND t.open_blockers = 0 AND t.parked = 0) AS ready`;

/** Uses the primary key of dependencies. */
export function readTree(db: Database, query: TreeQuery): BoundedTree {
  const id = resolveTaskId(db, query.id);
  const root = db.get('SELECT id, title, status FROM tasks WHERE id = ?', id) as Row; // just resolved
  const blockers = `SELECT t.id, t.title, t.status, t.priority, t.created_at FROM dependencies d JOIN tasks t ON t.id = d.to_id
      WHERE d.from_id = ?1 AND d.dep_type = 'blocks'
    UNION ALL SELECT u.to_id, NULL, NULL, 9, NULL FROM unresolved_dependencies u
      WHERE u.from_id = ?1 AND u.dep_type = 'blocks'
    ORDER BY 4, 5, 1 LIMIT ?2`;
  const any = `SELECT 1 AS found FROM dependencies WHERE from_id = ?1 AND dep_type = 'blocks'
    UNION ALL SELECT 1 FROM unresolved_dependencies WHERE from_id = ?1 AND dep_type = 'blocks' LIMIT 1`;
  const limit = query.most === undefined ? -1 : query.most + 1;
  return buildDependencyTree(toTreeTask(root), {
    depth: query.depth,
    most: query.most,
    blockersOf: (at) => db.all(blockers, at, limit).map(toTreeTask),
    hasBlockers: (at) => db.get(any, at) !== undefined,
  });
}

/** The picture's nodes and edges: around one task, or everything that is not closed and what it waits for. */
export function readGraph(db: Database, query: GraphQuery): ReadGraph {
  const most = query.most ?? { nodes: Infinity, edges: Infinity };
  const ids = new Set(listNodeIds(db, query));
  if (ids.size > most.nodes) return { nodes: [], edges: [], too_many: 'nodes' };
  const edges: Row[] = [];
  for (const row of eachEdge(db, ids)) {
    edges.push(row);
    if (edges.length > most.edges) return { nodes: [], edges: [], too_many: 'edges' };
  }
  const rows = db.all(
    `SELECT ${NODE_COLUMNS} FROM tasks t WHERE t.id IN (SELECT value FROM json_each(?)) ORDER BY t.created_at, t.id`,
    JSON.stringify([...ids]),
  );
  return {
    nodes: rows.map((row) => ({
      ...rowToSummary(row, db),
      parent_id: row.parent_id as string | null,
      ready: row.ready === 1,
    })),
    edges: edges.map((row) => ({
      from_id: row.from_id as string,
      to_id: row.to_id as string,
      type: row.dep_type as DependencyType,
    })),
  };
}

/** One more than there may be, where there are as many. */
function listNodeIds(db: Database, { id, all, most }: GraphQuery): string[] {
  const limit = most === undefined ? -1 : most.nodes + 1;
  const rows =
    id === undefined
      ? db.all(all ? ALL_NODES : OPEN_NODES, limit)
      : db.all(NODES_AROUND, resolveTaskId(db, id), limit);
  return rows.map((row) => row.id as string);
}

const ALL_NODES = 'SELECT id FROM tasks LIMIT ?';
const OPEN_NODES = `SELECT t.id FROM tasks t WHERE t.status <> 'closed' OR t.id IN (
    SELECT d.to_id FROM dependencies d JOIN tasks w ON w.id = d.from_id WHERE w.status <> 'closed') LIMIT ?`;
/** Both directions and the children, each with a visited set (UNION drops what is known). */
const NODES_AROUND = `WITH RECURSIVE
    up(id) AS (SELECT ?1 UNION SELECT d.to_id FROM up JOIN dependencies d ON d.from_id = up.id LIMIT ?2),
    down(id) AS (SELECT ?1 UNION SELECT d.from_id FROM down JOIN dependencies d ON d.to_id = down.id LIMIT ?2),
    inside(id) AS (SELECT ?1 UNION SELECT c.id FROM inside JOIN tasks c ON c.parent_id = inside.id LIMIT ?2)
  SELECT id FROM up UNION SELECT id FROM down UNION SELECT id FROM inside LIMIT ?2`;

/** Known edges first, each kind in order. What is not in this project is drawn by its id alone. */
function* eachEdge(db: Database, ids: ReadonlySet<string>): Generator<Row> {
  for (const [table, isOpen] of [
    ['dependencies', false],
    ['unresolved_dependencies', true],
  ] as const) {
    const columns = `SELECT from_id, to_id, dep_type FROM ${table}`;
    const order = 'ORDER BY from_id, to_id, dep_type';
    // Of a small part of a large project its own edges alone are read, by the primary key.
    const isPart = ids.size * FEW < Number(db.get(`SELECT count(*) AS n FROM ${table}`)?.n);
    const rows = isPart
      ? eachEdgeOf(db, ids, `${columns} WHERE from_id = ? ${order}`)
      : db.each(`${columns} ${order}`);
    for (const row of rows)
      if (ids.has(row.from_id as string) && (isOpen || ids.has(row.to_id as string))) yield row;
  }
}

/** Read as far as they are asked for. */
function* eachEdgeOf(db: Database, ids: ReadonlySet<string>, sql: string): Generator<Row> {
  for (const id of [...ids].sort(compareText)) yield* db.all(sql, id);
}

/** One look for a task costs about as much as so many rows of a walk. */
const FEW = 4;

function toTreeTask(row: Row): TreeTask {
  return { id: row.id as string, title: row.title as string | null, status: row.status as Status | null };
}

import type { DependencyNode, GraphView } from '#contract/graph-operations.ts';
import type { DependencyType, Status } from '#contract/task.ts';
import { buildDependencyTree, type TreeTask } from '#domain/dependency-tree.ts';
import type { Database, Row } from './database.ts';
import { resolveTaskId } from './resolve-id.ts';
import { rowToSummary, SUMMARY_COLUMNS } from './task-rows.ts';

const NODE_COLUMNS = `${SUMMARY_COLUMNS}, t.parent_id,
  (t.status = 'open' AND t.assignee IS NULL AND t.open_blockers = 0 AND t.parked = 0) AS ready`;

/** Uses the primary key of dependencies. */
export function readTree(db: Database, query: { id: string; depth: number }): DependencyNode {
  const id = resolveTaskId(db, query.id);
  const root = db.get('SELECT id, title, status FROM tasks WHERE id = ?', id) as Row; // just resolved
  const blockers = `SELECT t.id, t.title, t.status, t.priority, t.created_at FROM dependencies d JOIN tasks t ON t.id = d.to_id
      WHERE d.from_id = ?1 AND d.dep_type = 'blocks'
    UNION ALL SELECT u.to_id, NULL, NULL, 9, NULL FROM unresolved_dependencies u
      WHERE u.from_id = ?1 AND u.dep_type = 'blocks'
    ORDER BY 4, 5, 1`;
  const any = "SELECT 1 AS found FROM dependencies WHERE from_id = ? AND dep_type = 'blocks' LIMIT 1";
  return buildDependencyTree(toTreeTask(root), {
    depth: query.depth,
    blockersOf: (at) => db.all(blockers, at).map(toTreeTask),
    hasBlockers: (at) => db.get(any, at) !== undefined,
  });
}

/** The picture's nodes and edges: around one task, or everything that is not closed and what it waits for. */
export function readGraph(db: Database, query: { id: string | undefined; all: boolean }): GraphView {
  const rows =
    query.id === undefined ? allNodes(db, query.all) : nodesAround(db, resolveTaskId(db, query.id));
  const ids = new Set(rows.map((row) => row.id as string));
  const known = db
    .all('SELECT from_id, to_id, dep_type FROM dependencies ORDER BY from_id, to_id, dep_type')
    .filter((row) => ids.has(row.from_id as string) && ids.has(row.to_id as string));
  // What is not in this project is drawn by its id alone.
  const unknown = db
    .all('SELECT from_id, to_id, dep_type FROM unresolved_dependencies ORDER BY from_id, to_id, dep_type')
    .filter((row) => ids.has(row.from_id as string));
  const edges = [...known, ...unknown];
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

function allNodes(db: Database, all: boolean): Row[] {
  if (all) return db.all(`SELECT ${NODE_COLUMNS} FROM tasks t ORDER BY t.created_at, t.id`);
  const sql = `SELECT ${NODE_COLUMNS} FROM tasks t WHERE t.status <> 'closed' OR t.id IN (
      SELECT d.to_id FROM dependencies d JOIN tasks w ON w.id = d.from_id WHERE w.status <> 'closed')
    ORDER BY t.created_at, t.id`;
  return db.all(sql);
}

/** Both directions and the children, each with a visited set (UNION drops what is known). */
function nodesAround(db: Database, id: string): Row[] {
  const sql = `WITH RECURSIVE
      up(id) AS (SELECT ?1 UNION SELECT d.to_id FROM up JOIN dependencies d ON d.from_id = up.id),
      down(id) AS (SELECT ?1 UNION SELECT d.from_id FROM down JOIN dependencies d ON d.to_id = down.id),
      inside(id) AS (SELECT ?1 UNION SELECT c.id FROM inside JOIN tasks c ON c.parent_id = inside.id)
    SELECT ${NODE_COLUMNS} FROM tasks t
    WHERE t.id IN (SELECT id FROM up UNION SELECT id FROM down UNION SELECT id FROM inside)
    ORDER BY t.created_at, t.id`;
  return db.all(sql, id);
}

function toTreeTask(row: Row): TreeTask {
  return { id: row.id as string, title: row.title as string | null, status: row.status as Status | null };
}

import type { Status } from '#contract/task.ts';
import { criticalPaths } from '#domain/graph-paths.ts';
import { TASK_ORDERS } from '#domain/task-order.ts';
import { ForgeError } from '#kernel/errors.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { SERVED_LIMITS } from '#kernel/served-limits.ts';
import type { Blocker, BlockedTask, ReadyQuery, ReadyTask } from '../store.ts';
import type { Database, Value } from './database.ts';
import { rowToSummary, rowToTask, SUMMARY_COLUMNS, TASK_COLUMNS } from './task-rows.ts';

const READY = "t.status = 'open' AND t.assignee IS NULL AND t.open_blockers = 0 AND t.parked = 0";
const RESERVED =
  "t.status = 'open' AND t.assignee IS NOT NULL AND t.assignee = ? AND t.open_blockers = 0 AND t.parked = 0";
const ORDER = 'ORDER BY priority, created_at, id';

/** Tasks that can be started, in order. Walks idx_tasks_ready; the planner would not choose it by itself. */
export function listReady(db: Database, query: ReadyQuery): ReadyTask[] {
  if (query.sort === 'impact') return listByImpact(db, query);
  const { sql, values } = readyListSql(TASK_COLUMNS, query);
  return db.all(sql, ...values).map((row) => rowToTask(row, db));
}

/** The rows of a list by priority, in its order, with other columns; priority, created_at and id have to be among them. */
export function readyListSql(columns: string, query: ReadyQuery): { sql: string; values: Value[] } {
  const { sql, values } = readySql(columns, query);
  return { sql: `${sql} ${ORDER} LIMIT ?`, values: [...values, query.limit ?? -1] };
}

/** All that can be started, in order; no whole row is read. */
export function listReadyIds(db: Database, query: ReadyQuery, bounded = false): string[] {
  if (query.sort === 'impact') return rankByImpact(db, query, bounded).map(({ id }) => id);
  const { sql, values } = readyListSql('t.id, t.priority, t.created_at', { ...query, limit: undefined });
  return db.all(sql, ...values).map((row) => row.id as string);
}

/** The id alone, for a claim that reads the whole record anyway. */
export function findFirstReady(db: Database, query: ReadyQuery, bounded = false): string | undefined {
  if (query.sort === 'impact') return rankByImpact(db, query, bounded)[0]?.id;
  const { sql, values } = readySql('t.id, t.priority, t.created_at', query);
  return db.get(`${sql} ${ORDER} LIMIT 1`, ...values)?.id as string | undefined;
}

/** Everything that keeps a task from being ready, other projects' tasks included. */
export function listBlockers(db: Database, id: string, most = -1): Blocker[] {
  const sql = `SELECT d.to_id AS id, b.title, b.status, b.assignee FROM dependencies d JOIN tasks b ON b.id = d.to_id
      WHERE d.from_id = ?1 AND d.dep_type = 'blocks' AND b.status <> 'closed'
    UNION ALL SELECT u.to_id, NULL, NULL, NULL FROM unresolved_dependencies u
      WHERE u.from_id = ?1 AND u.dep_type = 'blocks' AND u.closed = 0
    ORDER BY 1 LIMIT ?2`;
  return db.all(sql, id, most).map((row) => ({
    id: row.id as string,
    title: row.title as string | null,
    status: row.status as Status | null,
    assignee: row.assignee as string | null,
  }));
}

/** Open tasks that waited for this one, now closed, and for nothing else; of very many some, in their order. Uses idx_deps_to_id. */
export function listFreed(db: Database, id: string): { unblocked: string[]; unblocked_more?: number } {
  const freed = `FROM dependencies d JOIN tasks t ON t.id = d.from_id
    WHERE d.to_id = ? AND d.dep_type = 'blocks' AND t.status = 'open' AND t.open_blockers = 0`;
  const sql = `SELECT id FROM (SELECT t.id, t.priority, t.created_at ${freed} LIMIT ?)
    ORDER BY priority, created_at, id`;
  const unblocked = db.all(sql, id, NEIGHBOUR_LIMITS.shown).map((row) => row.id as string);
  if (unblocked.length < NEIGHBOUR_LIMITS.shown) return { unblocked };
  const more = Number(db.get(`SELECT count(*) AS n ${freed}`, id)?.n) - unblocked.length;
  return more === 0 ? { unblocked } : { unblocked, unblocked_more: more };
}

/** Walks idx_tasks_blocked. */
export function listBlocked(db: Database, query: { limit: number | undefined }): BlockedTask[] {
  const most = NEIGHBOUR_LIMITS.blockers_shown;
  const sql = `SELECT ${SUMMARY_COLUMNS}, t.open_blockers FROM tasks t INDEXED BY idx_tasks_blocked
    WHERE t.open_blockers > 0 AND t.status <> 'closed' AND t.status = 'open'
    ORDER BY t.priority, t.created_at, t.id LIMIT ?`;
  return db.all(sql, query.limit ?? NEIGHBOUR_LIMITS.blocked_tasks).map((row) => {
    const blockers = listBlockers(db, row.id as string, most);
    const more = blockers.length < most ? 0 : (row.open_blockers as number) - blockers.length;
    return { ...rowToSummary(row, db), blockers, ...(more > 0 && { blockers_more: more }) };
  });
}

function listByImpact(db: Database, query: ReadyQuery): ReadyTask[] {
  return rankByImpact(db, query)
    .slice(0, query.limit)
    .flatMap(({ key, critical_path, unblocks }) => {
      const row = db.get(BY_ROWID, key);
      return row === undefined ? [] : [{ ...rowToTask(row, db), impact: { critical_path, unblocks } }];
    });
}

export const BY_ROWID = `SELECT ${TASK_COLUMNS} FROM tasks t WHERE t.rowid = ?`;

/** A task's place by its impact. */
export interface Ranked {
  /** Its rowid. */
  readonly key: number;
  readonly critical_path: number;
  readonly unblocks: number;
  readonly priority: number;
  readonly created_at: string;
  readonly id: string;
}

/**
 * By the longest chain of open tasks that waits for each, then by how many wait directly, then as always. Whole rows are
 * left to the caller that shows some of them. A list is read in portions: it is ranked once for each state of the database.
 */
export function rankByImpact(db: Database, query: ReadyQuery, bounded = false): Ranked[] {
  const impact = readImpact(db, bounded);
  const { after, type, exclude_types, to_hand_out, label, assignee } = query;
  const filter = { type, exclude_types, to_hand_out, label, assignee };
  const key = JSON.stringify(filter);
  if (impact.ranked?.key !== key) impact.ranked = { key, list: rank(db, filter, impact) };
  const { list } = impact.ranked;
  return after === undefined ? list : list.filter((one) => TASK_ORDERS.impact(one, after) > 0);
}

function rank(db: Database, filter: ReadyQuery, { chains, dependents }: Impact): Ranked[] {
  const { sql, values } = readySql('t.rowid AS row, t.priority, t.created_at, t.id', filter);
  const ranked = db.all(`${sql} ${ORDER}`, ...values).map(({ row, priority, created_at, id }) => {
    const key = row as number;
    const place = { critical_path: chains.get(key) ?? 0, unblocks: dependents.get(key)?.length ?? 0 };
    return {
      key,
      ...place,
      priority: priority as number,
      created_at: created_at as string,
      id: id as string,
    };
  });
  return ranked.sort(TASK_ORDERS.impact);
}

/** What waits for each open task, by their row numbers. */
interface Impact {
  /** The state of the database that it was read from. */
  readonly stamp: string;
  readonly dependents: ReadonlyMap<number, readonly number[]>;
  readonly chains: ReadonlyMap<number, number>;
  /** The list that was asked for last. */
  ranked?: { readonly key: string; readonly list: Ranked[] };
}

const LAST = new WeakMap<Database, Impact>();

/** Row numbers and edges of waiting tasks, from indexes alone (2 to 3 ms instead of 10 at 10,000 tasks). */
function readImpact(db: Database, bounded: boolean): Impact {
  const row = db.get('SELECT total_changes() AS own, data_version AS others FROM pragma_data_version');
  const stamp = `${Number(row?.others)}.${Number(row?.own)}`;
  const last = LAST.get(db);
  if (last?.stamp === stamp) return last;
  if (bounded) refuseManyRanked(db);
  const dependents = new Map<number, number[]>();
  const edges = `SELECT t.rowid AS waiting, b.rowid AS blocker
    FROM tasks t INDEXED BY idx_tasks_blocked CROSS JOIN dependencies d ON d.from_id = t.id CROSS JOIN tasks b ON b.id = d.to_id
    WHERE t.open_blockers > 0 AND t.status <> 'closed' AND d.dep_type = 'blocks'`;
  for (const { waiting, blocker } of db.all(edges)) {
    const known = dependents.get(blocker as number);
    if (known === undefined) dependents.set(blocker as number, [waiting as number]);
    else known.push(waiting as number);
  }
  const impact = { stamp, dependents, chains: criticalPaths(dependents) };
  LAST.set(db, impact);
  return impact;
}

/** A server ranks in one go, in which no other client is served. */
function refuseManyRanked(db: Database): void {
  const { ranked_tasks: tasks, ranked_edges: edges } = SERVED_LIMITS;
  const waiting = `SELECT 1 FROM dependencies WHERE dep_type = 'blocks' LIMIT ${edges + 1}`;
  const ready = `SELECT 1 FROM tasks t INDEXED BY idx_tasks_ready WHERE ${READY} LIMIT ${tasks + 1}`;
  const row = db.get(
    `SELECT (SELECT count(*) FROM (${waiting})) AS edges, (SELECT count(*) FROM (${ready})) AS tasks`,
  );
  if (Number(row?.edges) <= edges && Number(row?.tasks) <= tasks) return;
  throw new ForgeError(
    'too_large',
    `A server sorts at most ${tasks.toLocaleString('en')} ready tasks with ${edges.toLocaleString('en')} dependencies by their impact`,
    {
      hint: 'Sort by priority, or in the repository, without --server: forge ready --sort impact',
      details: { tasks, edges },
    },
  );
}

function readySql(columns: string, query: ReadyQuery): { sql: string; values: Value[] } {
  const conditions: string[] = [];
  const filters: Value[] = [];
  if (query.type !== undefined) {
    conditions.push('t.type = ?');
    filters.push(query.type);
  }
  for (const type of query.exclude_types ?? []) {
    // A type that is asked for by name is shown, whatever the config leaves out.
    if (type === query.type) continue;
    conditions.push('t.type <> ?');
    filters.push(type);
  }
  // An epic is done when its children are. By idx_tasks_parent_id, and for epics alone.
  if (query.to_hand_out === true && query.type !== 'epic')
    conditions.push(
      `NOT (t.type = 'epic' AND EXISTS (SELECT 1 FROM tasks c WHERE c.parent_id = t.id AND c.status <> 'closed'))`,
    );
  if (query.label !== undefined) {
    conditions.push('EXISTS (SELECT 1 FROM json_each(t.labels) l WHERE l.value = ?)');
    filters.push(query.label);
  }
  if (query.after !== undefined) {
    conditions.push('(t.priority, t.created_at, t.id) > (?, ?, ?)');
    filters.push(query.after.priority, query.after.created_at, query.after.id);
  }
  const more = conditions.map((condition) => ` AND ${condition}`).join('');
  const unassigned = `SELECT ${columns} FROM tasks t INDEXED BY idx_tasks_ready WHERE ${READY}${more}`;
  if (typeof query.assignee !== 'string') return { sql: unassigned, values: filters };
  const reserved = `SELECT ${columns} FROM tasks t INDEXED BY idx_tasks_reserved WHERE ${RESERVED}${more}`;
  return { sql: `${unassigned} UNION ALL ${reserved}`, values: [...filters, query.assignee, ...filters] };
}

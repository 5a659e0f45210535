import type {
  Comment,
  DependencyType,
  ResolvedDependency,
  Status,
  Task,
  TaskCounters,
  TaskView,
} from '#contract/task.ts';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { toTaskView, type TaskSurroundings } from '#domain/task-view.ts';
import { foldText, isAscii } from '#domain/text-search.ts';
import { kindOf, standingState, statusOfKind } from '#domain/workflow.ts';
import type { TaskPosition, TaskQuery } from '../store.ts';
import type { Database, Row, Value } from './database.ts';
import { FORMER_IDS, resolveTaskId } from './resolve-id.ts';
import { ARCHIVED, rowToSummary, rowToTask, SUMMARY_COLUMNS, TASK_COLUMNS, toState } from './task-rows.ts';

/** One task with everything around it, in one consistent view. All by primary key or index on the id. */
export function getTask(db: Database, ref: string): TaskView {
  const id = resolveTaskId(db, ref);
  const row = db.get(
    `SELECT ${TASK_COLUMNS}, t.open_blockers, t.parked FROM tasks t WHERE t.id = ?`,
    id,
  ) as Row; // just resolved
  return toTaskView(rowToTask(row, db), {
    dependencies: listOutbound(db, id),
    ...listInbound(db, id),
    ...listSubtasks(db, id),
    comments: listComments(db, id),
    open_blockers: row.open_blockers as number,
    parked: row.parked === 1,
    counters: countMoves(db, id),
  });
}

/** In their order; of very many those that come first by their index. */
function listSubtasks(
  db: Database,
  id: string,
): Pick<TaskView, 'subtasks' | 'child_count' | 'closed_child_count'> {
  const sql = `SELECT ${SUMMARY_COLUMNS} FROM tasks t WHERE t.rowid IN (SELECT rowid FROM tasks WHERE parent_id = ? LIMIT ?)
    ORDER BY t.priority, t.created_at, t.id`;
  const subtasks = db.all(sql, id, NEIGHBOUR_LIMITS.shown).map((summary) => rowToSummary(summary, db));
  const closed = subtasks.filter((child) => child.status === 'closed').length;
  if (subtasks.length < NEIGHBOUR_LIMITS.shown)
    return { subtasks, child_count: subtasks.length, closed_child_count: closed };
  const counted = db.get(
    `SELECT count(*) AS n, coalesce(sum(status = 'closed'), 0) AS closed FROM tasks WHERE parent_id = ?`,
    id,
  );
  return { subtasks, child_count: Number(counted?.n), closed_child_count: Number(counted?.closed) };
}

/** Counted from what the moves have left behind; each by an index that begins with the task. */
function countMoves(db: Database, id: string): TaskCounters {
  const row = db.get(
    `SELECT (SELECT count(*) FROM attempts WHERE task_id = ?1) AS attempts,
      (SELECT count(*) FROM reviews WHERE task_id = ?1) AS reviews,
      (SELECT count(*) FROM transitions WHERE task_id = ?1 AND rejection = 1) AS rejections`,
    id,
  );
  const count = (name: string): number => Number(row?.[name] ?? 0);
  return { attempts: count('attempts'), reviews: count('reviews'), rejections: count('rejections') };
}

/** Sort keys are a closed list; what a user types never becomes SQL. */
const ORDERS = {
  priority: 'priority, created_at, id',
  created: 'created_at, id',
  updated: 'updated_at DESC, id',
  id: 'id',
} as const;

/** What comes behind a place in each of these orders, and the values to compare by. */
const BEHIND = {
  priority: [
    '(t.priority, t.created_at, t.id) > (?, ?, ?)',
    ({ priority, created_at, id }) => [priority, created_at, id],
  ],
  created: ['(t.created_at, t.id) > (?, ?)', ({ created_at, id }) => [created_at, id]],
  updated: [
    '(t.updated_at < ? OR (t.updated_at = ? AND t.id > ?))',
    ({ updated_at, id }) => [updated_at, updated_at, id],
  ],
  id: ['t.id > ?', ({ id }) => [id]],
} as const satisfies Record<keyof typeof ORDERS, readonly [string, (place: TaskPosition) => Value[]]>;

export function listTasks(db: Database, query: TaskQuery): Task[] {
  const { sql, values } = listSql(db, TASK_COLUMNS, query);
  return db.all(sql, ...values).map((row) => rowToTask(row, db));
}

/** The rows of a list, in its order, with other columns. */
export function listSql(db: Database, columns: string, query: TaskQuery): { sql: string; values: Value[] } {
  const { from, values } = fromSql(db, query);
  const order = ORDERS[query.sort ?? 'priority'];
  return {
    sql: `SELECT ${columns} ${from} ORDER BY ${order} LIMIT ?`,
    values: [...values, query.limit ?? -1],
  };
}

/** All rows that the conditions leave, in no order. */
export function fromSql(db: Database, query: TaskQuery): { from: string; values: Value[] } {
  const { where, values } = conditionsOf(db, query);
  return { from: `FROM tasks t ${indexOf(query)} ${where}`, values };
}

/** The condition of idx_tasks_open_order, word for word. */
const OPEN = "t.status IN ('open', 'in_progress')";

/** Pages of open tasks are walked in their order, unless something finds a few of them at once. */
function indexOf(query: TaskQuery): string {
  const { sort = 'priority', limit, assignee, parent_id, github_issue } = query;
  const few = [assignee, parent_id, github_issue].some(
    (value) => typeof value === 'string' || typeof value === 'number',
  );
  const walked = sort === 'priority' && limit !== undefined && isOpenOnly(query) && !few;
  return walked ? 'INDEXED BY idx_tasks_open_order' : '';
}

function isOpenOnly({ status, open_only }: TaskQuery): boolean {
  return status === undefined ? open_only === true : status !== 'closed';
}

/** Each condition has its index: status+priority, assignee, parent_id, github_issue; text and labels scan. */
function conditionsOf(db: Database, query: TaskQuery): { where: string; values: Value[] } {
  const conditions: string[] = [];
  const values: Value[] = [];
  const equal = (column: string, value: Value | undefined): void => {
    if (value === undefined) return;
    if (value === null) {
      conditions.push(`t.${column} IS NULL`);
      return;
    }
    conditions.push(`t.${column} = ?`);
    values.push(value);
  };
  equal('status', query.status);
  if (query.state !== undefined) {
    conditions.push(standsIn(db, query.state));
    values.push(query.state);
  }
  equal('type', query.type);
  equal('priority', query.priority);
  equal('assignee', query.assignee);
  equal('github_issue', query.github_issue);
  equal(
    'parent_id',
    typeof query.parent_id === 'string' ? resolveTaskId(db, query.parent_id) : query.parent_id,
  );
  if (isOpenOnly(query)) conditions.push(OPEN);
  if (query.include_archived !== true) conditions.push(`NOT ${ARCHIVED}`);
  if (query.label !== undefined) {
    conditions.push('EXISTS (SELECT 1 FROM json_each(t.labels) l WHERE l.value = ?)');
    values.push(query.label);
  }
  if (query.text !== undefined) {
    const text = textCondition(db, query.text);
    conditions.push(text.condition);
    values.push(...text.values);
  }
  if (query.after !== undefined) {
    const [condition, toValues] = BEHIND[query.sort ?? 'priority'];
    conditions.push(condition);
    values.push(...toValues(query.after));
  }
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, values };
}

/** As standingState decides; a state that the workflow does not have is looked for by the word in the record. */
function standsIn(db: Database, state: string): string {
  const kind = kindOf(db.workflow, state);
  if (kind === undefined) return 't.state = ?';
  db.define('forge_standing', (status: string, named: string, close_reason: string) =>
    standingState(db.workflow, {
      status: status as Status,
      state: named,
      close_reason: close_reason === '' ? null : close_reason,
    }),
  );
  return `(t.status = '${statusOfKind(kind)}' AND forge_standing(t.status, t.state, coalesce(t.close_reason, '')) = ?)`;
}

/** As `holdsText` says: SQLite's LIKE knows upper and lower case of ASCII only. */
export function textCondition(db: Database, text: string): { condition: string; values: Value[] } {
  const pattern = `%${foldText(text).replace(/[\\%_]/g, '\\$&')}%`;
  return { condition: textSql(db, text), values: [pattern, pattern, pattern] };
}

function textSql(db: Database, text: string): string {
  const former = `(t.metadata <> '{}' AND ${FORMER_IDS} LIKE ? ESCAPE '\\')`;
  if (isAscii(text)) return `(t.title LIKE ? ESCAPE '\\' OR t.description LIKE ? ESCAPE '\\' OR ${former})`;
  db.define('forge_fold', foldText);
  return `(forge_fold(t.title) LIKE ? ESCAPE '\\' OR forge_fold(t.description) LIKE ? ESCAPE '\\' OR ${former})`;
}

function listOutbound(db: Database, id: string): ResolvedDependency[] {
  const sql = `SELECT d.to_id AS id, d.dep_type, t.title, t.status, t.state, t.close_reason, t.priority, t.assignee
      FROM dependencies d JOIN tasks t ON t.id = d.to_id WHERE d.from_id = ?1
    UNION ALL SELECT u.to_id, u.dep_type, NULL, NULL, NULL, NULL, NULL, NULL FROM unresolved_dependencies u WHERE u.from_id = ?1
    ORDER BY 1, 2`;
  return db.all(sql, id).map((row) => rowToEdge(row, db));
}

/** In their order; of very many those that come first by their index. */
function listInbound(db: Database, id: string): Pick<TaskSurroundings, 'dependents' | 'dependent_count'> {
  const sql = `SELECT d.from_id AS id, d.dep_type, t.title, t.status, t.state, t.close_reason, t.priority, t.assignee
    FROM (SELECT from_id, dep_type FROM dependencies WHERE to_id = ? LIMIT ?) d JOIN tasks t ON t.id = d.from_id
    ORDER BY t.priority, t.created_at, t.id, d.dep_type`;
  const dependents = db.all(sql, id, NEIGHBOUR_LIMITS.shown).map((row) => rowToEdge(row, db));
  if (dependents.length < NEIGHBOUR_LIMITS.shown) return { dependents, dependent_count: dependents.length };
  const all = Number(db.get('SELECT count(*) AS n FROM dependencies WHERE to_id = ?', id)?.n);
  return { dependents, dependent_count: all };
}

function listComments(db: Database, id: string): Comment[] {
  const sql =
    'SELECT id, author, body, reply_to, created_at FROM comments WHERE task_id = ? ORDER BY created_at, id';
  return db.all(sql, id).map((row) => ({ ...row }) as unknown as Comment);
}

function rowToEdge(row: Row, db: Database): ResolvedDependency {
  return {
    id: row.id as string,
    type: row.dep_type as DependencyType,
    resolved:
      row.title === null
        ? null
        : {
            title: row.title as string,
            status: row.status as Status,
            state: toState(row, db),
            priority: row.priority as number,
            assignee: row.assignee as string | null,
          },
  };
}

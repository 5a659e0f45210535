import type { Task } from '#contract/task.ts';
import type { ByteBound, ListPage } from '../list-pages.ts';
import type { ReadyQuery, ReadyTask, TaskPosition, TaskQuery } from '../store.ts';
import type { Database, Row, Value } from './database.ts';
import { BY_ROWID, listReady, rankByImpact, readyListSql } from './ready-queries.ts';
import { fromSql, listSql, listTasks, textCondition } from './task-queries.ts';
import { rowToTask } from './task-rows.ts';

/**
 * What a whole row takes, told without reading it: sizes stand in the row's header. An edge takes some sixty bytes of
 * its list, and is counted by a primary key that begins with the task.
 */
const SIZE = `(octet_length(t.title) + octet_length(t.description) + octet_length(t.metadata) + octet_length(t.labels)
  + coalesce(octet_length(t.close_reason), 0) + coalesce(octet_length(t.extra), 0)
  + 60 * (SELECT count(*) FROM dependencies d WHERE d.from_id = t.id)
  + 60 * (SELECT count(*) FROM unresolved_dependencies u WHERE u.from_id = t.id))`;
const PLACE = `t.rowid AS row, t.id, t.priority, t.created_at, t.updated_at, ${SIZE} AS size`;

/** Rows that one look of a search passes over at most: their places are sorted together. */
const SEARCHED_ROWS = 20_000;

/** Ordinary tasks fit, which one sum tells; then the list is read as it always is. */
export function pageTasks(db: Database, query: TaskQuery & ByteBound): ListPage<Task> {
  if (query.text !== undefined) return searchTasks(db, query, query.text);
  const places = listSql(db, PLACE, query);
  if (isSmall(db, query) || sumSizes(db, places) <= query.max_bytes) return { tasks: listTasks(db, query) };
  return readRows(readPlaces(db, places), query, ({ key }) => readTask(db, BY_ROWID, key));
}

/** A search looks at every row that its other conditions leave, however few of them hold the text. */
function searchTasks(db: Database, query: TaskQuery & ByteBound, text: string): ListPage<Task> {
  const others: TaskQuery = { ...query, text: undefined, limit: undefined };
  if (isSmall(db, query) || sumSearched(db, others) <= query.max_bytes)
    return { tasks: listTasks(db, query) };
  const condition = textCondition(db, text);
  const sql = `${BY_ROWID} AND ${condition.condition}`;
  const places = listSql(db, PLACE, { ...others, limit: SEARCHED_ROWS });
  return readRows(readPlaces(db, places), { ...query, most_places: SEARCHED_ROWS }, ({ key }) =>
    readTask(db, sql, key, ...condition.values),
  );
}

export function pageReady(db: Database, query: ReadyQuery & ByteBound): ListPage<ReadyTask> {
  if (query.sort === 'impact') return pageByImpact(db, query);
  const places = readyListSql(PLACE, query);
  if (isSmall(db, query) || sumSizes(db, places) <= query.max_bytes) return { tasks: listReady(db, query) };
  return readRows(readPlaces(db, places), query, ({ key }) => readTask(db, BY_ROWID, key));
}

function pageByImpact(db: Database, query: ReadyQuery & ByteBound): ListPage<ReadyTask> {
  const place = `SELECT ${PLACE} FROM tasks t WHERE t.rowid = ?`;
  const places = function* (): Generator<Place> {
    for (const { key, critical_path, unblocks } of rankByImpact(db, query, true)) {
      const row = db.get(place, key);
      if (row !== undefined) yield toPlace(row, { critical_path, unblocks });
    }
  };
  return readRows(places(), query, ({ key, at: { critical_path, unblocks } }) => {
    const task = readTask(db, BY_ROWID, key);
    return task === undefined ? undefined : { ...task, impact: { critical_path, unblocks } };
  });
}

interface Place {
  /** Its rowid. */
  readonly key: number;
  readonly size: number;
  readonly at: TaskPosition;
}

/** Row by row until the next one would be too much. */
function readRows<T>(
  places: Iterable<Place>,
  {
    limit = Infinity,
    max_bytes,
    most_places = Infinity,
  }: ByteBound & { readonly limit?: number | undefined; readonly most_places?: number },
  read: (place: Place) => T | undefined,
): ListPage<T> {
  const tasks: T[] = [];
  let bytes = 0;
  let looked = 0;
  let after: TaskPosition | undefined;
  for (const place of places) {
    bytes += place.size;
    if (looked > 0 && bytes > max_bytes) return { tasks, after };
    looked += 1;
    after = place.at;
    const task = read(place);
    if (task !== undefined) tasks.push(task);
    if (tasks.length === limit) return { tasks };
  }
  return looked === most_places ? { tasks, after } : { tasks };
}

/** A list of a database that is no larger than the bound is within it: the sums cost a tenth of a list and more. */
function isSmall(db: Database, { max_bytes }: ByteBound): boolean {
  const row = db.get('SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size');
  return Number(row?.size) <= max_bytes;
}

/** What the text is looked for in. */
function sumSearched(db: Database, query: TaskQuery): number {
  const { from, values } = fromSql(db, query);
  const sql = `SELECT total(octet_length(t.description) + octet_length(t.metadata)) AS size ${from}`;
  return Number(db.get(sql, ...values)?.size);
}

type Listed = { readonly sql: string; readonly values: readonly Value[] };

function sumSizes(db: Database, { sql, values }: Listed): number {
  return Number(db.get(`SELECT total(size) AS size FROM (${sql})`, ...values)?.size);
}

/** Its statement ends with the walk, also with one that ends early. */
function* readPlaces(db: Database, { sql, values }: Listed): Generator<Place> {
  for (const row of db.each(sql, ...values)) yield toPlace(row, { critical_path: 0, unblocks: 0 });
}

function toPlace(row: Row, impact: Pick<TaskPosition, 'critical_path' | 'unblocks'>): Place {
  const at = {
    id: row.id as string,
    priority: row.priority as number,
    created_at: row.created_at as string,
    updated_at: row.updated_at as string,
    ...impact,
  };
  return { key: row.row as number, size: row.size as number, at };
}

function readTask(db: Database, sql: string, ...values: Value[]): Task | undefined {
  const row = db.get(sql, ...values);
  return row === undefined ? undefined : rowToTask(row, db);
}

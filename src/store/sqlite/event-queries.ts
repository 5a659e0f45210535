import { parseIso } from '#kernel/clock.ts';
import type { EventPage, EventQuery, Feed, StoredEvent } from '../event-store.ts';
import type { Database, Row } from './database.ts';
import { newestEvent, oldestEvent } from './log-rows.ts';

/** How many rows a filter may pass over in one look, so that a rare type cannot hold up a server. */
const SPAN = 5_000;

// Both walk the primary key of events, at most SPAN rows of it. The size stands in the row's header, so that asking
// for it does not read what is large.
const MATCHING = `FROM events
  WHERE seq > ?1 AND seq <= ?2
    AND (?3 IS NULL OR task_id = ?3)
    AND (?4 IS NULL OR type IN (SELECT value FROM json_each(?4)))
  ORDER BY seq LIMIT ?5`;
const SIZES = `SELECT octet_length(data) AS size ${MATCHING}`;
const READ = `SELECT seq, type, task_id, triggered_by, created_at, data ${MATCHING}`;

export function readEvents(db: Database, query: EventQuery): EventPage {
  const { after, types, task_id } = query;
  const newest = newestEvent(db);
  const last = Math.min(newest, after + SPAN);
  const list = types === undefined ? null : JSON.stringify(types);
  const values = [after, last, task_id ?? null, list] as const;
  const limit =
    query.max_bytes === undefined
      ? query.limit
      : countWithin(db.all(SIZES, ...values, query.limit), query.max_bytes, query.limit);
  const events = db.all(READ, ...values, limit).map(toEvent);
  const isFull = events.length === limit;
  return { events, upto: isFull ? (events.at(-1)?.seq ?? after) : Math.max(last, after), newest };
}

/** How many rows from the first on stay within a size, but one at least; the whole limit where all of them do. */
function countWithin(rows: readonly Row[], bytes: number, limit: number): number {
  let sum = 0;
  const over = rows.findIndex((row) => (sum += Number(row.size)) > bytes);
  return over === -1 ? limit : Math.max(1, over);
}

export function readFeed(db: Database): Feed {
  // When this very database was made: its first migration says so.
  const row = db.get('SELECT applied_at FROM migrations ORDER BY number LIMIT 1');
  const made = parseIso(String(row?.applied_at)) ?? 0;
  return { epoch: made.toString(36), oldest: oldestEvent(db), newest: newestEvent(db) };
}

function toEvent(row: Row): StoredEvent {
  return {
    seq: row.seq as number,
    type: row.type as string,
    task_id: row.task_id as string | null,
    triggered_by: row.triggered_by as string,
    created_at: row.created_at as string,
    data: row.data as string,
  };
}

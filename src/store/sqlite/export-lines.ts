import type { ExportPart } from '../replication.ts';
import type { Database, Row } from './database.ts';
import { readUnreadable } from './file-marks.ts';
import { encodeTransition } from '#domain/history-line.ts';
import { newestEvent } from './log-rows.ts';
import { rowToLine, SELECT_PARTS } from './row-to-line.ts';

const TASKS = `${SELECT_PARTS} ORDER BY t.id`;
const EDGES = `SELECT from_id AS owner, to_id AS id, dep_type AS type FROM dependencies
  UNION ALL SELECT from_id, to_id, dep_type FROM unresolved_dependencies ORDER BY 1, 2, 3`;
const COMMENTS = `SELECT task_id AS owner, id, author, body, reply_to, created_at, extra FROM comments
  ORDER BY task_id, created_at, id`;

const COUNT = 'SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM deleted_tasks) AS n';

type Line = string | Uint8Array;

/** Lines of one part: few enough to be short-lived, so many that the steps between cost nothing. */
const PART = 500;

/** Every task as its canonical line, in the order of ids. One pass over four tables, side by side. */
export function exportTasks(db: Database, path: string): AsyncGenerator<ExportPart> {
  return inParts(db, {
    count: (at) => Number(at.get(COUNT)?.n ?? 0),
    *lines(at) {
      const edges = groupByOwner(at.each(EDGES));
      const comments = groupByOwner(at.each(COMMENTS));
      const deleted = at.each('SELECT id, line FROM deleted_tasks ORDER BY id');
      let gone = deleted.next();
      for (const row of at.each(TASKS)) {
        const id = row.id as string;
        for (; gone.done !== true && (gone.value.id as string) < id; gone = deleted.next())
          yield gone.value.line as string;
        yield rowToLine(at, row, edges(id), comments(id));
      }
      for (; gone.done !== true; gone = deleted.next()) yield gone.value.line as string;
      yield* readUnreadable(at, path);
    },
  });
}

/** Every logged move, by task and time. */
export function exportHistory(db: Database, path: string): AsyncGenerator<ExportPart> {
  return inParts(db, {
    count: (at) => Number(at.get('SELECT count(*) AS n FROM transitions')?.n ?? 0),
    *lines(at) {
      for (const row of at.each(
        'SELECT * FROM transitions ORDER BY task_id, created_at, from_state, to_state, triggered_by',
      ))
        yield encodeTransition(row);
      yield* readUnreadable(at, path);
    },
  });
}

interface Exported {
  readonly count: (at: Database) => number;
  readonly lines: (at: Database) => Iterable<Line>;
}

/** On a connection of its own: the reader of the lines may take long, and writes of this process go on meanwhile. */
async function* inParts(db: Database, exported: Exported): AsyncGenerator<ExportPart> {
  const snapshot = db.openSnapshot();
  if (snapshot === undefined) {
    yield* db.read(() => [...readParts(db, exported)]);
    return;
  }
  try {
    yield* readParts(snapshot, exported);
  } finally {
    snapshot.close();
  }
}

function* readParts(at: Database, { count, lines }: Exported): Generator<ExportPart> {
  const whole = { total: count(at), event_seq: newestEvent(at) };
  let part: Line[] = [];
  for (const line of lines(at)) {
    part.push(line);
    if (part.length < PART) continue;
    yield { lines: part, ...whole };
    part = [];
  }
  yield { lines: part, ...whole };
}

/** Rows come in the order of their owners, and owners are asked for in that order. */
function groupByOwner(rows: Generator<Row>): (owner: string) => Row[] {
  let next = rows.next();
  return (owner) => {
    const group: Row[] = [];
    for (; next.done !== true && (next.value.owner as string) <= owner; next = rows.next()) {
      if (next.value.owner === owner) group.push(next.value);
    }
    return group;
  };
}

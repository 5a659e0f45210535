import { encodeRecord, LOCAL_KEY } from '#domain/record-codec.ts';
import { sealWithDigest } from '#domain/record-seal.ts';
import { readJson } from '#kernel/read-json.ts';
import type { Database, Row } from './database.ts';
import { readRecord } from './record-rows.ts';

/**
 * The parts of a task's line as SQLite puts them together, several times faster than a record is decoded and encoded.
 * They need not be right: a line counts only when it has the digest that the row had when it was written. So whatever
 * this says differently, and whatever hand-written SQL changed, is made by the codec (lineOf).
 */
export const SELECT_PARTS = `SELECT t.id, t.digest, t.stamps, t.extra, t.conflicts,
    concat('{"id":"', t.id, '","title":', json_quote(t.title), ',"description":', json_quote(t.description),
      ',"status":"', t.status, '"',
      iif(t.state = CASE t.status WHEN 'open' THEN 'todo' WHEN 'in_progress' THEN 'in_progress' ELSE
          iif(t.close_reason LIKE 'cancelled%' OR t.close_reason LIKE 'duplicate%' OR t.close_reason LIKE 'wontfix%',
            'cancelled', 'done') END,
        '', concat(',"state":', json_quote(t.state))),
      iif(t.close_reason IS NULL, '', concat(',"close_reason":', json_quote(t.close_reason))),
      ',"priority":', t.priority, ',"type":"', t.type, '","assignee":', json_quote(t.assignee),
      ',"parent_id":', json_quote(coalesce(t.parent_id, u.parent_id)), ',"dependencies":[') AS head,
    concat('],"labels":', t.labels, ',"github_issue":', json_quote(t.github_issue), ',"created_at":"', t.created_at,
      '","created_by":', json_quote(t.created_by), ',"updated_at":"', t.updated_at,
      '","closed_at":', json_quote(t.closed_at), ',"metadata":', t.metadata) AS tail
  FROM tasks t LEFT JOIN unresolved_parents u ON u.task_id = t.id`;

/** The canonical line of a row of SELECT_PARTS and what hangs on it, edges and comments in their order. */
export function rowToLine(db: Database, row: Row, edges: readonly Row[], comments: readonly Row[]): string {
  return joinParts(row, edges, comments) ?? lineOf(db, row.id as string);
}

/** By the codec, whatever the row holds. */
export function lineOf(db: Database, id: string): string {
  const stored = readRecord(db, id);
  if (stored === undefined) throw new Error(`task ${id} vanished inside its own transaction`);
  return encodeRecord(stored.record);
}

/** Undefined where the parts do not give the line that was written. */
function joinParts(row: Row, edges: readonly Row[], comments: readonly Row[]): string | undefined {
  if (row.digest === null || row.stamps === null) return undefined;
  // Rows of earlier versions may hold what belongs to a replica; the codec leaves it out.
  if (typeof row.extra === 'string' && row.extra.includes(`"${LOCAL_KEY}"`)) return undefined;
  const conflicts = row.conflicts === null ? '' : `,"conflicts":${row.conflicts as string}`;
  const extra = row.extra === null ? '' : `,${(row.extra as string).slice(1, -1)}`;
  const more = `${encodeComments(comments)}${conflicts}${extra}`;
  const body = `${row.head as string}${encodeEdges(edges)}${row.tail as string}${more}`;
  const { line, digest } = sealWithDigest(body, row.stamps as string);
  return digest === row.digest ? line : undefined;
}

function encodeEdges(edges: readonly Row[]): string {
  let text = '';
  for (const { id, type } of edges) {
    text += `${text === '' ? '' : ','}{"id":"${id as string}","type":"${type as string}"}`;
  }
  return text;
}

function encodeComments(comments: readonly Row[]): string {
  if (comments.length === 0) return '';
  const list = comments.map(({ id, author, body, reply_to, created_at, extra }) => ({
    id,
    author,
    body,
    reply_to,
    created_at,
    ...(extra !== null && (readJson(extra as string) as object)),
  }));
  return `,"comments":${JSON.stringify(list)}`;
}

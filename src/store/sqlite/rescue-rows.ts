import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { readJson } from '#kernel/read-json.ts';
import { nameFirst } from '#kernel/text.ts';
import { readDeleted } from './apply-record.ts';
import { compareRows, isSame, keyOf } from './compare-replica.ts';
import { compareSchema } from './compare-schema.ts';
import { Database } from './database.ts';
import { encodeTransition } from '#domain/history-line.ts';
import { leaseLines } from './lease-lines.ts';
import { readReplica, type ReplicaContent } from './read-replica.ts';
import type { Rebuilt } from './rebuild-database.ts';
import { toEncoded } from '#domain/encoded-record.ts';
import { readLine } from './record-rows.ts';
import { encodeReplicaLine } from './replica-lines.ts';
import type { Replica } from './replica.ts';
import { readStanding } from './schema-version.ts';
import { shownLines } from './shown-lines.ts';
import { keptFacts } from './store-facts.ts';

/**
 * Writes to the replica all that only the rows of a database say, as far as they can be read. Under the writer's lock,
 * so that no write of another process falls between database and replica.
 */
export function rescueRows(database: string, replica: Replica): Pick<Rebuilt, 'kept' | 'unread' | 'lost'> {
  let db: Database | undefined;
  try {
    db = new Database(database, { lock_timeout_ms: LIMITS.lock_timeout_ms });
    const opened = db;
    return opened.write(() => rescue(opened, replica));
  } catch (error) {
    if (!isForgeError(error)) throw error;
    // A table that is not there holds nothing.
    const lost = error.message.includes('no such table: tasks') ? [] : ['its tasks'];
    return { kept: [], unread: error.message, lost };
  } finally {
    db?.close();
  }
}

function rescue(db: Database, replica: Replica): Pick<Rebuilt, 'kept' | 'unread' | 'lost'> {
  const content = readReplica(replica);
  const is_whole = readStanding(db) === 'current' && compareSchema(db).length === 0;
  const { lines, changed, unreadable, lost } = compareRows(db, content, { is_whole });
  const deletions = rescueDeletions(db, content);
  const more = [
    ...readable(() => missingMoves(db, content)),
    ...[keptFacts, leaseLines, shownLines].flatMap((list) =>
      readable(() => [...list(db)].filter((line) => !content.others.has(line))),
    ),
  ];
  const all = [...lines, ...deletions.lines, ...more];
  if (all.length > 0) {
    // What a crash cut short must not become whole by what comes after it.
    replica.truncate(content.end);
    replica.append(content.end, all);
  }
  const unread = unreadable.length === 0 ? undefined : `rows that cannot be read: ${nameFirst(unreadable)}`;
  return { kept: changed, unread, lost: [...lost, ...deletions.lost] };
}

function rescueDeletions(db: Database, { newest }: ReplicaContent): { lines: string[]; lost: string[] } {
  const lines: string[] = [];
  const lost: string[] = [];
  const rows = readable(() =>
    db.all('SELECT id, undo FROM deleted_tasks WHERE id NOT IN (SELECT id FROM tasks) ORDER BY id'),
  );
  for (const { id, undo } of rows) {
    const told = newest.get(String(id));
    try {
      const known = readDeleted(db, String(id));
      if (known === undefined) continue;
      const { line } = toEncoded(known.record);
      if (told !== undefined && isSame(line, known.numbers.version, told)) continue;
      if (typeof undo === 'string') {
        const { before } = readJson(undo) as { before: string };
        lines.push(encodeReplicaLine(toEncoded(readLine(before)).line, known.numbers));
      }
      lines.push(encodeReplicaLine(line, known.numbers));
    } catch {
      if (told === undefined) lost.push(`the deletion of ${String(id)}`);
    }
  }
  return { lines, lost };
}

function missingMoves(db: Database, { moves }: ReplicaContent): string[] {
  return db
    .all('SELECT * FROM transitions')
    .filter((row) => !moves.has(keyOf(row)))
    .map(encodeTransition);
}

/** Nothing of a table that is not there or cannot be read. */
function readable<T>(list: () => T[]): T[] {
  try {
    return list();
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return [];
  }
}

import { birthOf, isSameTask } from '#domain/identity.ts';
import { joinRecords } from '#domain/join-records.ts';
import { isDeleted, type TaskRecord } from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { readJson } from '#kernel/read-json.ts';
import { applyRecord, forgetName, readKnown } from './apply-record.ts';
import type { Database } from './database.ts';
import { decodeTransition, encodeTransition, type TravellingMove } from './history-lines.ts';
import { insertEvent, insertTransition } from './log-rows.ts';
import { decodeLease, leaseLines, restoreLeases, type LeaseLine } from './lease-lines.ts';
import { readLine, readRecord, toEncoded } from './record-rows.ts';
import {
  countWholeWrites,
  decodeReplicaLine,
  encodeReplicaLine,
  type Move,
  type ReplicaLine,
} from './replica-lines.ts';
import { renameWork } from './rename-work.ts';
import type { Replica } from './replica.ts';
import { decodeShown, shownLines, writeShown, type ShownLine } from './shown-lines.ts';
import { decodeFact, keptFacts, writeFact, type KeptFact } from './store-facts.ts';

const TRIGGERED_BY = 'system:replay';

/**
 * Makes database and local replica agree, under the write lock; returns the size they agree on.
 * A longer replica holds writes that a crash kept from the database: they are joined in. A shorter one was cut
 * or removed: it is written anew from the database. Another file than the one the database knows is read whole.
 */
export function replayReplica(db: Database, replica: Replica, now: number): number {
  const held = heldBytes(db);
  const size = replica.size();
  const same = isKnownFile(db, replica);
  if (size === held && same) return held;
  if (size < held && (same || size === 0)) return setBytes(db, replica, replica.rewrite(allLines(db)));
  const { lines, end } = wholeWrites(replica.readFrom(same ? held : 0));
  if (end !== size) replica.truncate(end);
  joinLines(db, lines, now);
  return setBytes(db, replica, end);
}

/** How much of the replica the database holds. */
export function heldBytes(db: Database): number {
  return Number(db.get("SELECT value FROM store_facts WHERE name = 'replica_bytes'")?.value ?? 0);
}

export function holdBytes(db: Database, size: number): void {
  db.run("UPDATE store_facts SET value = ? WHERE name = 'replica_bytes'", size);
}

/** Remembers which file the size belongs to. */
export function holdFile(db: Database, replica: Replica): void {
  replica.size(); // looks which file stands there now
  db.run("UPDATE store_facts SET value = ? WHERE name = 'replica_inode'", replica.inode());
}

/** Before the first write there is none; then the file that appears is the one. */
function isKnownFile(db: Database, replica: Replica): boolean {
  const known = Number(db.get("SELECT value FROM store_facts WHERE name = 'replica_inode'")?.value ?? 0);
  return known === 0 || known === replica.inode();
}

function joinLines(db: Database, lines: readonly string[], now: number): void {
  const newest = new Map<string, ReplicaLine>();
  const alive = new Map<string, TaskRecord>();
  const moves: { id: string; at: number; move: Move }[] = [];
  const leases: LeaseLine[] = [];
  for (const line of lines) {
    const read = readOrReport(db, line, now);
    if (read === undefined) continue;
    if ('ttl_ms' in read) {
      leases.push(read);
      continue;
    }
    if ('seal' in read) {
      writeShown(db, read);
      continue;
    }
    if ('name' in read) {
      writeFact(db, read.name, read.value);
      continue;
    }
    if (!('record' in read)) {
      moves.push({ id: read.task_id, at: read.at, move: read });
      continue;
    }
    const { record, move } = read;
    const { id } = record;
    if (move !== undefined) moves.push({ id, at: record.life.written, move });
    newest.delete(id);
    newest.set(id, read);
    if (!isDeleted(record)) alive.set(id, record);
    // A task that was told apart from another went on under a new name.
    const birth = birthOf(record);
    const former = birth === id ? undefined : newest.get(birth);
    if (former === undefined || !isSameTask(former.record, record)) continue;
    newest.delete(birth);
    // Its moves so far went with it; what bears the old name later came from elsewhere.
    for (const known of moves) if (known.id === birth) known.id = id;
  }
  for (const { record, numbers } of newest.values()) {
    const before = readKnown(db, record.id);
    const joined = before === undefined ? record : joinRecords(before.record, record);
    if (before?.record === joined) continue;
    const birth = birthOf(record);
    if (birth !== record.id) forgetFormer(db, birth, record);
    applyRecord(db, before, joined, {
      now,
      triggered_by: TRIGGERED_BY,
      alive: alive.get(record.id),
      numbers,
    });
  }
  for (const { id, at, move } of moves) insertTransition(db, id, at, move, null);
  restoreLeases(db, leases);
}

function forgetFormer(db: Database, birth: string, record: TaskRecord): void {
  const former = readKnown(db, birth);
  if (former === undefined || !isSameTask(former.record, record)) return;
  forgetName(db, birth);
  renameWork(db, birth, record.id);
}

/** Without the lines of a write that a crash cut short: it was never acknowledged. */
function wholeWrites({ lines, end }: { lines: string[]; end: number }): { lines: string[]; end: number } {
  const whole = countWholeWrites(lines);
  if (whole === lines.length) return { lines, end };
  const cut = lines.slice(whole).reduce((bytes, line) => bytes + Buffer.byteLength(line) + 1, 0);
  return { lines: lines.slice(0, whole), end: end - cut };
}

/** One damaged line must not keep the rest from being read; it stays in the file and in the feed. */
function readOrReport(
  db: Database,
  line: string,
  now: number,
): ReplicaLine | TravellingMove | LeaseLine | ShownLine | { name: KeptFact; value: number } | undefined {
  try {
    const other = decodeFact(line) ?? decodeLease(line) ?? decodeShown(line);
    if (other !== undefined) return other;
    // A replica that was written anew has the moves in lines of their own.
    return line.startsWith('{"task":') ? decodeTransition(line) : decodeReplicaLine(line);
  } catch (error) {
    if (!isForgeError(error)) throw error;
    insertEvent(db, {
      type: 'replica.line_unreadable',
      task_id: null,
      triggered_by: TRIGGERED_BY,
      created_at: toIso(now),
      data: { line, why: error.message },
    });
    return undefined;
  }
}

/** Everything the database knows, as lines of a replica. */
export function* allLines(db: Database): Generator<string> {
  for (const row of db.all('SELECT id FROM tasks ORDER BY id')) {
    const stored = readRecord(db, row.id as string);
    if (stored !== undefined) yield encodeReplicaLine(toEncoded(stored.record).line, stored);
  }
  for (const row of db.all('SELECT id FROM deleted_tasks ORDER BY id')) {
    const known = readKnown(db, row.id as string);
    if (known === undefined) continue;
    const content = db.get('SELECT undo FROM deleted_tasks WHERE id = ?', row.id as string)?.undo;
    if (typeof content === 'string') {
      const { before } = readJson(content) as { before: string };
      yield encodeReplicaLine(toEncoded(readLine(before)).line, known.numbers);
    }
    yield encodeReplicaLine(toEncoded(known.record).line, known.numbers);
  }
  for (const row of db.each('SELECT * FROM transitions')) yield encodeTransition(row);
  yield* keptFacts(db);
  yield* leaseLines(db);
  yield* shownLines(db);
}

export function setBytes(db: Database, replica: Replica, size: number): number {
  holdBytes(db, size);
  holdFile(db, replica);
  return size;
}

import { birthOf, isSameTask } from '#domain/identity.ts';
import { joinRecords } from '#domain/join-records.ts';
import type { Move } from '#domain/plan-write.ts';
import { isDeleted, type TaskRecord } from '#domain/task-record.ts';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { applyRecord, forgetName, readKnown } from './apply-record.ts';
import type { Database } from './database.ts';
import { decodeTransition, type TravellingMove } from '#domain/history-line.ts';
import { decodeLease, restoreLeases, type LeaseLine } from './lease-lines.ts';
import { insertEvent, insertTransition } from './log-rows.ts';
import type { EncodedRecord } from '#domain/encoded-record.ts';
import { renameWork } from './rename-work.ts';
import { decodeReplicaLine, type ReplicaLine } from './replica-lines.ts';
import type { ShownLine } from '../fold/fold-rows.ts';
import { decodeShown, writeShown } from './shown-lines.ts';
import { decodeFact, writeFact, type KeptFact } from './store-facts.ts';

export const REPLAYED_BY = 'system:replay';

export interface Replaying {
  readonly now: number;
  /** Inside writeInBulk, where one event tells of all that changes. */
  readonly bulk: boolean;
}

/** Lines of the replica in their order, held in memory together; returns how many tasks they changed. */
export function joinReplicaLines(db: Database, lines: readonly string[], how: Replaying): number {
  const { now } = how;
  let changed = 0;
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
    if (joinReplicaRecord(db, { record, numbers, alive: alive.get(record.id) }, how)) changed += 1;
  }
  for (const { id, at, move } of moves) insertTransition(db, id, at, move, null);
  restoreLeases(db, leases);
  return changed;
}

/** False where the database knows all of it. */
export function joinReplicaRecord(
  db: Database,
  line: Pick<ReplicaLine, 'record' | 'numbers'> & {
    readonly alive?: TaskRecord | undefined;
    readonly encoded?: EncodedRecord | undefined;
    /** Where it is known that the database does not hold it. */
    readonly is_new?: boolean;
  },
  { now, bulk }: Replaying,
): boolean {
  const { record, numbers, alive } = line;
  const before = line.is_new === true ? undefined : readKnown(db, record.id);
  const joined = before === undefined ? record : joinRecords(before.record, record);
  if (before?.record === joined) return false;
  const birth = birthOf(record);
  if (birth !== record.id) forgetFormer(db, birth, record);
  const encoded = joined === record ? line.encoded : undefined;
  applyRecord(db, before, joined, {
    now,
    triggered_by: REPLAYED_BY,
    alive,
    numbers,
    encoded,
    bulk,
    silent: bulk,
  });
  return true;
}

function forgetFormer(db: Database, birth: string, record: TaskRecord): void {
  const former = readKnown(db, birth);
  if (former === undefined || !isSameTask(former.record, record)) return;
  forgetName(db, birth);
  renameWork(db, birth, record.id);
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
      triggered_by: REPLAYED_BY,
      created_at: toIso(now),
      data: { line, why: error.message },
    });
    return undefined;
  }
}

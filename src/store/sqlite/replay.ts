import { decideReplay } from '#domain/decide-replay.ts';
import type { ForgeError } from '#kernel/errors.ts';
import { readJson } from '#kernel/read-json.ts';
import { readKnown } from './apply-record.ts';
import type { Database } from './database.ts';
import { encodeTransition } from '#domain/history-line.ts';
import { joinReplica, type ReplayOptions } from './join-replica.ts';
import { leaseLines } from './lease-lines.ts';
import { toEncoded } from '#domain/encoded-record.ts';
import { readLine, readRecord } from './record-rows.ts';
import { encodeReplicaLine } from './replica-lines.ts';
import type { Replica } from './replica.ts';
import { shownLines } from './shown-lines.ts';
import { findTwoFacts, keptFacts, readFact, writeFact } from './store-facts.ts';
import { toRebuild } from './translate-error.ts';

/** Makes database and local replica agree, under the write lock; returns the size they agree on. */
export function replayReplica(
  db: Database,
  replica: Replica,
  how: ReplayOptions,
  { bytes: held, inode }: Held = readHeld(db),
): number {
  const size = replica.size();
  const is_same = size === 0 || isKnownFile(inode, replica);
  const decision = decideReplay({ size, held, is_same, has_tasks: size === 0 && hasTasks(db) });
  switch (decision.outcome) {
    case 'agreed':
      return decision.size;
    case 'rewrite':
      if (decision.joins) joinReplica(db, replica, { ...how, from: 0 });
      return holdWhole(db, replica, replica.rewrite(allLines(db)));
    case 'join':
      return setBytes(
        db,
        replica,
        joinReplica(db, replica, { ...how, from: replica.startAt(decision.from) }),
      );
  }
}

/** Whether the replica holds what the database says it holds. */
export function isReplicaWhole(db: Database, replica: Replica): boolean {
  const size = replica.size();
  return size === heldBytes(db) && !(size === 0 && hasTasks(db));
}

function hasTasks(db: Database): boolean {
  const row = db.get('SELECT EXISTS (SELECT 1 FROM tasks) + EXISTS (SELECT 1 FROM deleted_tasks) AS known');
  return row?.known !== 0;
}

/**
 * A write that begins where the two agree, on the size that `work` gets. What a crash left in the replica is joined in
 * by a transaction of its own: the write may be refused for what it finds there, and must not take it back with it.
 */
export function writeAgreed<T>(
  { db, replica }: { readonly db: Database; readonly replica: Replica },
  how: ReplayOptions,
  work: (size: number) => T,
): T {
  for (let tries = 0; tries < AGREE_TRIES; tries += 1) {
    const done = db.write(() => {
      const held = readHeld(db);
      const size = replayReplica(db, replica, how, held);
      return size === held.bytes ? { value: work(size) } : undefined;
    });
    if (done !== undefined) return done.value;
  }
  throw neverAgrees(db);
}

/** The second try finds what the first one wrote, unless a process was killed between the two. */
export const AGREE_TRIES = 10;

export function neverAgrees(db: Database): ForgeError {
  return toRebuild(db.path, 'it does not keep how much of the local replica it holds');
}

/** How much of which replica the database holds; undefined where that is not known. */
export interface Held {
  readonly bytes: number | undefined;
  readonly inode: number | undefined;
}

export function readHeld(db: Database): Held {
  const [bytes, inode] = findTwoFacts(db, ['replica_bytes', 'replica_inode']);
  return { bytes: bytes === undefined || bytes < 0 ? undefined : bytes, inode };
}

export function heldBytes(db: Database): number | undefined {
  return readHeld(db).bytes;
}

export function holdBytes(db: Database, size: number): void {
  writeFact(db, 'replica_bytes', size);
}

/** Remembers which file the size belongs to. */
export function holdFile(db: Database, replica: Replica): void {
  replica.size(); // looks which file stands there now
  writeFact(db, 'replica_inode', replica.inode());
}

/** Before the first write there is none; then the file that appears is the one. */
function isKnownFile(known: number | undefined, replica: Replica): boolean {
  return known === 0 || known === replica.inode();
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

/** Of a replica that was written anew, with one line a task. */
export function holdWhole(db: Database, replica: Replica, size: number): number {
  writeFact(db, WHOLE, size);
  return setBytes(db, replica, size);
}

/** How long the replica was when it was last written anew; 0 where that is not known. */
export function wholeBytes(db: Database): number {
  return readFact(db, WHOLE);
}

const WHOLE = 'replica_whole_bytes';

export function setBytes(db: Database, replica: Replica, size: number): number {
  holdBytes(db, size);
  holdFile(db, replica);
  return size;
}

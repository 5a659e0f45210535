import { readJson } from '#kernel/read-json.ts';
import { readKnown } from './apply-record.ts';
import type { Database } from './database.ts';
import { encodeTransition } from './history-lines.ts';
import { joinReplica, type ReplayOptions } from './join-replica.ts';
import { leaseLines } from './lease-lines.ts';
import { readLine, readRecord, toEncoded } from './record-rows.ts';
import { encodeReplicaLine } from './replica-lines.ts';
import type { Replica } from './replica.ts';
import { shownLines } from './shown-lines.ts';
import { keptFacts } from './store-facts.ts';

/**
 * Makes database and local replica agree, under the write lock; returns the size they agree on.
 * A longer replica holds writes that a crash kept from the database: they are joined in. A shorter one was cut
 * or removed: it is written anew from the database. Another file than the one the database knows is read whole.
 */
export function replayReplica(
  db: Database,
  replica: Replica,
  how: ReplayOptions,
  held: number = heldBytes(db),
): number {
  const size = replica.size();
  const same = isKnownFile(db, replica);
  if (size === held && same) return held;
  if (size < held && (same || size === 0)) return setBytes(db, replica, replica.rewrite(allLines(db)));
  return setBytes(db, replica, joinReplica(db, replica, { ...how, from: replica.startAt(same ? held : 0) }));
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
  for (;;) {
    const done = db.write(() => {
      const held = heldBytes(db);
      return replayReplica(db, replica, how, held) === held ? { value: work(held) } : undefined;
    });
    if (done !== undefined) return done.value;
  }
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

import type { Writer } from '../store.ts';
import type { Database } from './database.ts';
import type { LocalNumbers } from './record-rows.ts';
import { encodeReplicaLine } from './replica-lines.ts';
import { heldBytes, holdBytes, holdFile, writeAgreed } from './replay.ts';
import type { Replica } from './replica.ts';

/** Lines are kept back until this many characters are together: a write a line would be most of a fold's time. */
const BATCH = 1 << 16;

export interface ReplicaAppender {
  /** One line of the replica. All of a transaction are one write: after a crash all of them count, or none. */
  append(line: string, numbers: LocalNumbers): void;
  /** A move that came from elsewhere. Each counts by itself. */
  appendMove(line: string): void;
}

/** A write transaction of many records, whose lines go to the replica in batches and are synced once, before the commit. */
export function appendingTo<T>(
  { db, replica }: { db: Database; replica: Replica },
  by: Writer,
  work: (appender: ReplicaAppender) => T,
): T {
  let from: number | undefined;
  try {
    return writeAgreed({ db, replica }, { now: by.now }, (start) => {
      let end = start;
      let waiting: string[] = [];
      let length = 0;
      // Kept back until it is known whether another one follows.
      let last: { readonly line: string; readonly numbers: LocalNumbers } | undefined;
      const flush = (sync: boolean): void => {
        if (waiting.length === 0) return;
        from = start;
        end = replica.append(end, waiting, { sync });
        waiting = [];
        length = 0;
      };
      const result = work({
        append(line, numbers) {
          if (last !== undefined) waiting.push(encodeReplicaLine(last.line, last.numbers, { follow: 1 }));
          last = { line, numbers };
          length += line.length;
          if (length >= BATCH) flush(false);
        },
        appendMove(line) {
          waiting.push(line);
          length += line.length;
          if (length >= BATCH) flush(false);
        },
      });
      if (last !== undefined) waiting.push(encodeReplicaLine(last.line, last.numbers));
      flush(true);
      if (end !== start) {
        replica.sync();
        if (start === 0) holdFile(db, replica);
        holdBytes(db, end);
      }
      return result;
    });
  } catch (error) {
    if (from !== undefined) takeBack(db, replica, from);
    throw error;
  }
}

/** The lock is gone with the transaction, so others may have written since: then what stands there is theirs. */
export function takeBack(db: Database, replica: Replica, from: number): void {
  try {
    db.write(() => {
      if (heldBytes(db) === from && replica.size() > from) replica.truncate(from);
    });
  } catch {
    // The first error is the one to tell.
  }
}

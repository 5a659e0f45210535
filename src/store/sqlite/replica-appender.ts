import type { LocalNumbers } from '#domain/plan-write.ts';
import type { Writer } from '../store.ts';
import type { Database } from './database.ts';
import { encodeReplicaLine } from './replica-lines.ts';
import { heldBytes, holdBytes, holdFile, writeAgreed } from './replay.ts';
import type { Replica } from './replica.ts';

/** Lines are kept back until this many characters are together: a write a line would be most of a fold's time. */
const BATCH = 1 << 16;

export interface ReplicaAppender {
  /** One line of the replica. All of a transaction are one write: after a crash all of them count, or none. */
  append(line: string, numbers: LocalNumbers): void;
  /** What is no record and is true only with the records of the same transaction: what a file showed. */
  appendBeside(line: string): void;
  /** A move that came from elsewhere. Each counts by itself. */
  appendMove(line: string): void;
}

interface LastRecord {
  readonly line: string;
  readonly numbers: LocalNumbers;
  /** Lines that go with it. */
  readonly beside: string[];
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
      // Kept back until it is known what follows.
      let last: LastRecord | undefined;
      // What comes before the first record stands behind it, or it would count without any.
      const early: string[] = [];
      const write = (follow: number): void => {
        if (last === undefined) return;
        const { line, numbers, beside } = last;
        waiting.push(encodeReplicaLine(line, numbers, { follow: beside.length + follow }), ...beside);
      };
      const flush = (sync: boolean): void => {
        if (waiting.length === 0) return;
        from = start;
        end = replica.append(end, waiting, { sync });
        waiting = [];
        length = 0;
      };
      const result = work({
        append(line, numbers) {
          write(1);
          last = { line, numbers, beside: early.splice(0) };
          length += line.length;
          if (length >= BATCH) flush(false);
        },
        appendBeside(line) {
          (last?.beside ?? early).push(line);
          length += line.length;
        },
        appendMove(line) {
          waiting.push(line);
          length += line.length;
          if (length >= BATCH) flush(false);
        },
      });
      write(0);
      waiting.push(...early);
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

import { closeSync, fsync, statfsSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import { KEPT_LIMITS } from '#kernel/kept-limits.ts';
import type { Database } from './database.ts';
import { newestEvent, oldestEvent } from './log-rows.ts';
import { LoopTurn } from './loop-turn.ts';
import type { Replica } from './replica.ts';
import { allLines, holdWhole, readHeld, replayReplica, wholeBytes } from './replay.ts';

interface Parts {
  readonly db: Database;
  readonly replica: Replica;
}

/** What is wrong with the place or for a while: a later call finds it still to do. */
const PUTS_OFF: ReadonlySet<string> = new Set(['disk_full', 'read_only', 'store_busy', 'io_failed']);

/**
 * Every write makes the feed of events and the local replica longer. This brings both back within their bounds, a portion
 * of the events at a time. Most calls only look, for some microseconds, so that each writer may call it; what keeps this
 * from being done keeps no writer from what it was asked for.
 */
export async function keepBounded(
  parts: Parts,
  now: number,
): Promise<{ readonly events: number; readonly replica: boolean }> {
  const done = { events: 0, replica: false };
  try {
    const last = findLastToForget(parts.db, now);
    if (last !== undefined) done.events = parts.db.write(() => forgetEvents(parts.db, last));
    done.replica = isTooLong(parts) && hasRoom(parts.replica) && (await compactBesideReaders(parts, now));
  } catch (error) {
    if (!isForgeError(error) || !PUTS_OFF.has(error.code)) throw error;
  }
  return done;
}

/**
 * The last event of the next portion that is too old, or of which there are too many. Some more than the bound may stand,
 * so that not every write has to forget one.
 */
function findLastToForget(db: Database, now: number): number | undefined {
  const [oldest, newest] = [oldestEvent(db), newestEvent(db)];
  const end = Math.min(newest - 1, oldest + KEPT_LIMITS.events_at_once - 1);
  const surplus = newest - KEPT_LIMITS.events;
  if (surplus >= oldest + KEPT_LIMITS.events_over) return Math.min(end, surplus);
  const until = toIso(now - KEPT_LIMITS.event_days * 86_400_000);
  // The first of the rest that is young ends what is old: a clock that was wrong for a while hides no young event.
  const isOld = db.get('SELECT created_at < ? AS old FROM events WHERE seq = ?', until, oldest)?.old === 1;
  if (!isOld || end < oldest) return undefined;
  const young = db.get(
    'SELECT min(seq) AS seq FROM events WHERE seq BETWEEN ? AND ? AND created_at >= ?',
    oldest,
    end,
    until,
  )?.seq;
  return typeof young === 'number' ? young - 1 : end;
}

/** Moves stay, and are told by themselves from then on. Gives how many events were forgotten. */
export function forgetEvents(db: Database, last: number): number {
  // By the key of moves, which begins with their task: few of a large table belong to a portion of events.
  db.run(
    `UPDATE transitions SET event_seq = NULL WHERE event_seq <= ?1
      AND task_id IN (SELECT task_id FROM events WHERE seq <= ?1 AND task_id IS NOT NULL)`,
    last,
  );
  return db.run('DELETE FROM events WHERE seq <= ?', last).changes;
}

/** Several times as long as when it was last written whole, which would not take long. */
function isTooLong({ db, replica }: Parts): boolean {
  const size = replica.size();
  const whole = wholeBytes(db);
  return (
    size > KEPT_LIMITS.replica_bytes &&
    size > KEPT_LIMITS.replica_growth * whole &&
    whole <= KEPT_LIMITS.replica_whole_bytes
  );
}

/** For both files at once, so that a rewrite does not take from others the last of the disk. */
function hasRoom(replica: Replica): boolean {
  try {
    const { bavail, bsize } = statfsSync(dirname(replica.path));
    return bavail * bsize > 2 * replica.size();
  } catch {
    // A file system that does not say how much is free: the rewrite shows it.
    return true;
  }
}

/**
 * Under the write lock, with other work of this process in between. False where a crash had left something in the
 * replica, which is joined in first: the next call does the rest.
 */
async function compactBesideReaders({ db, replica }: Parts, now: number): Promise<boolean> {
  const turn = new LoopTurn();
  return db.writeAside(async () => {
    const held = readHeld(db);
    if (replayReplica(db, replica, { now }, held) !== held.bytes || !isTooLong({ db, replica })) return false;
    try {
      holdWhole(db, replica, await replica.rewriteAside((file) => writeInTurns(file, allLines(db), turn)));
      return true;
    } catch (error) {
      if (!(error instanceof TooLong)) throw error;
      // Other writers waited for nothing; `forge gc` may take its time.
      holdWhole(db, replica, held.bytes ?? 0);
      return false;
    }
  });
}

const CHUNK = 1 << 16;

/** More than others are kept waiting for. */
class TooLong extends Error {}

/** Fills a new file with these lines, syncs and closes it. Gives its size. */
async function writeInTurns(file: number, lines: Iterable<string>, turn: LoopTurn): Promise<number> {
  let size = 0;
  let chunk = '';
  const write = async (): Promise<void> => {
    writeFileSync(file, chunk);
    size += Buffer.byteLength(chunk);
    chunk = '';
    if (size > KEPT_LIMITS.replica_whole_bytes) throw new TooLong();
    await turn.pass();
  };
  try {
    for (const line of lines) {
      chunk += `${line}\n`;
      if (chunk.length >= CHUNK) await write();
    }
    await write();
    await new Promise<void>((resolve, reject) => {
      fsync(file, (error) => (error === null ? resolve() : reject(error)));
    });
  } finally {
    closeSync(file);
  }
  return size;
}

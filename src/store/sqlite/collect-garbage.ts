import { toTriggeredBy } from '#domain/actor.ts';
import { isPastDeletion, pruneRecord } from '#domain/prune-record.ts';
import { toIso } from '#kernel/clock.ts';
import type { Database } from './database.ts';
import { readKnown } from './apply-record.ts';
import { forgetEvents } from './keep-bounded.ts';
import { insertEvent, newestEvent } from './log-rows.ts';
import { appendingTo } from './replica-appender.ts';
import { allLines, holdWhole } from './replay.ts';
import type { Replica } from './replica.ts';
import { toEncoded } from '#domain/encoded-record.ts';
import { readRecord, writeRecord } from './record-rows.ts';
import type { Writer } from '../store.ts';

/** One line a task, and the moves. */
export function compactReplica(
  { db, replica }: { db: Database; replica: Replica },
  by: Writer,
): { before: number; after: number } {
  return appendingTo({ db, replica }, by, () => {
    const before = replica.size();
    return { before, after: holdWhole(db, replica, replica.rewrite(allLines(db))) };
  });
}

/** Forgets that something was removed before `until`, and tasks that were deleted before. */
export function prune(
  store: { db: Database; replica: Replica },
  until: number,
  by: Writer,
): { removals: number; deleted_tasks: number } {
  const { db } = store;
  const result = appendingTo(store, by, (appender) => {
    let removals = 0;
    for (const row of db.all("SELECT id FROM tasks WHERE stamps LIKE '%\"-%' ORDER BY id")) {
      const stored = readRecord(db, row.id as string);
      if (stored === undefined) continue;
      const pruned = pruneRecord(stored.record, until);
      if (pruned.removals === 0) continue;
      removals += pruned.removals;
      const encoded = toEncoded(pruned.record);
      const numbers = { version: stored.version + 1, fence: stored.fence };
      writeRecord(db, stored, encoded, numbers);
      appender.append(encoded.line, numbers);
    }
    let deleted_tasks = 0;
    for (const row of db.all('SELECT id FROM deleted_tasks')) {
      const known = readKnown(db, row.id as string);
      if (known === undefined || !isPastDeletion(known.record, until)) continue;
      db.run('DELETE FROM deleted_tasks WHERE id = ?', row.id as string);
      deleted_tasks += 1;
    }
    // Without an event the task files would count as holding all there is, and keep what was forgotten.
    if (removals + deleted_tasks > 0) {
      insertEvent(db, {
        type: 'project.changed',
        task_id: null,
        triggered_by: toTriggeredBy(by.actor),
        created_at: toIso(by.now),
        data: { changed: ['tasks'], pruned: { removals, deleted_tasks } },
      });
    }
    return { removals, deleted_tasks };
  });
  return result;
}

/**
 * Forgets events from before `until`; moves stay, and are told by themselves from then on. The newest event stays
 * at any age, because numbers go on from it.
 */
export function pruneEvents(
  db: Database,
  until: number,
): { events: number; database: { before: number; after: number } } {
  const newest = newestEvent(db);
  const events = db.write(() => {
    const last = Number(
      db.get('SELECT max(seq) AS seq FROM events WHERE seq < ? AND created_at < ?', newest, toIso(until))
        ?.seq ?? 0,
    );
    return forgetEvents(db, last);
  });
  return { events, database: shrinkDatabase(db) };
}

/** Gives the space of what was forgotten back to the disk, where it is worth it: a quarter of the file at least. */
function shrinkDatabase(db: Database): { before: number; after: number } {
  const read = (name: string): number => Number(db.get(`PRAGMA ${name}`)?.[name] ?? 0);
  const size = (): number => read('page_count') * read('page_size');
  const before = size();
  if (read('freelist_count') * 4 >= read('page_count')) db.execute('VACUUM');
  // Where a reader holds the log open it stays; the next writer cuts it.
  db.get('PRAGMA wal_checkpoint(TRUNCATE)');
  return { before, after: size() };
}

import { encodeTransition } from '#domain/history-line.ts';
import { toIso } from '#kernel/clock.ts';
import { readJson } from '#kernel/read-json.ts';
import type { EventData, FoldEvent, FoldRows, FoldStore } from '../fold/fold-rows.ts';
import type { Writer } from '../store.ts';
import { applyRecord, forgetName, readKnown, type Known } from './apply-record.ts';
import { writeInBulk } from './bulk-writes.ts';
import type { Database } from './database.ts';
import { EdgeQueue } from './edge-queue.ts';
import { readMark, writeMark, writeUnreadable } from './file-marks.ts';
import { readDigests, readSharedBirths } from './fold-facts.ts';
import { insertEvent, insertTransition, newestEvent, oldestEvent } from './log-rows.ts';
import { readPlainLine } from './plain-lines.ts';
import { INSERT_RECORD } from './record-rows.ts';
import { renameWork } from './rename-work.ts';
import { appendingTo, type ReplicaAppender } from './replica-appender.ts';
import type { Replica } from './replica.ts';
import { forgetShown, listShown, listShownOf, readShown, writeShown } from './shown-lines.ts';
import { findFact, writeFact } from './store-facts.ts';

const FOLDED_BY = 'system:fold';

/** Files are joined in one transaction, and so is what the local replica gets of it. */
export function openFoldStore(store: { db: Database; replica: Replica }): FoldStore {
  return {
    write: (by, work) => appendingTo(store, by, (appender) => work(openRows(store.db, appender, by))),
  };
}

function openRows(db: Database, appender: ReplicaAppender, by: Writer): FoldRows {
  const edges = new EdgeQueue(db);
  let bulk = false;
  return {
    readMark: (path) => readMark(db, path),
    writeMark: (mark) => writeMark(db, mark),
    writeUnreadable: (path, lines) => writeUnreadable(db, path, lines),
    findFact: (name) => findFact(db, name),
    writeFact: (name, value) => writeFact(db, name, value),

    newestEvent: () => newestEvent(db),
    oldestEvent: () => oldestEvent(db),
    newestEventOf: (id) =>
      Number(db.get('SELECT max(seq) AS seq FROM events WHERE task_id = ?', id)?.seq ?? 0),
    listTaskEvents: (id) => listTaskEvents(db, id),
    listManyChanged: () => listManyChanged(db),
    tellProject: (data) =>
      void insertEvent(db, {
        type: 'project.changed',
        task_id: null,
        triggered_by: FOLDED_BY,
        created_at: toIso(by.now),
        data,
      }),

    countTasks: () =>
      Number(db.get('SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM deleted_tasks) AS n')?.n),
    readDigests: () => readDigests(db),
    readSharedBirths: () => readSharedBirths(db),
    readKnown: (id) => readKnown(db, id),
    apply(before, record, { silent, encoded: line }) {
      const how = { now: by.now, triggered_by: FOLDED_BY, silent, bulk, encoded: line };
      // Whatever was known of it was given by readKnown.
      const { numbers, encoded } = applyRecord(db, before as Known | undefined, record, how);
      appender.append(encoded.line, numbers);
      return encoded;
    },
    renewLine({ record: { id }, line, stamps, digest }) {
      db.run('UPDATE tasks SET stamps = ?, digest = ? WHERE id = ?', stamps, digest, id);
      db.run('UPDATE deleted_tasks SET line = ?, digest = ? WHERE id = ?', line, digest, id);
    },
    rename(from, to) {
      forgetName(db, from);
      db.run('UPDATE OR IGNORE transitions SET task_id = ? WHERE task_id = ?', to, from);
      renameWork(db, from, to);
    },
    inBulk(work) {
      bulk = true;
      return writeInBulk(db, work);
    },
    savePlain(text, isNew) {
      const plain = readPlainLine(text);
      if (plain === undefined || !isNew(plain)) return undefined;
      const numbers = { version: 1, fence: plain.assignee === null ? 0 : 1 };
      db.run(INSERT_RECORD, plain.id, ...plain.values(numbers, db.parkedStates));
      for (const { id, type } of plain.edges) edges.add(plain.id, id, type);
      appender.append(text, numbers);
      return plain;
    },
    settle: () => edges.write(),
    addMove(move) {
      if (!insertTransition(db, move.task_id, move.at, move, null)) return false;
      appender.appendMove(encodeTransition({ ...move, created_at: toIso(move.at) }));
      return true;
    },

    readShown: (place) => readShown(db, place),
    listShown: (path, id) => listShown(db, path, id),
    writeShown: (shown, { outlives }) => writeShown(db, shown, outlives ? appender : undefined),
    listShownOf: (path) => listShownOf(db, path),
    forgetShown: (place) => forgetShown(db, place),
  };
}

function listTaskEvents(db: Database, id: string): FoldEvent[] {
  const sql = 'SELECT seq, triggered_by, data FROM events WHERE task_id = ? ORDER BY seq';
  return db.all(sql, id).map((row) => ({
    seq: row.seq as number,
    triggered_by: row.triggered_by as string,
    data: readJson(row.data as string) as EventData,
  }));
}

function listManyChanged(db: Database): number[] {
  return db
    .all("SELECT seq, data FROM events WHERE task_id IS NULL AND type = 'project.changed'")
    .filter(({ data }) => (readJson(data as string) as EventData).changed?.includes('tasks'))
    .map(({ seq }) => Number(seq));
}

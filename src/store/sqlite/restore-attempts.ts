import { toIso } from '#kernel/clock.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { RefusedRecord, RestoredAttempts } from '../store-care.ts';
import { readRecordFiles, recordsFolder } from './attempt-record-files.ts';
import { restoreRecord } from './attempt-records.ts';
import type { Database } from './database.ts';
import { insertEvent } from './log-rows.ts';
import { readFact, writeFact } from './store-facts.ts';

const TRIGGERED_BY = 'system:replay';

type ReadRecords = Awaited<ReturnType<typeof readRecordFiles>>;

/** What the first who opens a new database does, or one that lacks something, and nobody after it. */
export async function restoreOnce(
  db: Database,
  { now, notice }: { now: number; notice: ((line: string) => void) | undefined },
): Promise<void> {
  const read = await readRecordFiles(recordsFolder(db.path));
  let done: RestoredAttempts | undefined;
  try {
    db.write(() => {
      if (readFact(db, 'attempts_restored') !== 0) return;
      done = restoreRead(db, read, now);
      writeFact(db, 'attempts_restored', 1);
    });
  } catch (error) {
    // Where nothing can be written, whoever can will do it; tasks can be read all the same.
    if (isForgeError(error) && error.code === 'read_only') return;
    throw error;
  }
  for (const { path, problem } of done?.refused ?? [])
    notice?.(`The record of an attempt cannot be used and stays where it is: ${path}: ${problem}`);
}

/** Inside a transaction. The oldest first, so that they stand in the order they came in. */
export function restoreRead(db: Database, { records, refused }: ReadRecords, now: number): RestoredAttempts {
  const age = ({ record: { attempt } }: ReadRecords['records'][number]) =>
    `${attempt.created_at} ${attempt.id}`;
  const sorted = records.toSorted((a, b) => (age(a) < age(b) ? -1 : 1));
  const at = toIso(now);
  const unfit: RefusedRecord[] = [];
  let restored = 0;
  for (const { path, record } of sorted) {
    const outcome = restoreRecord(db, record, at);
    if (outcome === 'restored') restored += 1;
    else if (outcome !== 'known') unfit.push({ path, problem: outcome.problem });
  }
  const all = [...refused, ...unfit];
  for (const data of all)
    insertEvent(db, {
      type: 'attempt.record_refused',
      task_id: null,
      triggered_by: TRIGGERED_BY,
      created_at: at,
      data,
    });
  return { restored, refused: all };
}

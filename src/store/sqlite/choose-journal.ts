import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { chooseJournalMode, type JournalChoice } from '#domain/journal-mode.ts';
import type { Database } from './database.ts';

/**
 * Of a new database: the journal mode is a property of the file and stays, so that no later command has to look again. Where a
 * file system cannot do WAL, SQLite answers with the mode it keeps, and Forge goes on with that: slower, as safe.
 */
export function chooseJournal(db: Database, notice?: (line: string) => void): void {
  const choice = judgeFileSystem(db.path);
  // Two processes that switch at the same moment can see "locked" in spite of the time-out. The process that opens it tries again.
  db.execute(`PRAGMA journal_mode = ${choice.mode}`);
  if (choice.mode === 'delete')
    notice?.(
      `The task database lies on ${choice.on}, where SQLite's log is not safe: it gets a rollback journal, and readers and writers wait for each other`,
    );
}

/** What a new database in that place would get. */
export function judgeFileSystem(database: string): JournalChoice {
  let type: number | undefined;
  try {
    ({ type } = statfsSync(dirname(database)));
  } catch {
    // The system does not say; opening the database says what is wrong.
  }
  return chooseJournalMode(type, process.platform);
}

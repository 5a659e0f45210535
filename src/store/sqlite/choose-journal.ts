import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { chooseJournalMode, type JournalChoice } from '#domain/journal-mode.ts';
import type { Database } from './database.ts';

/** The number of the file system that a folder lies on, undefined where the system does not say, and whose number it is. */
export type ReadFileSystem = (folder: string) => {
  readonly type: number | undefined;
  readonly platform: string;
};

/**
 * Of a new database: the journal mode is a property of the file and stays, so that no later command has to look again. Where a
 * file system cannot do WAL, SQLite answers with the mode it keeps, and Forge goes on with that: slower, as safe.
 */
export function chooseJournal(
  db: Database,
  {
    notice,
    readFileSystem,
  }: {
    readonly notice?: ((line: string) => void) | undefined;
    readonly readFileSystem?: ReadFileSystem | undefined;
  },
): void {
  const choice = judgeFileSystem(db.path, readFileSystem);
  // Two processes that switch at the same moment can see "locked" in spite of the time-out. The process that opens it tries again.
  db.execute(`PRAGMA journal_mode = ${choice.mode}`);
  if (choice.mode === 'delete')
    notice?.(
      `The task database lies on ${choice.on}, where SQLite's log is not safe: it gets a rollback journal, and readers and writers wait for each other`,
    );
}

/** What a new database in that place would get. */
export function judgeFileSystem(
  database: string,
  readFileSystem: ReadFileSystem = readStatfs,
): JournalChoice {
  const { type, platform } = readFileSystem(dirname(database));
  return chooseJournalMode(type, platform);
}

/** What the system says of the folder. */
export function readStatfs(folder: string): ReturnType<ReadFileSystem> {
  const { platform } = process;
  try {
    return { type: statfsSync(folder).type, platform };
  } catch {
    return { type: undefined, platform }; // Opening the database says what is wrong.
  }
}

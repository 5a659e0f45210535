import type { OwnWrite } from '#domain/own-values.ts';
import { HERE, noteOwnWrite } from '../fold/own-runs.ts';
import type { Database } from './database.ts';
import { encodeShown, readShown, writeShownRow } from './shown-lines.ts';

/** Notes what was written here, and returns the line that the local replica needs for it. */
export function noteOwnWriteRow(db: Database, id: string, write: OwnWrite): string {
  const rows = {
    readShown: (place: Parameters<typeof readShown>[1]) => readShown(db, place),
    writeShown: (shown: Parameters<typeof writeShownRow>[1]) => void writeShownRow(db, shown),
  };
  return encodeShown(noteOwnWrite(rows, id, write));
}

/** A task that was told apart from another takes its values along. */
export function renameOwnRuns(db: Database, from: string, to: string): void {
  db.run('UPDATE OR REPLACE shown_lines SET task_id = ? WHERE path = ? AND task_id = ?', to, HERE, from);
}

import { LIFE } from '#domain/lost-values.ts';
import { continueRun, type OwnRun, type OwnWrite } from '#domain/own-values.ts';
import type { Database } from './database.ts';
import { encodeShown, writeShownRow } from './shown-lines.ts';

/**
 * They stand among what lines of files showed, under the name of no file: there older programs, which use the same
 * database, leave them alone, and the local replica has lines of them that every version reads.
 */
const HERE = 'written here';

export function readOwnRun(db: Database, id: string): OwnRun | undefined {
  const row = db.get(
    'SELECT digests FROM shown_lines WHERE path = ? AND task_id = ? AND seal = ?',
    HERE,
    id,
    LIFE,
  );
  return row === undefined ? undefined : decodeRun(row.digests as string);
}

/** Notes what was written here, and returns the line that the local replica needs for it. */
export function noteOwnWrite(db: Database, id: string, write: OwnWrite): string {
  const run = continueRun(readOwnRun(db, id), write);
  const digests = run.map(({ stamp, hash }) => `${stamp.toString(36)}.${hash}`).join(' ');
  const shown = { path: HERE, task_id: id, seal: LIFE, digests };
  writeShownRow(db, shown);
  return encodeShown(shown);
}

/** A task that was told apart from another takes its values along. */
export function renameOwnRuns(db: Database, from: string, to: string): void {
  db.run('UPDATE OR REPLACE shown_lines SET task_id = ? WHERE path = ? AND task_id = ?', to, HERE, from);
}

function decodeRun(text: string): OwnRun {
  return text.split(' ').map((mark) => {
    const [stamp = '', hash = ''] = mark.split('.');
    return { stamp: Number.parseInt(stamp, 36), hash };
  });
}

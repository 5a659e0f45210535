import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { replaceFile } from '#git/replace-file.ts';

/** What Forge has done to an attempt's folder besides what git knows; kept beside the attempt's logs. */
export interface FolderNote {
  /** Files that Forge put there, from the folder's top: no commit may hold them. */
  readonly copied: readonly string[];
  /** What the set-up has last run for; null where it has not, or is at it. */
  readonly setup: string | null;
  /** How much of the disk it took, and when that was looked at. */
  readonly size: { readonly bytes: number; readonly at: number } | null;
  /** The scripts for which a review ran no check, as they were then. */
  readonly unread: { readonly review_id: string; readonly fingerprint: string } | null;
}

const NOTHING: FolderNote = { copied: [], setup: null, size: null, unread: null };

interface Place {
  readonly records: string;
}

export function readFolderNote(place: Place, attemptId: string): FolderNote {
  let found: unknown;
  try {
    found = JSON.parse(readPlainFile(toPath(place, attemptId))?.toString('utf8') ?? 'null');
  } catch {
    // None yet, or one that is of no use any more: everything is done again.
  }
  // Written by the function below, and by nobody else.
  return { ...NOTHING, ...(found as Partial<FolderNote> | undefined) };
}

export function changeFolderNote(place: Place, attemptId: string, change: Partial<FolderNote>): void {
  mkdirSync(join(place.records, attemptId), { recursive: true, mode: 0o700 });
  const note = { ...readFolderNote(place, attemptId), ...change };
  replaceFile(toPath(place, attemptId), `${JSON.stringify(note)}\n`, 0o600);
}

function toPath({ records }: Place, attemptId: string): string {
  return join(records, attemptId, 'folder.json');
}

import { chmodSync, lstatSync, rmSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TranscriptEntry } from '#contract/transcript.ts';
import { replaceFile } from '#git/replace-file.ts';
import { listLogParts } from './log/log-parts.ts';

/** What the log of a run takes of the disk, with all of its parts. */
export interface RunLogFile {
  readonly attempt_id: string;
  readonly run_id: string;
  readonly bytes: number;
  /** When something was last written to it, in ms. */
  readonly changed_at: number;
}

/** `<records>/<attempt>/<run>.jsonl`, and its later parts. */
const LOG_NAME = /^([0-9a-f-]{36})\.jsonl(?:\.[1-9]\d{0,15})?$/;

/**
 * Those of all runs in the records of a project, the oldest first. Other files there are no logs, and what belongs to
 * another user who shares the repository is theirs to look after.
 */
export async function listRunLogFiles(records: string): Promise<RunLogFile[]> {
  const found = new Map<string, RunLogFile>();
  for (const attempt_id of await listNames(records)) {
    for (const name of await listNames(join(records, attempt_id))) {
      const run_id = LOG_NAME.exec(name)?.[1];
      if (run_id === undefined) continue;
      // A part may be dropped meanwhile by the run that writes it.
      const part = await stat(join(records, attempt_id, name)).catch(() => undefined);
      if (part === undefined) continue;
      const key = `${attempt_id}/${run_id}`;
      const { bytes = 0, changed_at = 0 } = found.get(key) ?? {};
      const changed = Math.max(changed_at, part.mtimeMs);
      found.set(key, { attempt_id, run_id, bytes: bytes + part.size, changed_at: changed });
    }
  }
  return [...found.values()].sort((a, b) => a.changed_at - b.changed_at);
}

/** The log has one line from now on, which says what became of the others. For a run that has ended. */
export function replaceRunLog(
  records: string,
  { attempt_id, run_id }: Pick<RunLogFile, 'attempt_id' | 'run_id'>,
  { at, text }: { readonly at: string; readonly text: string },
): void {
  const path = join(records, attempt_id, `${run_id}.jsonl`);
  const mode = (lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o666;
  const entry: TranscriptEntry = { kind: 'note', text };
  replaceFile(path, `${JSON.stringify({ v: 1, seq: 1, at, ...entry })}\n`, mode);
  chmodSync(path, mode); // whatever the umask took away
  // Last: where this was cut short, it is done again.
  for (const part of listLogParts(path)) if (part.start > 0) rmSync(part.path, { force: true });
}

/** No folder, or one that only another user may read. */
const NOT_OURS: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']);

async function listNames(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && NOT_OURS.has(code)) return [];
    throw error;
  }
}

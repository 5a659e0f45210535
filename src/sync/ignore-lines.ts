import { appendFileSync, existsSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { lookAt } from './look-at.ts';

/** What git must not track: the link to the database, and what SQLite would put beside a real file. */
export const IGNORE_LINES = ['.forge/forge.db', '.forge/forge.db-shm', '.forge/forge.db-wal'] as const;

/**
 * Adds the lines that an ignore file does not have yet, keeping everything else byte for byte. Appended, not
 * rewritten, so that mode and ownership stay. `undo` gets the way back before the first byte is written.
 */
export function addIgnoreLines(path: string, undo: (() => void)[]): void {
  // latin1 keeps every byte, whatever the file's encoding.
  const existing = lookAt(path) !== undefined;
  const before = existing ? readFileSync(path, 'latin1') : '';
  const added = toMissingLines(before);
  if (added === '') return;
  undo.push(() => {
    if (!existsSync(path)) return;
    const now = readFileSync(path, 'latin1');
    const written = now.slice(before.length);
    // Somebody else's edit since then is worth more than three lines too many.
    if (!now.startsWith(before) || !added.startsWith(written)) return;
    if (existing) truncateSync(path, before.length);
    else rmSync(path);
  });
  appendFileSync(path, added);
}

/** What is to be appended to `content`; empty where it has all lines. */
export function toMissingLines(content: string): string {
  const ending = content.includes('\r\n') ? '\r\n' : '\n';
  const present = new Set(content.split(/\r?\n/).map((line) => line.trimEnd()));
  const missing = IGNORE_LINES.filter((line) => !present.has(line));
  if (missing.length === 0) return '';
  const start = content === '' || content.endsWith('\n') ? '' : ending;
  return start + missing.map((line) => line + ending).join('');
}

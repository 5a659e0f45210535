import { appendFileSync, existsSync, rmSync, truncateSync } from 'node:fs';
import { readPlainFile } from '#git/read-plain-file.ts';
import { LIMITS } from '#kernel/limits.ts';
import { lookAt } from './look-at.ts';
import { replaceFile } from './place-file.ts';
import { readRegularFile } from './read-regular-file.ts';

const max_bytes = LIMITS.git_file_bytes;

/** What was appended, and to what. */
export interface AddedLines {
  readonly existing: boolean;
  /** In bytes, before. */
  readonly length: number;
  readonly added: string;
}

/**
 * Adds the lines that a file (ignore file, attributes file) does not have yet, keeping everything else byte for byte.
 * Appended, not rewritten, so that mode and ownership stay. `undo` gets the way back, and `remember` what will be
 * there, before the first byte is written; nothing happens where no line is missing. A link is left alone: git follows
 * none in a working tree, and the file behind it may be anybody's.
 */
export function addLines(
  path: string,
  lines: readonly string[],
  { undo, remember }: { readonly undo: (() => void)[]; readonly remember: (lines: AddedLines) => void },
): void {
  // latin1 keeps every byte, whatever the file's encoding.
  const found = lookAt(path);
  if (found?.isSymbolicLink() === true) return;
  const existing = found !== undefined;
  const before = readRegularFile(path, { links: 'follow', max_bytes })?.toString('latin1') ?? '';
  const added = toMissingLines(before, lines);
  if (added === '') return;
  undo.push(() => {
    if (!existsSync(path)) return;
    const now = readPlainFile(path)?.toString('latin1') ?? '';
    const written = now.slice(before.length);
    // Somebody else's edit since then is worth more than a few lines too many.
    if (!now.startsWith(before) || !added.startsWith(written)) return;
    if (existing) truncateSync(path, before.length);
    else rmSync(path);
  });
  remember({ existing, length: before.length, added });
  appendFileSync(path, added);
}

/**
 * Takes the lines out again, wherever they stand by now; a file that holds nothing else goes away. Every other byte
 * and the mode stay. A link is left alone. Idempotent. Returns whether the file changed.
 */
export function removeLines(path: string, lines: readonly string[]): boolean {
  const found = lookAt(path);
  if (found?.isFile() !== true) return false;
  const before = readRegularFile(path, { links: 'follow', max_bytes })?.toString('latin1') ?? '';
  const after = toOtherLines(before, lines);
  if (after === before) return false;
  if (after === '') rmSync(path);
  else replaceFile(path, Buffer.from(after, 'latin1'), found.mode & 0o7777);
  return true;
}

/** What is to be appended to `content`; empty where it has all lines. */
export function toMissingLines(content: string, lines: readonly string[]): string {
  const ending = content.includes('\r\n') ? '\r\n' : '\n';
  const present = new Set(content.split(/\r?\n/).map((line) => line.trimEnd()));
  const missing = lines.filter((line) => !present.has(line));
  if (missing.length === 0) return '';
  const start = content === '' || content.endsWith('\n') ? '' : ending;
  return start + missing.map((line) => line + ending).join('');
}

function toOtherLines(content: string, lines: readonly string[]): string {
  const kept = content.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return kept.filter((line) => !lines.includes(line.trimEnd())).join('');
}

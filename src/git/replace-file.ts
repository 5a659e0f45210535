import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { readPlainFile } from './read-plain-file.ts';

/** Whole or not at all, whoever reads or writes it at the same moment; a link at its place is replaced, not followed. */
export function replaceFile(path: string, bytes: string | Uint8Array, mode = 0o666): void {
  const temporary = `${path}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The same, but a file that holds this already is left alone. */
export function refreshFile(path: string, text: string, mode?: number): void {
  if (readTextIfThere(path) !== text) replaceFile(path, text, mode);
}

export function readTextIfThere(path: string): string | undefined {
  return readPlainFile(path)?.toString('utf8');
}

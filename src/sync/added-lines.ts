import { mkdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { addLines, removeLines, type AddedLines } from './file-lines.ts';
import { replaceFile } from './place-file.ts';
import type { ProjectPaths } from './project-paths.ts';

/** The files of the user that Forge adds lines to. */
type LineFile = '.gitignore' | '.gitattributes' | 'info/exclude' | 'info/attributes';

/** Adds the missing lines, and remembers what was there, so that taking them back leaves not even a newline. */
export function addRememberedLines(
  paths: ProjectPaths,
  file: LineFile,
  { lines, undo }: { lines: readonly string[]; undo: (() => void)[] },
): void {
  const memory = readMemory(paths);
  const remember = (added: AddedLines): void => {
    // An empty file may be what a killed run left of one that was not there.
    const existing = added.existing && !(added.length === 0 && memory[file]?.existing === false);
    writeMemory(paths, { ...memory, [file]: { ...added, existing } });
  };
  addLines(toLinesPath(paths, file), lines, { undo, remember });
}

/**
 * As the file was before, where nobody has touched it since; otherwise only the lines go. Returns whether the file
 * changed.
 */
export function takeLinesBack(paths: ProjectPaths, file: LineFile, lines: readonly string[]): boolean {
  const { [file]: added, ...others } = readMemory(paths);
  if (added === undefined) return removeLines(toLinesPath(paths, file), lines);
  const restored = restore(toLinesPath(paths, file), added);
  writeMemory(paths, others);
  return restored || removeLines(toLinesPath(paths, file), lines);
}

function restore(path: string, { existing, length, added }: AddedLines): boolean {
  try {
    const now = readPlainFile(path)?.toString('latin1') ?? '';
    if (now.length !== length + added.length || !now.endsWith(added)) return false;
    if (existing) truncateSync(path, length);
    else rmSync(path);
    return true;
  } catch {
    return false; // gone, or not ours to write: the caller's way says what is wrong
  }
}

type Memory = Partial<Record<LineFile, AddedLines>>;

function readMemory(paths: ProjectPaths): Memory {
  try {
    return JSON.parse(readPlainFile(toMemoryPath(paths))?.toString('utf8') ?? '') as Memory;
  } catch {
    return {}; // without it a newline too many may stay
  }
}

function writeMemory(paths: ProjectPaths, memory: Memory): void {
  if (statSync(paths.store_dir, { throwIfNoEntry: false }) === undefined)
    mkdirSync(paths.store_dir, { recursive: true });
  replaceFile(toMemoryPath(paths), `${JSON.stringify(memory)}\n`);
}

function toMemoryPath(paths: ProjectPaths): string {
  return join(paths.store_dir, 'added-lines.json');
}

export function toLinesPath(paths: ProjectPaths, file: LineFile): string {
  return join(file.startsWith('info/') ? paths.common_dir : paths.root, file);
}

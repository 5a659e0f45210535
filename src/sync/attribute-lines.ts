import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { readPlainFile } from '#git/read-plain-file.ts';
import { addRememberedLines, takeLinesBack, toLinesPath } from './added-lines.ts';
import { removeLines, toMissingLines } from './file-lines.ts';
import { lookAt } from './look-at.ts';
import { replaceFile } from './place-file.ts';
import type { ProjectPaths } from './project-paths.ts';
import { HISTORY_PATH, TASKS_PATH } from './task-files.ts';

/**
 * Both files are merged by Forge's driver, and have the same bytes on every system. A clone without the driver falls
 * back to git's text merge. A filter that a line before sets for `*.jsonl` (Git LFS) would have git store a pointer, so
 * that the driver joins pointers. `ident` and `working-tree-encoding` change bytes too; the last one cannot be unset, only
 * forgotten.
 */
const ATTRIBUTES = 'merge=forge text eol=lf -filter -ident !working-tree-encoding';
export const ATTRIBUTE_LINES = [TASKS_PATH, HISTORY_PATH].map((path) => `${path} ${ATTRIBUTES}`);
/** As Forge wrote them before it minded filters. */
const FORMER_LINES = [TASKS_PATH, HISTORY_PATH].map((path) => `${path} merge=forge text eol=lf`);
const ALL_LINES = [...ATTRIBUTE_LINES, ...FORMER_LINES];

/** Throws already_exists where `.gitattributes` is something that git would not read. */
export function addAttributeLines(paths: ProjectPaths, undo: (() => void)[]): void {
  const file = join(paths.root, '.gitattributes');
  const found = lookAt(file);
  if (found !== undefined && !found.isFile()) {
    const what = found.isSymbolicLink() ? 'a symbolic link, which git does not follow' : 'not a file';
    throw new ForgeError('already_exists', `${file} is in the way: it is ${what}`, {
      hint: 'Put a plain file in its place, then run the command again',
      details: { path: file },
    });
  }
  renew(paths, '.gitattributes', undo);
}

/**
 * The same in the clone's own file, for branches whose `.gitattributes` has no such lines: those that are older than the
 * project. A linked file is not this repository's alone, and stays as it is.
 */
export function addCloneAttributes(paths: ProjectPaths, undo: (() => void)[] = []): void {
  const folder = join(paths.common_dir, 'info');
  if (lookAt(join(folder, 'attributes'))?.isSymbolicLink() === true) return;
  mkdirSync(folder, { recursive: true });
  renew(paths, 'info/attributes', undo);
}

/** The lines of an older version go where the new ones come, at the end: there they win over all before them. */
function renew(paths: ProjectPaths, file: '.gitattributes' | 'info/attributes', undo: (() => void)[]): void {
  const path = toLinesPath(paths, file);
  const bytes = readPlainFile(path);
  const before = bytes?.toString('latin1') ?? '';
  if (toMissingLines(before, ATTRIBUTE_LINES) === '') return;
  const mode = lookAt(path)?.mode;
  if (bytes !== undefined && removeLines(path, FORMER_LINES))
    undo.push(() => replaceFile(path, bytes, (mode ?? 0o644) & 0o7777));
  addRememberedLines(paths, file, { lines: ATTRIBUTE_LINES, undo });
}

/** Puts the lines behind all others, which win over them there. */
export function moveAttributeLinesLast(paths: ProjectPaths): void {
  for (const file of ['.gitattributes', 'info/attributes'] as const) {
    const path = toLinesPath(paths, file);
    const text = lookAt(path)?.isFile() === true ? (readPlainFile(path)?.toString('latin1') ?? '') : '';
    const isLast = text
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
      .slice(-ATTRIBUTE_LINES.length);
    if (text === '' || isLast.every((line) => ATTRIBUTE_LINES.includes(line.trimEnd()))) continue;
    removeLines(path, ALL_LINES);
    addRememberedLines(paths, file, { lines: ATTRIBUTE_LINES, undo: [] });
  }
}

/** Where an older version wrote them. */
export function renewCloneAttributes(paths: ProjectPaths): void {
  const file = toLinesPath(paths, 'info/attributes');
  const text = lookAt(file)?.isFile() === true ? readFileSync(file, 'latin1') : '';
  if (FORMER_LINES.some((line) => text.split(/\r?\n/).includes(line))) addCloneAttributes(paths);
}

export function hasCloneAttributes({ common_dir }: Pick<ProjectPaths, 'common_dir'>): boolean {
  const file = join(common_dir, 'info', 'attributes');
  const found = lookAt(file);
  if (found?.isFile() !== true) return found !== undefined;
  const lines = readFileSync(file, 'utf8').split(/\r?\n/);
  return ATTRIBUTE_LINES.every((line) => lines.includes(line));
}

export function removeCloneAttributes(paths: ProjectPaths): boolean {
  return takeLinesBack(paths, 'info/attributes', ALL_LINES);
}

/** Returns whether the file changed; one with nothing else in it is removed. */
export function removeAttributeLines(paths: ProjectPaths): boolean {
  return takeLinesBack(paths, '.gitattributes', ALL_LINES);
}

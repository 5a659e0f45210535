import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { addRememberedLines, takeLinesBack } from './added-lines.ts';
import { lookAt } from './look-at.ts';
import type { ProjectPaths } from './project-paths.ts';

/**
 * Both files are merged by Forge's driver, and have the same bytes on every system. A clone without the driver falls
 * back to git's text merge.
 */
export const ATTRIBUTE_LINES = [
  '.forge/tasks.jsonl merge=forge text eol=lf',
  '.forge/history.jsonl merge=forge text eol=lf',
] as const;

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
  addRememberedLines(paths, '.gitattributes', { lines: ATTRIBUTE_LINES, undo });
}

/**
 * The same in the clone's own file, for branches whose `.gitattributes` has no such lines: those that are older than the
 * project. A linked file is not this repository's alone, and stays as it is.
 */
export function addCloneAttributes(paths: ProjectPaths, undo: (() => void)[] = []): void {
  const folder = join(paths.common_dir, 'info');
  if (lookAt(join(folder, 'attributes'))?.isSymbolicLink() === true) return;
  mkdirSync(folder, { recursive: true });
  addRememberedLines(paths, 'info/attributes', { lines: ATTRIBUTE_LINES, undo });
}

export function hasCloneAttributes({ common_dir }: Pick<ProjectPaths, 'common_dir'>): boolean {
  const file = join(common_dir, 'info', 'attributes');
  const found = lookAt(file);
  if (found?.isFile() !== true) return found !== undefined;
  const lines = readFileSync(file, 'utf8').split(/\r?\n/);
  return ATTRIBUTE_LINES.every((line) => lines.includes(line));
}

export function removeCloneAttributes(paths: ProjectPaths): boolean {
  return takeLinesBack(paths, 'info/attributes', ATTRIBUTE_LINES);
}

/** Returns whether the file changed; one with nothing else in it is removed. */
export function removeAttributeLines(paths: ProjectPaths): boolean {
  return takeLinesBack(paths, '.gitattributes', ATTRIBUTE_LINES);
}

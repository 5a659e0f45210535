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

/** Returns whether the file changed; one with nothing else in it is removed. */
export function removeAttributeLines(paths: ProjectPaths): boolean {
  return takeLinesBack(paths, '.gitattributes', ATTRIBUTE_LINES);
}

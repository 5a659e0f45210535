import { DATABASE_NAMES } from '#store/store-location.ts';
import { addRememberedLines, takeLinesBack } from './added-lines.ts';
import type { ProjectPaths } from './project-paths.ts';

/** What git must not track: the link to the database, and what SQLite would put beside a real file. */
export const IGNORE_LINES = DATABASE_NAMES.map((name) => `.forge/${name}`);

/** In the clone's own exclude file: the same for branches without those lines, and what a killed process leaves. */
export const EXCLUDE_LINES = [...IGNORE_LINES, '.forge/*.tmp'] as const;
/** Nothing of Forge is git's business. */
export const STEALTH_LINES = ['.forge/'] as const;

export function addIgnoreLines(paths: ProjectPaths, undo: (() => void)[]): void {
  addRememberedLines(paths, '.gitignore', { lines: IGNORE_LINES, undo });
}

/** Returns whether the file changed; one with nothing else in it is removed. */
export function removeIgnoreLines(paths: ProjectPaths): boolean {
  return takeLinesBack(paths, '.gitignore', IGNORE_LINES);
}

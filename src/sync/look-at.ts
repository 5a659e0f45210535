import { lstatSync, type Stats } from 'node:fs';
import { toFileError } from './file-error.ts';

/** What is at a path, links not followed; undefined where nothing is, also below something that is no folder. */
export function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw toFileError(error, `Could not look at ${path}`);
  }
}

import { chmodSync, copyFileSync, existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { toFileError } from './file-error.ts';
import { PRIVATE } from './home-file.ts';

/** A script that writes such a file again and again must not fill the disk. */
const COPIES_KEPT = 5;
const MARK = '.whole-';

/** Named after the moment at which the file was written, so that a fold that is tried again makes no second copy. */
export function keepWholeFile(path: string, folder: string): void {
  try {
    const prefix = `${basename(path)}${MARK}`;
    const { mtime, size } = statSync(path);
    const copy = join(folder, `${prefix}${mtime.toISOString().replaceAll(/[:.]/g, '-')}`);
    if (!existsSync(copy) || statSync(copy).size !== size) {
      copyFileSync(path, `${copy}.new`);
      chmodSync(`${copy}.new`, PRIVATE);
      renameSync(`${copy}.new`, copy);
    }
    const older = listWholeFiles(folder).filter((name) => name.startsWith(prefix));
    for (const name of older.slice(0, -COPIES_KEPT)) rmSync(join(folder, name), { force: true });
  } catch (error) {
    throw toFileError(error, `Could not copy ${path} to ${folder}`);
  }
}

/** The oldest first. */
export function listWholeFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.includes(MARK) && !name.endsWith('.new'))
    .toSorted();
}

import {
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { toTemporaryPath } from '#process/temporary-path.ts';
import { sweepTemporaryFiles } from './sweep-temporary-files.ts';

/**
 * Whole or not at all: readers see the old bytes or the new ones, also after a crash. With `mode` the permissions are
 * those from the first moment; without it the umask's.
 */
export function replaceFile(path: string, content: string | Uint8Array, mode?: number): void {
  const temporary = writeBeside(path, content, mode);
  try {
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/**
 * The same, prepared in `folder`: for a place where a kill must leave nothing behind. Beside its place after all where
 * that cannot be done, such as on another file system.
 */
export function replaceFileFrom(folder: string, path: string, content: string): void {
  let temporary: string | undefined;
  try {
    temporary = writeBeside(join(folder, 'prepared'), content);
    renameSync(temporary, path);
  } catch {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    replaceFile(path, content);
  }
}

export interface StagedFile {
  /** Puts the file in its place; throws EEXIST where something is there already. Called at most once. */
  publish(): void;
  /** Removes what was staged; harmless after `publish`. */
  discard(): void;
}

/** Writes a new file next to its place, so that putting it there is one step that hardly can fail. */
export function stageFile(path: string, content: string): StagedFile {
  const temporary = writeBeside(path, content);
  return {
    publish: () => {
      try {
        linkSync(temporary, path); // unlike rename it never replaces what another process put there
      } catch (error) {
        // File systems without hard links answer with various codes; only "there already" is final.
        if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw error;
        renameSync(temporary, path);
      }
      rmSync(temporary, { force: true });
    },
    discard: () => rmSync(temporary, { force: true }),
  };
}

function writeBeside(path: string, content: string | Uint8Array, mode?: number): string {
  sweepTemporaryFiles(dirname(path), `${basename(path)}.`);
  const temporary = toTemporaryPath(path);
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      writeFileSync(file, content);
      if (mode !== undefined) fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return temporary;
}

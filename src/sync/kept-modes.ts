import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readSharedModes } from '#git/shared-modes.ts';
import type { FileModes } from '#store/file-modes.ts';
import { holdsTasks } from '#store/store-location.ts';
import type { ProjectPaths } from './project-paths.ts';

export interface WrongMode {
  readonly path: string;
  /** From the folder of the store. */
  readonly name: string;
  readonly wanted: number;
  readonly why: 'open' | 'narrow';
}

/**
 * What others may read though they should not, of all that holds tasks or what agents said; and in a repository that
 * is shared, what those who share it cannot use.
 */
export function listWrongModes({
  store_dir,
  common_dir,
}: Pick<ProjectPaths, 'store_dir' | 'common_dir'>): WrongMode[] {
  // There modes say nothing.
  if (process.platform === 'win32') return [];
  const modes = readSharedModes(common_dir);
  const names = readdirSync(store_dir);
  const tasks = ['', ...names.filter(holdsTasks)].map((name) => join(store_dir, name));
  const judge = (path: string): WrongMode[] => judgeFile(path, relative(store_dir, path), modes);
  const attempts = listTree(join(store_dir, 'attempts'));
  // Locks and notes there are of the one who works on the attempt, also where the rest is shared.
  return [...tasks.flatMap(judge), ...attempts.flatMap(judge).filter(({ why }) => why === 'open')];
}

/** Those that could not be mended: whoever else they belong to has to. */
export function mendModes(wrong: readonly WrongMode[]): WrongMode[] {
  return wrong.filter(({ path, wanted }) => {
    try {
      chmodSync(path, wanted);
      return false;
    } catch {
      return true;
    }
  });
}

function judgeFile(path: string, name: string, modes: FileModes): WrongMode[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || !(found.isFile() || found.isDirectory())) return [];
  const wanted = found.isDirectory() ? modes.folder : modes.file;
  const wrong = { path, name: name === '' ? 'the folder' : name, wanted };
  if ((found.mode & 0o077 & ~wanted) !== 0) return [{ ...wrong, why: 'open' }];
  return (wanted & 0o077 & ~found.mode) === 0 ? [] : [{ ...wrong, why: 'narrow' }];
}

function listTree(folder: string): string[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return [folder, ...entries.map((entry) => join(entry.parentPath, entry.name))];
}

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { findRepository } from '#git/find-repository.ts';
import type { ProjectPaths } from './project-paths.ts';

/**
 * Whether the config may have been deleted from the working tree: it is missing, and git's index names it. By file reads
 * alone, since branches that are older than the project have no config either, and commands there must not be slower.
 */
export function mayBeDeleted({ root, config }: Pick<ProjectPaths, 'root' | 'config'>): boolean {
  if (statSync(config, { throwIfNoEntry: false }) !== undefined) return false;
  const gitDir = findRepository(root)?.git_dir;
  try {
    const index = readPlainFile(join(gitDir ?? '', 'index')) ?? Buffer.alloc(0);
    // Version 4 leaves out what a name shares with the one before it.
    return index.readUInt32BE(4) === 4 ? index.includes('config.json') : index.includes('.forge/config.json');
  } catch {
    return false; // no commit and nothing staged
  }
}

import { readlinkSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { lookAt } from './look-at.ts';
import type { ProjectPaths } from './project-paths.ts';

/** For people and for any SQLite client; Forge itself goes to the database directly. */
export function linkDatabase(paths: ProjectPaths, undo: (() => void)[]): void {
  if (isDatabaseLink(paths)) return;
  const link = join(paths.forge_dir, 'forge.db');
  try {
    symlinkSync(toLinkTarget(paths), link, 'file');
  } catch (error) {
    if (NO_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) return;
    throw error;
  }
  undo.push(() => rmSync(link));
}

/** Puts the link back where somebody cleaned it away (`git clean -fdx`, a clone). What stands there instead stays. */
export function refreshDatabaseLink(paths: ProjectPaths): void {
  if (
    lookAt(paths.forge_dir)?.isDirectory() !== true ||
    lookAt(join(paths.forge_dir, 'forge.db')) !== undefined
  )
    return;
  try {
    symlinkSync(toLinkTarget(paths), join(paths.forge_dir, 'forge.db'), 'file');
  } catch {
    // A convenience for other programs; whatever keeps it from being made must not keep a command from working.
  }
}

export function isDatabaseLink(paths: ProjectPaths): boolean {
  const link = join(paths.forge_dir, 'forge.db');
  return lookAt(link)?.isSymbolicLink() === true && readlinkSync(link) === toLinkTarget(paths);
}

/** Relative, so that the repository may move; from real paths, because `..` in a link means the parent on disk. */
function toLinkTarget(paths: ProjectPaths): string {
  const from = join(realpathSync.native(paths.root), '.forge');
  return relative(from, join(realpathSync.native(paths.common_dir), 'forge', 'forge.db'));
}

/** Windows without the right to make links, file systems that have none: Forge works without. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

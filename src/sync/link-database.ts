import { readlinkSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { DATABASE_NAMES } from '#store/store-location.ts';
import { lookAt } from './look-at.ts';
import type { ProjectPaths } from './project-paths.ts';

const [DATABASE] = DATABASE_NAMES;

/** Where people and other programs look for the database. */
export function toLink({ forge_dir }: Pick<ProjectPaths, 'forge_dir'>): string {
  return join(forge_dir, DATABASE);
}

/** For people and for any SQLite client; Forge itself goes to the database directly. */
export function linkDatabase(paths: ProjectPaths, undo: (() => void)[]): void {
  if (isDatabaseLink(paths)) return;
  const link = toLink(paths);
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
  const link = toLink(paths);
  if (lookAt(paths.forge_dir)?.isDirectory() !== true || lookAt(link) !== undefined) return;
  try {
    symlinkSync(toLinkTarget(paths), link, 'file');
  } catch {
    // A convenience for other programs; whatever keeps it from being made must not keep a command from working.
  }
}

export function isDatabaseLink(paths: ProjectPaths): boolean {
  const link = toLink(paths);
  return lookAt(link)?.isSymbolicLink() === true && readlinkSync(link) === toLinkTarget(paths);
}

/** Relative, so that the repository may move; from real paths, because `..` in a link means the parent on disk. */
function toLinkTarget(paths: ProjectPaths): string {
  const from = join(realpathSync.native(paths.root), '.forge');
  return relative(from, join(realpathSync.native(paths.common_dir), 'forge', DATABASE));
}

/** Windows without the right to make links, file systems that have none: Forge works without. */
const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

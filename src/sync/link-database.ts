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

import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { dropEnd } from '#kernel/text.ts';
import type { ProjectPaths } from './project-paths.ts';

/**
 * What trust in a repository is kept under: the real path of its common git directory, but only for working trees that
 * this directory itself knows of. Files in a working tree can point to any repository (`.git`, `commondir`, links), so
 * one that is not known there stands for itself and borrows nothing. Upper and lower case count as the disk has them.
 */
export function toTrustKey({ root, common_dir }: Pick<ProjectPaths, 'root' | 'common_dir'>): string {
  const top = realpathSync.native(root);
  const common = realpathSync.native(common_dir);
  // No path holds a NUL, so that this can never be the path of another.
  return isOwn(top, common) || isLinked(top, common) ? common : `${common}\0${top}`;
}

/** A real folder `.git`, not a link to one. */
function isOwn(top: string, common: string): boolean {
  return common === join(top, '.git');
}

/** A linked worktree: the directory that it points to lies with the repository and points back. */
function isLinked(top: string, common: string): boolean {
  const dotGit = join(top, '.git');
  const target = readPointer(dotGit, /^gitdir: (.+)$/s);
  if (target === undefined) return false;
  try {
    const gitDir = realpathSync.native(resolve(top, target));
    if (dirname(gitDir) !== join(common, 'worktrees')) return false;
    const back = readPointer(join(gitDir, 'gitdir'), /^(.+)$/s);
    if (back === undefined) return false;
    const place = resolve(gitDir, back);
    return join(realpathSync.native(dirname(place)), '.git') === dotGit && place.endsWith('.git');
  } catch {
    return false;
  }
}

function readPointer(path: string, shape: RegExp): string | undefined {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  return shape.exec(dropEnd(readFileSync(path, 'utf8'), '\r\n'))?.[1];
}

import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { askGit, type GitRepo } from './ask-git.ts';
import { toBackups } from './landing-backups.ts';
import type { FileMoves } from './landing-files.ts';
import { listFromGit, lookAt, toFile } from './landing-path.ts';
import type { FileEntry } from './private-index.ts';
import type { GitResult } from './run-git.ts';

/** What a path has in two commits; undefined where it has nothing. */
export interface PathChange {
  /** One character a byte. */
  readonly path: string;
  readonly from: FileEntry | undefined;
  readonly to: FileEntry | undefined;
}

export async function listPathChanges(
  repo: GitRepo,
  from: string,
  to: string,
): Promise<readonly PathChange[]> {
  const fields = await listFromGit(repo, ['diff-tree', '-r', '-z', '--no-renames', from, to]);
  const changes: PathChange[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, fromMode = '', toMode = '', fromOid = '', toOid = ''] =
      /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /.exec(fields[at] ?? '') ?? [];
    const path = fields[at + 1] ?? '';
    changes.push({ path, from: toEntry(fromMode, fromOid), to: toEntry(toMode, toOid) });
  }
  return changes;
}

function toEntry(mode: string, oid: string): FileEntry | undefined {
  return /^0*$/.test(mode) ? undefined : { mode, oid };
}

/** The user's index, to work on: theirs is neither locked nor changed. */
export function copyIndex(place: GitRepo, index: string): void {
  const own = join(place.git_dir, 'index');
  if (existsSync(own)) copyFileSync(own, index);
}

/**
 * Brings an index from one commit to another and writes the files of the other into a folder of their own, as git
 * would into the working tree: with the filters, line ends, links and modes of their paths, and without what a sparse
 * checkout leaves out. The working tree is not looked at.
 */
export function stageFiles(
  place: GitRepo,
  stage: { readonly index: string; readonly folder: string; readonly from: string; readonly to: string },
): Promise<GitResult> {
  mkdirSync(stage.folder, { recursive: true, mode: 0o700 });
  const more_env = {
    GIT_DIR: place.git_dir,
    GIT_WORK_TREE: stage.folder,
    GIT_INDEX_FILE: stage.index,
  };
  const settings = [...(place.settings ?? []), 'core.untrackedCache=keep'];
  const args = ['read-tree', '-m', '-u', stage.from, stage.to];
  return askGit({ ...place, settings, worktree: stage.folder }, args, { more_env });
}

/** What has to be done in the working tree for these changes, by what is ready in the folder. */
export function toMoves(
  place: GitRepo,
  { staged, folder }: { readonly staged: string; readonly folder: string },
  changes: readonly PathChange[],
): FileMoves {
  const stands = (path: string): boolean => lookAt(toFile(staged, path)) !== undefined;
  const written = changes.filter(({ path, to }) => isFile(to) && stands(path));
  const removed = changes.filter(({ from, to }) => isFile(from) && !isFile(to));
  return {
    worktree: place.worktree,
    staged,
    backups: toBackups(folder),
    written: written.map(({ path }) => path),
    removed: removed.map(({ path }) => path),
    folders: changes.flatMap(({ path, from, to }) =>
      to?.mode === GITLINK && from?.mode !== GITLINK && stands(path) ? [path] : [],
    ),
  };
}

/** Paths of which the other commit has a file that is not to be in the working tree: a sparse checkout. */
export function listSkipped(staged: string, changes: readonly PathChange[]): readonly string[] {
  return changes.flatMap(({ path, to }) =>
    isFile(to) && lookAt(toFile(staged, path)) === undefined ? [path] : [],
  );
}

export function isFile(entry: FileEntry | undefined): boolean {
  return entry !== undefined && entry.mode !== GITLINK;
}

const GITLINK = '160000';

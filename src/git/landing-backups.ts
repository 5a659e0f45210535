import { type BigIntStats, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Backup,
  createFile,
  giveBack,
  isInTheWay,
  listAside,
  moveAside,
  removeCopy,
  removeFolderInside,
  type Spot,
} from './landing-moves.ts';
import { isSameSave, lookAt, lookInside, makeParent, toFile } from './landing-path.ts';

/** Where a landing keeps the files that it replaces, until no save of the user's can reach them any more. */
export function toBackups(folder: string): string {
  return join(folder, 'backups');
}

/**
 * After a death between the two steps of a move: what was moved aside is put back into a place that is empty. Gives
 * the paths at which that was so.
 */
export function returnMissing(
  spots: readonly Spot[],
  isWanted: (path: string) => boolean,
): readonly string[] {
  return spots.flatMap((spot) => {
    removeCopy(spot);
    const [file] = listAside(spot);
    if (file === undefined || !isWanted(spot.path) || lookAt(toFile(spot.worktree, spot.path)) !== undefined)
      return [];
    try {
      makeParent(spot.worktree, spot.path);
      createFile(file, spot);
      return [spot.path];
    } catch (error) {
      // A file where its folder was: git makes it again when there is room.
      if (!isInTheWay(error)) throw error;
      return [];
    }
  });
}

/** A file that was moved aside and that the user, who had it open, has written since. */
export type SavedFile = Pick<Backup, 'path' | 'file'>;

/** Whether a file is one that the landing itself has put at this path, or taken from it. */
export type IsOurs = (path: string, file: Buffer) => boolean;

/** By the contents of what was moved aside. What is ours is removed. */
export function keepSaved(spots: readonly Spot[], isOurs: IsOurs): readonly SavedFile[] {
  return spots.flatMap((spot) =>
    listAside(spot).flatMap((file) => {
      if (!isOurs(spot.path, file)) return [{ path: spot.path, file }];
      rmSync(file, { force: true });
      return [];
    }),
  );
}

/** By the times of what was moved aside, in the process that has done it. The rest is removed. */
export function keepLate(backups: readonly Backup[]): readonly SavedFile[] {
  return backups.flatMap(({ path, file, stats }) => {
    const now = lookAt(file);
    if (now !== undefined && (now.size !== stats.size || now.mtimeNs !== stats.mtimeNs))
      return [{ path, file }];
    rmSync(file, { force: true });
    return [];
  });
}

/** Whether a file is the one that was put into the working tree, and nobody has written it since. */
export function isPlacedAs(placed: BigIntStats | undefined, file: Buffer): boolean {
  const now = lookAt(file);
  return placed !== undefined && now !== undefined && isSameSave(placed, now);
}

/** What the user has saved comes before the file of a landing. */
export function returnSaved(
  where: Omit<Spot, 'path'>,
  saved: readonly SavedFile[],
  isOurs: IsOurs,
): readonly string[] {
  for (const { path, file } of saved) {
    const spot = { ...where, path };
    const isThere = lookInside(where.worktree, path)?.isDirectory() === false;
    if (isThere && isOurs(path, toFile(where.worktree, path))) {
      const { file: aside } = moveAside(spot);
      if (isOurs(path, aside)) rmSync(aside, { force: true });
      else giveBack(aside, spot);
    }
    giveBack(file, spot);
  }
  removeFolderInside(where.worktree);
  return saved.map(({ path }) => path);
}

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
 * Puts what was moved aside back into a place that is empty, as after a death between the two steps of a move, or that
 * has what the landing is taken back from: the very file that was there, because the user may have it open. Gives the
 * paths at which that was so.
 */
export function returnBackups(
  spots: readonly Spot[],
  { isRight, isWrong }: { readonly isRight: IsOurs; readonly isWrong: IsOurs },
): readonly string[] {
  return spots.flatMap((spot) => {
    const files = listAside(spot);
    const file = files.find((one) => isRight(spot.path, one)) ?? files[0];
    try {
      if (file === undefined || !hasGivenWay(spot, isRight(spot.path, file) ? isWrong : () => false))
        return [];
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

/** Moves what is ours out of the place; false where something else is there. */
function hasGivenWay(spot: Spot, isOurs: IsOurs): boolean {
  const target = toFile(spot.worktree, spot.path);
  if (lookAt(target) === undefined) return true;
  if (lookInside(spot.worktree, spot.path)?.isDirectory() !== false || !isOurs(spot.path, target))
    return false;
  const { file } = moveAside(spot);
  if (isOurs(spot.path, file)) return true;
  giveBack(file, spot);
  return false;
}

/** A file that was moved aside and that the user, who had it open, has written since. */
export type SavedFile = Pick<Backup, 'path' | 'file'>;

/** Whether a file is one that the landing itself has put at this path, or taken from it. */
export type IsOurs = (path: string, file: Buffer) => boolean;

/** By the contents of what was moved aside. What is ours is removed. */
export function keepSaved(spots: readonly Spot[], isOurs: IsOurs): readonly SavedFile[] {
  return spots.flatMap((spot) => {
    removeCopy(spot);
    return listAside(spot).flatMap((file) => {
      if (!isOurs(spot.path, file)) return [{ path: spot.path, file }];
      rmSync(file, { force: true });
      return [];
    });
  });
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
    hasGivenWay(spot, isOurs);
    giveBack(file, spot);
    for (const aside of listAside(spot)) if (isOurs(path, aside)) rmSync(aside, { force: true });
  }
  removeFolderInside(where.worktree);
  return saved.map(({ path }) => path);
}

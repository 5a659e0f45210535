import { constants, realpathSync } from 'node:fs';
import { copyFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checkout } from '#git/checkout-record.ts';
import type { ControlGit } from '#git/control-directory.ts';
import { findMatching } from './find-matching.ts';
import { changeFolderNote } from './folder-note.ts';
import { makeWayTo } from './inside-folder.ts';
import { isLinkTracked, writeLinkFile, type Linked } from './link-file.ts';
import type { WorkPlace } from './work.ts';

/** What a folder that was just made gets besides the files of its commit: copies, and the link file. Nothing is run. */
export async function furnishFolder(place: WorkPlace, control: ControlGit, work: Furnished): Promise<void> {
  const copied = await putFurniture(place, control, work);
  changeFolderNote(place, work.checkout.attempt_id, { copied });
}

interface Furnished extends Linked {
  readonly checkout: Checkout;
}

/** The same for a folder of which nothing is kept. Gives the files that were put there. */
export async function putFurniture(
  place: WorkPlace,
  control: ControlGit,
  { checkout, ...linked }: Furnished,
): Promise<readonly string[]> {
  const copied = await copyFiles(place, checkout);
  const { linkFile } = place.settings().workspace;
  if (linkFile !== undefined && !(await isLinkTracked(place, control, checkout))) {
    writeLinkFile(place, linked);
    copied.push(linkFile);
  }
  return copied;
}

/** Files that git does not carry and the work needs (`.env`); never through a link, never over what is there. */
async function copyFiles(place: WorkPlace, checkout: Checkout): Promise<string[]> {
  const from = realpathSync(place.project.root);
  const copied: string[] = [];
  for (const pattern of place.settings().workspace.copy) {
    for (const inside of await findMatching(from, pattern)) {
      const source = join(from, inside);
      if ((await realpath(source)) !== source) continue;
      const target = makeWayTo(checkout.path, inside);
      if (target !== undefined && (await copyIfMissing(source, target))) copied.push(inside);
    }
  }
  return copied;
}

async function copyIfMissing(source: string, target: string): Promise<boolean> {
  try {
    await copyFile(source, target, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

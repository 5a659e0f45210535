import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';

/** Whether a path, which need not exist, lies in the folder or is it, once every link on the way was followed. */
export function isInside(path: string, folder: string): boolean {
  const real = resolveReal(path);
  const root = resolveReal(folder);
  return real === root || real.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

const MAX_LINKS = 40;

/** Like realpath, for paths whose end is not there yet. A link that leads nowhere is followed too. */
export function resolveReal(path: string, links = MAX_LINKS): string {
  const full = resolve(path);
  try {
    return realpathSync.native(full);
  } catch {
    const parent = dirname(full);
    if (parent === full) return full;
    const here = join(resolveReal(parent, links), basename(full));
    const target = links > 0 ? findTarget(here) : undefined;
    return target === undefined ? here : resolveReal(resolve(dirname(here), target), links - 1);
  }
}

function findTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : undefined;
  } catch {
    return undefined;
  }
}

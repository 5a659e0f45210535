import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  unlinkSync,
} from 'node:fs';
import { basename, join } from 'node:path';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Names a file relative to an open folder: what is moved or linked on the way meanwhile leads nowhere else. */
const OPEN_FOLDERS = '/proc/self/fd';

/**
 * Opens a plain file below a folder that another program changes at the same time. No link is followed, also not one
 * that is put there between two looks, and nothing is waited for, such as the other end of a pipe. With `write` the file
 * is made empty, and the folders on the way are made; a file with two names is replaced by a new one under this name. The caller closes it. Throws where that cannot be.
 */
export function openBelow(root: string, parts: readonly string[], use: 'read' | 'write'): number {
  const name = parts.at(-1);
  if (name === undefined || parts.some((part) => part === '..' || part === '' || part.includes('/')))
    throw new Error(`${parts.join('/')} is no file below a folder`);
  const folder = openFolders(root, parts.slice(0, -1), use);
  try {
    const flags = use === 'read' ? O_RDONLY : O_WRONLY | O_CREAT;
    const path = join(folder.path, name);
    const file = openPlain(path, flags);
    if (use === 'read') return file;
    if (fstatSync(file).nlink > 1) {
      // The other name may lie outside of the folder, or in a store of packages: its file stays as it is.
      closeSync(file);
      unlinkSync(path);
      return openPlain(path, flags | O_EXCL);
    }
    ftruncateSync(file);
    return file;
  } finally {
    folder.close();
  }
}

function openPlain(path: string, flags: number): number {
  const file = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o666);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Error(`${basename(path)} is not a plain file`);
}

interface OpenFolder {
  readonly path: string;
  readonly close: () => void;
}

function openFolders(root: string, parts: readonly string[], use: 'read' | 'write'): OpenFolder {
  let open = openFolder(root);
  for (const part of parts) {
    try {
      const below = join(open.path, part);
      if (use === 'write') makeFolder(below);
      const next = openFolder(below);
      open.close();
      open = next;
    } catch (error) {
      open.close();
      throw error;
    }
  }
  return open;
}

function openFolder(path: string): OpenFolder {
  const file = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const close = (): void => closeSync(file);
  // Without such names, as on macOS, a link on the way can be put there between two looks.
  return { path: existsSync(OPEN_FOLDERS) ? `${OPEN_FOLDERS}/${file}` : path, close };
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

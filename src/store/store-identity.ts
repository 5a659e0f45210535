import {
  closeSync,
  fstatSync,
  linkSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isUuid } from '#kernel/ids.ts';
import { readJson } from '#kernel/read-json.ts';
import { openNewFile, type FileModes } from './file-modes.ts';
import type { StoreLocation } from './store-location.ts';
import { toUuid } from './to-uuid.ts';

/**
 * Which store this is, and of which project. A project has one id wherever it is cloned to; each clone has a store of
 * its own, which keeps its id when its database is made anew and when its folder is moved. See decision 15.
 */
export interface StoreIdentity {
  readonly store_id: string;
  readonly project_id: string;
}

interface Kept extends StoreIdentity {
  /** Where it was when this was written, and as which file: a copy has neither. */
  readonly folder: string;
  readonly inode: number;
}

const FILE = 'identity.json';

/** The id of the store that is there now. Nothing is written: one that was not given an id yet has one by its place. */
export function readStoreId(location: StoreLocation): string {
  const folder = toRealFolder(location);
  const kept = readKept(folder);
  return kept === undefined || isCopy(kept, folder) ? toPlaceId(folder) : kept.store_id;
}

export interface IdentityFacts {
  /** What the project's config says; undefined in one that is older than such ids. */
  readonly project_id: string | undefined;
  /** What such a project has until its config says another. */
  readonly first_project_id: string;
  readonly modes: FileModes;
}

/**
 * Gives the store its ids unless it has them: a store that was copied with its folder becomes another one as soon as it
 * is opened to stay, and one that was moved stays the same. Where nothing can be written, as readStoreId.
 */
export function keepStoreIdentity(
  location: StoreLocation,
  { project_id: said, first_project_id, modes }: IdentityFacts,
): StoreIdentity {
  const folder = toRealFolder(location);
  const kept = readKept(folder);
  const project_id = said ?? kept?.project_id ?? first_project_id;
  const isOwn = kept !== undefined && !isCopy(kept, folder);
  if (isOwn && kept.folder === folder && kept.project_id === project_id) return kept;
  const identity = { store_id: isOwn ? kept.store_id : crypto.randomUUID(), project_id };
  try {
    write(folder, identity, { modes, isFirst: kept === undefined });
  } catch (error) {
    // The system would not: a full disk, a file system for reading.
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return { store_id: readStoreId(location), project_id };
  }
  return readKept(folder) ?? identity;
}

/** Of two that begin at once, the one that is there first stands for both. */
function write(
  folder: string,
  identity: StoreIdentity,
  { modes, isFirst }: { readonly modes: FileModes; readonly isFirst: boolean },
): void {
  const path = join(folder, FILE);
  const temporary = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    const file = openNewFile(temporary, 'wx', modes);
    try {
      const { ino: inode } = fstatSync(file);
      writeFileSync(file, `${JSON.stringify({ ...identity, folder, inode })}\n`);
    } finally {
      closeSync(file);
    }
    if (isFirst && statSync(path, { throwIfNoEntry: false }) === undefined) linkSync(temporary, path);
    else renameSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Undefined where there is none, or one that cannot be read: the next to keep it writes another. */
function readKept(folder: string): Kept | undefined {
  try {
    const { store_id, project_id, ...at } = readJson(readFileSync(join(folder, FILE), 'utf8')) as Partial<
      Record<keyof Kept, unknown>
    >;
    if (!isUuid(store_id) || !isUuid(project_id)) return undefined;
    if (typeof at.folder !== 'string' || typeof at.inode !== 'number') return undefined;
    return { store_id, project_id, folder: at.folder, inode: at.inode };
  } catch {
    return undefined;
  }
}

/** Another file, at another place. A folder that was moved has the same files, and one that is seen at two places too. */
function isCopy(kept: Kept, folder: string): boolean {
  return kept.folder !== folder && statSync(join(folder, FILE)).ino !== kept.inode;
}

function toRealFolder({ folder }: StoreLocation): string {
  try {
    return realpathSync.native(folder);
  } catch {
    return folder;
  }
}

function toPlaceId(folder: string): string {
  return toUuid(`store ${folder}`);
}

import { mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSharedModes } from '#git/shared-modes.ts';
import { ForgeError } from '#kernel/errors.ts';
import { makeFolder as makeFolderAs, type FileModes } from '#store/file-modes.ts';
import type { StoreLocation } from '#store/store-location.ts';
import { addRememberedLines } from '../added-lines.ts';
import { addAttributeLines, addCloneAttributes } from '../attribute-lines.ts';
import { toFileError } from '../file-error.ts';
import { addIgnoreLines, EXCLUDE_LINES, STEALTH_LINES } from '../ignore-lines.ts';
import { linkDatabase } from '../link-database.ts';
import { lookAt } from '../look-at.ts';
import { stageFile } from '../place-file.ts';
import type { InitMode } from '../project-config.ts';
import type { ProjectPaths } from '../project-paths.ts';
import { writeReadableHooks } from '../readable-hooks.ts';
import { sweepTemporaryFiles } from '../sweep-temporary-files.ts';
import { toTaskFiles } from '../task-files.ts';

export type Undo = () => void;

/** Opens and closes the store, so that its schema is there. */
export type OpenStore = (location: StoreLocation) => Promise<void>;

/** What lies in the git directory: the same in every mode. */
export async function makeStorePlace(paths: ProjectPaths, openStore: OpenStore, undo: Undo[]): Promise<void> {
  makeFolder(paths.store_dir, undo, readSharedModes(paths.common_dir));
  sweepTemporaryFiles(paths.store_dir);
  const before = new Set(readdirSync(paths.store_dir));
  undo.push(() => {
    const made = readdirSync(paths.store_dir).filter((name) => !before.has(name));
    for (const name of made) rmSync(join(paths.store_dir, name), { recursive: true, force: true });
  });
  await openStore(paths.store);
}

/**
 * What lies in the working tree, and what git is told about it. Task files that the last commit has are not made: an
 * empty one would be committed in its place.
 */
export function makeProjectFiles(
  paths: ProjectPaths,
  mode: InitMode,
  undo: Undo[],
  committed: ReadonlySet<string> = new Set(),
): void {
  makeFolder(paths.forge_dir, undo);
  sweepTemporaryFiles(paths.forge_dir);
  linkDatabase(paths, undo);
  const files = mode === 'branch' ? [] : Object.values(toTaskFiles(paths));
  for (const path of files) if (!committed.has(path)) makeFile(path, undo);
  makeFolder(join(paths.forge_dir, 'issues'), undo);
  if (mode === 'standard') {
    writeReadableHooks(paths, undo);
    addIgnoreLines(paths, undo);
    addAttributeLines(paths, undo);
    addCloneLines(paths, undo);
  } else exclude(paths, STEALTH_LINES, undo);
}

/** What git is told in the clone's own files, in standard mode: for branches that do not have the lines. */
export function addCloneLines(paths: ProjectPaths, undo: Undo[] = []): void {
  addCloneAttributes(paths, undo);
  exclude(paths, EXCLUDE_LINES, undo);
}

/** For branches whose `.gitignore` has no such lines. A linked exclude file is not this repository's alone. */
function exclude(paths: ProjectPaths, lines: readonly string[], undo: Undo[]): void {
  const folder = join(paths.common_dir, 'info');
  const file = join(folder, 'exclude');
  if (lookAt(file)?.isSymbolicLink() === true) {
    if (lines === EXCLUDE_LINES) return;
    throw new ForgeError('already_exists', `${file} is a link, so .forge/ cannot be hidden from git there`, {
      hint: 'Put a plain file in its place, then run the command again',
      details: { path: file },
    });
  }
  makeFolder(folder, undo);
  addRememberedLines(paths, 'info/exclude', { lines, undo });
}

function makeFolder(path: string, undo: Undo[], as?: FileModes): void {
  if (lookAt(path) !== undefined) return; // a file in its place shows in the next step
  if (as === undefined) mkdirSync(path);
  else makeFolderAs(path, as);
  undo.push(() => {
    // Gone, or with something in it that is not ours: not ours to remove.
    if (lookAt(path) !== undefined && readdirSync(path).length === 0) rmdirSync(path);
  });
}

function makeFile(path: string, undo: Undo[]): void {
  if (lookAt(path) !== undefined) return;
  writeFileSync(path, '', { flag: 'wx' });
  undo.push(() => {
    if (lookAt(path)?.size === 0) rmSync(path);
  });
}

/**
 * Both are written in full before either is in its place. The shared one last: after a crash between the two, another
 * init sees that its own is there and the shared one missing, and goes on.
 */
export function publishConfig(paths: ProjectPaths, text: string, undo: Undo[]): void {
  const shared = stageFile(paths.shared_config, text);
  undo.push(() => shared.discard());
  const own = stageFile(paths.config, text);
  undo.push(() => own.discard());
  own.publish();
  undo.push(() => rmSync(paths.config));
  shared.publish();
}

/** Last done, first undone. What could not be undone comes back as sentences. */
export function takeBack(undo: readonly Undo[]): string[] {
  return undo.toReversed().flatMap((step) => {
    try {
      step();
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}

export function toInitError(error: unknown, paths: ProjectPaths, left: readonly string[]): ForgeError {
  const why = toFileError(error, `Could not make ${paths.root} a Forge project`);
  if (left.length === 0) return why;
  return new ForgeError(why.code, `${why.message}; not everything could be undone: ${left.join('; ')}`, {
    ...(why.hint !== undefined && { hint: why.hint }),
    details: { ...why.details, left },
    cause: error,
  });
}

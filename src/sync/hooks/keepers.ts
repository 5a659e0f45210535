import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ForgeProgram } from '../forge-program.ts';
import { lookAt } from '../look-at.ts';
import { KEEPER_HOOK, OWN_SHEBANG, putBlock, removeBlocks, toKeeperBlock } from './hook-block.ts';

/** A hook file that Forge makes; the caller knows how files of hooks are written. */
export type WriteHook = (file: string, content: string) => void;

/** The keeper of one folder. A hook of this name that is the user's stays as it is. */
export function placeKeeper(folder: string, program: ForgeProgram, write: WriteHook): void {
  const file = join(folder, KEEPER_HOOK);
  const found = lookAt(file);
  const content = putBlock(OWN_SHEBANG, toKeeperBlock(program));
  if (found !== undefined && (!isOwnKeeper(file) || readFileSync(file, 'latin1') === content)) return;
  write(file, content);
}

/** Whether there was one. */
export function removeKeeper(folder: string): boolean {
  const file = join(folder, KEEPER_HOOK);
  const isOwn = isOwnKeeper(file);
  if (isOwn) rmSync(file, { force: true });
  return isOwn;
}

function isOwnKeeper(file: string): boolean {
  return lookAt(file)?.isFile() === true && removeBlocks(readFileSync(file, 'latin1')) === OWN_SHEBANG;
}

/**
 * The keeper where husky will have git look for hooks, before husky ever ran here: it makes the folder with the next
 * `npm install`, sets `core.hooksPath` to it and leaves files alone that it does not know.
 */
export function placeHuskyKeepers(root: string, program: ForgeProgram, write: WriteHook): void {
  for (const folder of findHuskyFolders(root)) {
    // As husky does: git is to see nothing of this folder.
    const ignore = join(folder, '.gitignore');
    if (lookAt(ignore) === undefined) write(ignore, HUSKY_IGNORES);
    placeKeeper(folder, program, write);
  }
}

/** Takes away what is Forge's alone: where husky has run since, its files stay. */
export function removeHuskyKeepers(root: string): void {
  for (const folder of findHuskyFolders(root)) {
    removeKeeper(folder);
    if (listNames(folder).join('\n') !== '.gitignore') continue;
    if (readText(join(folder, '.gitignore')) !== HUSKY_IGNORES) continue;
    rmSync(folder, { recursive: true, force: true });
    if (listNames(dirname(folder)).length === 0) rmdirSync(dirname(folder));
  }
}

/** For every command: by one small file and two looks. */
export function hasHuskyKeepers(root: string): boolean {
  return findHuskyFolders(root).every((folder) => lookAt(join(folder, KEEPER_HOOK)) !== undefined);
}

const HUSKY_IGNORES = '*';

/** The folders that `husky` writes its hooks to, by what the working tree says; they need not exist. */
function findHuskyFolders(root: string): string[] {
  const named = findNamedFolders(root);
  return [...new Set(['.husky', ...named])]
    .filter((name) => {
      const found = lookAt(join(root, name));
      // A script names the folder before it is there; a link may lead out of the repository.
      return found === undefined ? named.includes(name) : found.isDirectory();
    })
    .map((name) => join(root, name, '_'));
}

/** `"prepare": "husky"`, and with a folder `"prepare": "husky .config/husky"`. */
function findNamedFolders(root: string): string[] {
  const text = readText(join(root, 'package.json'));
  if (!text.includes('husky')) return [];
  const scripts = /"(?:prepare|postinstall|postprepare|install)"\s*:\s*"((?:[^"\\]|\\.)*)"/g;
  return [...text.matchAll(scripts)].flatMap(([, script = '']) => findFolders(script));
}

function findFolders(script: string): string[] {
  const calls = script.matchAll(/(?:^|[\s;&|(])husky(?:\s+install)?(?:\s+([\w.][\w./-]*))?(?=$|[\s;&|)])/g);
  return [...calls].map(([, folder = '.husky']) => folder).filter((folder) => !folder.includes('..'));
}

function readText(file: string): string {
  if (lookAt(file)?.isFile() !== true) return '';
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

function listNames(folder: string): string[] {
  return lookAt(folder)?.isDirectory() === true ? readdirSync(folder) : [];
}

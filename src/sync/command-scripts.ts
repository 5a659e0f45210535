import { hash } from 'node:crypto';
import { closeSync, constants, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, sep } from 'node:path';
import { findScripts } from '#domain/shell-scripts.ts';
import type { ScriptRef, TreeView } from '#domain/shell-tree.ts';
import { askGit } from '#git/ask-git.ts';
import { findRepository } from '#git/find-repository.ts';
import { readPlainFile } from '#git/read-plain-file.ts';
import { LIMITS } from '#kernel/limits.ts';

/** A file of the repository that a command runs, or a folder in which it may be. */
export interface CommandScript {
  /** From the top folder, with slashes; a folder ends with one, `./` is everything. */
  readonly path: string;
  /** `absent` where there is no such file now, `too_large` for what cannot be read as a whole: nothing such is trusted. */
  readonly sha256: string;
  /** `part`: only some of the file counts, as the scripts of package.json. */
  readonly kind: 'file' | 'part' | 'folder';
}

export interface ScriptPlace {
  /** The user's own checkout, whose rules say what git ignores. */
  readonly root: string;
  /** Where the command is to run: the same, or the folder of an attempt. */
  readonly folder?: string | undefined;
}

/**
 * The files that a shell command names as what it runs, each by its contents as they are in the folder where it is to
 * run. What git ignores in the user's checkout (packages, what a build makes) came with no repository and is left out.
 */
export async function findCommandScripts(command: string, place: ScriptPlace): Promise<CommandScript[]> {
  const named = findNamed(command, place);
  const all = [...named.single.map(({ path }) => path), ...named.trees.flatMap(({ files }) => files ?? [])];
  const ignored = await listIgnored(place.root, all);
  return toScripts(named, (path) => !ignored.has(path));
}

/** The same with what git ignores. It asks no git, and is enough where all of it was allowed. */
export function listCommandScripts(command: string, place: ScriptPlace): CommandScript[] {
  return toScripts(findNamed(command, place), () => true);
}

interface Named {
  readonly folder: string;
  readonly single: readonly ScriptRef[];
  readonly trees: readonly { readonly ref: ScriptRef; readonly files: readonly string[] | undefined }[];
}

function findNamed(command: string, { root, folder = root }: ScriptPlace): Named {
  const refs = findScripts(command, toView(folder, root));
  return {
    folder,
    single: refs.filter(({ path }) => !isFolder(path)),
    trees: refs.filter(({ path }) => isFolder(path)).map((ref) => ({ ref, files: listFiles(folder, ref) })),
  };
}

function toScripts({ folder, single, trees }: Named, isKept: (path: string) => boolean): CommandScript[] {
  const found = [
    ...single
      .filter(({ path }) => isKept(path))
      .map(({ path, part }): CommandScript =>
        part === undefined
          ? { path, kind: 'file', sha256: readDigest(join(folder, path)) }
          : { path, kind: 'part', sha256: hash('sha256', part) },
      ),
    ...trees.map(({ ref, files }): CommandScript => {
      const path = ref.only === undefined ? ref.path : `${ref.path}**/${ref.only}`;
      return { path, kind: 'folder', sha256: digestAll(folder, files?.filter(isKept)) };
    }),
  ];
  return [...new Map(found.map((one) => [`${one.path} ${one.sha256}`, one])).values()];
}

function isFolder(path: string): boolean {
  return path.endsWith('/');
}

/** An absolute path into the user's checkout is that of the same file wherever the command runs. */
function toView(folder: string, root: string): TreeView {
  const at = (path: string): string => join(folder, path);
  return {
    top: folder,
    home: homedir(),
    kindOf(path) {
      try {
        const found = statSync(at(path));
        if (found.isDirectory()) return 'folder';
        if (!found.isFile()) return 'none';
        return (found.mode & 0o111) !== 0 || hasShebang(at(path)) ? 'script' : 'file';
      } catch {
        return 'none';
      }
    },
    listNames: (path) => readFolder(at(path)).map(({ name }) => name),
    readText: (path) => readPlainFile(at(path))?.toString('utf8'),
    locate: (absolute) => findInside(absolute, folder) ?? findInside(absolute, root),
  };
}

function hasShebang(path: string): boolean {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const head = Buffer.alloc(2);
    return readSync(file, head) === 2 && head.toString('latin1') === '#!';
  } finally {
    closeSync(file);
  }
}

function findInside(absolute: string, top: string): string | undefined {
  for (const start of new Set([top, toReal(top)])) {
    const inside = relative(start, absolute);
    if (inside.startsWith('..') || isAbsolute(inside)) continue;
    return inside.split(sep).join('/');
  }
  return undefined;
}

function toReal(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** What is neither a file nor absent (a pipe, a file above every limit) is never what was allowed. */
function readDigest(path: string): string {
  const bytes = readPlainFile(path);
  if (bytes !== undefined) return hash('sha256', bytes);
  try {
    return statSync(path).isDirectory() ? 'absent' : 'too_large';
  } catch {
    return 'absent';
  }
}

/** Of git, of Forge and of packages: what changes by itself, and comes with no commit. */
const SKIPPED = new Set(['.git', '.forge', 'node_modules']);

/** Undefined where there are too many. Links are not followed. */
function listFiles(folder: string, { path, only }: ScriptRef): string[] | undefined {
  const files: string[] = [];
  const waiting = [path === './' ? '' : path];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of readFolder(join(folder, at))) {
      if (SKIPPED.has(entry.name)) continue;
      if (entry.isDirectory()) waiting.push(`${at}${entry.name}/`);
      else if (only === undefined || entry.name === only) files.push(at + entry.name);
      if (files.length + waiting.length > LIMITS.trust_tree_files) return undefined;
    }
  }
  return files.sort();
}

function readFolder(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

function digestAll(folder: string, files: readonly string[] | undefined): string {
  if (files === undefined) return 'too_large';
  return hash('sha256', JSON.stringify(files.map((path) => [path, readDigest(join(folder, path))])));
}

/** What is tracked is never ignored, also where the rules say so. */
async function listIgnored(root: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  const repository = paths.length === 0 ? undefined : findRepository(root);
  if (repository === undefined) return new Set();
  const { stdout } = await askGit(repository, ['check-ignore', '-z', '--stdin'], {
    input: `${paths.join('\0')}\0`,
  });
  return new Set(stdout.split('\0').filter((path) => path !== ''));
}

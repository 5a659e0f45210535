import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, sep } from 'node:path';
import { findProgram } from '../supervisor/find-program.ts';

/**
 * The folders that a command needs to be read: where its program is installed, those of the PATH, files that its
 * arguments name by absolute paths, and Forge itself, which agents call.
 */
export function findInstalled(
  argv: readonly string[],
  { cwd, path }: { readonly cwd: string; readonly path: string },
): readonly string[] {
  const [command = '', ...args] = argv;
  const program = findProgram(command, { cwd, path });
  return [
    ...(program === undefined ? [] : toFolders(program)),
    ...path.split(':').flatMap(toFolders),
    ...args.filter((word) => isAbsolute(word)),
    ...[process.execPath, process.argv[1] ?? ''].flatMap(toFolders),
  ];
}

/** A program is more than its file: what it was installed with lies beside it, or beside what its link points to. */
function toFolders(place: string): string[] {
  if (!isAbsolute(place)) return [];
  const real = toRealPath(place);
  return [place, real, toRoot(real)];
}

/** `/x` of `/x/node_modules/.bin/claude`, and `/x` of `/x/bin/node`. */
function toRoot(path: string): string {
  const parts = path.split(sep);
  const modules = parts.indexOf('node_modules');
  if (modules > 0) return parts.slice(0, modules + 1).join(sep);
  const folder = dirname(path);
  if (basename(path) === 'bin') return folder;
  return basename(folder) === 'bin' ? dirname(folder) : folder;
}

function toRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

import { basename, matchesGlob } from 'node:path';
import type { SourceFile } from './nearest-tests.ts';

/**
 * The source files of a room in which mutants are made. `names` are names of files without `.ts`, divided by commas, in
 * which a star stands for any text; without them all files of the room are taken. Throws for a name that no file has: a
 * wrong name would look like a file in which nothing is left to do.
 */
export function chooseSources(
  files: readonly SourceFile[],
  room: string,
  names?: string,
): readonly SourceFile[] {
  const own = files.filter(
    ({ path }) => path.startsWith(room) && !/\.(?:test|generated)\.ts$|-behaviour\.ts$/.test(path),
  );
  if (names === undefined) return own;
  const wanted = names.split(',').map((name) => `${name.trim().replace(/\.ts$/, '')}.ts`);
  const has = ({ path }: SourceFile, name: string): boolean => matchesGlob(basename(path), name);
  for (const name of wanted)
    if (!own.some((file) => has(file, name))) throw new Error(`No file ${name} in ${room}`);
  return own.filter((file) => wanted.some((name) => has(file, name)));
}

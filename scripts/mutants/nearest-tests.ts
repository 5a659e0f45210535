import { basename, dirname, relative } from 'node:path';

/** A file of the repository and its text; paths are from the top, with slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** So many test files at most are run for one mutant. */
export const MOST_TESTS = 6;

/**
 * The test files that are nearest to a source file: those of its own name, then those that import it, then those that
 * import one of its importers. Of each the small ones first, because they are about less.
 */
export function findNearestTests(path: string, files: readonly SourceFile[]): readonly string[] {
  const isTest = (file: SourceFile): boolean =>
    file.path.endsWith('.test.ts') && !/\.(?:soak|pg|web)\./.test(file.path);
  const stem = path.replace(/\.ts$/, '');
  const own = files.filter((file) => isTest(file) && file.path.startsWith(`${stem}.`));
  const first = listImporters(path, files);
  const second = first
    .filter((file) => !isTest(file) && !file.path.includes('.test.'))
    .flatMap((file) => listImporters(file.path, files));
  const bySize = (list: readonly SourceFile[]): readonly SourceFile[] =>
    list.filter(isTest).toSorted((a, b) => a.text.length - b.text.length);
  const all = [...bySize(own), ...bySize(first), ...bySize(second)].map((file) => file.path);
  return [...new Set(all)].slice(0, MOST_TESTS);
}

function listImporters(path: string, files: readonly SourceFile[]): readonly SourceFile[] {
  const room = `#${path.replace(/^src\//, '')}`;
  return files.filter((file) => {
    if (!file.text.includes(basename(path))) return false;
    if (path.startsWith('src/') && file.text.includes(`'${room}'`)) return true;
    const way = relative(dirname(file.path), path).replaceAll('\\', '/');
    return file.text.includes(`'${way.startsWith('.') ? way : `./${way}`}'`);
  });
}

import { basename, dirname, relative } from 'node:path';

/** A file of the repository and its text; paths are from the top, with slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/**
 * The test files near some source files: those of their own names, those that import them, and those that import one of
 * their importers.
 */
export function listTestsOf(paths: readonly string[], files: readonly SourceFile[]): readonly string[] {
  return [...new Set(paths.flatMap((path) => listNearest(path, files)))].toSorted();
}

function listNearest(path: string, files: readonly SourceFile[]): readonly string[] {
  const stem = path.replace(/\.ts$/, '');
  const own = files.filter((file) => file.path.startsWith(`${stem}.`));
  const first = listImporters(path, files);
  const second = listImportersOf(first, files);
  // What tests share is a part of the tests that use it; those of the whole program use nearly all of it.
  const shared = [...first, ...second].filter((file) => file.path.startsWith('tests/support/'));
  const third = listImportersOf(shared, files).filter((file) => !file.path.endsWith('.e2e.test.ts'));
  return [...own, ...first, ...second, ...third].filter(isTest).map((file) => file.path);
}

function listImportersOf(list: readonly SourceFile[], files: readonly SourceFile[]): readonly SourceFile[] {
  const sources = list.filter((file) => !file.path.includes('.test.'));
  return sources.flatMap((file) => listImporters(file.path, files));
}

function isTest({ path }: SourceFile): boolean {
  return path.endsWith('.test.ts') && !/\.(?:soak|pg|web)\./.test(path);
}

/** The files that import one directly. */
export function listImporters(path: string, files: readonly SourceFile[]): readonly SourceFile[] {
  const room = `#${path.replace(/^src\//, '')}`;
  return files.filter((file) => {
    if (!file.text.includes(basename(path))) return false;
    if (path.startsWith('src/') && file.text.includes(`'${room}'`)) return true;
    const way = relative(dirname(file.path), path).replaceAll('\\', '/');
    return file.text.includes(`'${way.startsWith('.') ? way : `./${way}`}'`);
  });
}

import { findScripts } from '#domain/shell-scripts.ts';
import type { TreeView } from '#domain/shell-tree.ts';

export type Files = Readonly<Record<string, string>>;

/** Whether a person is asked again: something is found that was not allowed as it is. */
export function asks(
  line: string,
  base: Files,
  change: Readonly<Record<string, string | undefined>>,
): boolean {
  const allowed = digest(line, base);
  const after = Object.fromEntries(
    Object.entries({ ...base, ...change }).filter((one): one is [string, string] => one[1] !== undefined),
  );
  return [...digest(line, after)].some(([path, text]) => allowed.get(path) !== text);
}

/** A tree in memory; what begins with `#!` can be run. */
function toView(files: Files): TreeView {
  const names = Object.keys(files);
  const below = (path: string): string[] =>
    path === ''
      ? names
      : names.filter((name) => name.startsWith(`${path}/`)).map((name) => name.slice(path.length + 1));
  return {
    top: '/top',
    home: '/home',
    kindOf(path) {
      const text = files[path];
      if (text !== undefined) return text.startsWith('#!') ? 'script' : 'file';
      return below(path).length > 0 ? 'folder' : 'none';
    },
    listNames: (path) => [...new Set(below(path).map((name) => name.split('/')[0] ?? ''))],
    readText: (path) => files[path],
    locate: (path) => (path.startsWith('/top/') ? path.slice('/top/'.length) : undefined),
  };
}

/** What is held against trust, each with what of it counts. */
function digest(line: string, files: Files): Map<string, string> {
  const found = new Map<string, string>();
  for (const { path, only, part } of findScripts(line, toView(files))) {
    const under = path === './' ? '' : path;
    const own = Object.keys(files).filter(
      (name) => name.startsWith(under) && (only === undefined || name.split('/').at(-1) === only),
    );
    const text = path.endsWith('/')
      ? own.map((name) => [name, files[name]])
      : (part ?? files[path] ?? 'absent');
    found.set(JSON.stringify([path, only]), JSON.stringify(text));
  }
  return found;
}

import type { ShellCommand, ShellWord } from './shell-line.ts';

/** The files of one folder tree, as a line that is run at its top would find them. */
export interface TreeView {
  /** Absolute path of the tree's top folder. */
  readonly top: string;
  readonly home: string;
  /** `script`: a file that can be run as a program. Paths are from the top, with slashes; the top is the empty path. */
  readonly kindOf: (path: string) => 'script' | 'file' | 'folder' | 'none';
  /** Of what is in a folder; none where it is no folder. */
  readonly listNames: (path: string) => readonly string[];
  readonly readText: (path: string) => string | undefined;
  /** The path from the top of what an absolute path names; undefined outside of the tree. */
  readonly locate: (absolute: string) => string | undefined;
}

/** What a line would run of a tree. */
export interface ScriptRef {
  /** A file; everything below a folder where it ends with a slash, and everything at all for `./`. */
  readonly path: string;
  /** Of a folder only the files of this name. */
  readonly only?: string | undefined;
  /** What of the file counts, where that is not all of it. */
  readonly part?: string | undefined;
}

/** Undefined where it leads out of the tree. */
export function joinPath(folder: string, name: string): string | undefined {
  const parts: string[] = folder === '' ? [] : folder.split('/');
  for (const part of name.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
}

export function splitOption(
  word: ShellWord,
  next: ShellWord | undefined,
): { readonly option?: string; readonly value?: ShellWord | undefined; readonly skips: number } {
  const [head] = word.pieces;
  if (typeof head !== 'string' || !/^[-+]./.test(head)) return { skips: 0 };
  const [option = '', given] = head.split(/=(.*)/s);
  if (given !== undefined)
    return { option, value: { text: given, pieces: [given, ...word.pieces.slice(1)] }, skips: 0 };
  // `-Cdir`, `-fMakefile`
  const [, short = '', rest = ''] = /^(-[Cf])(.+)$/s.exec(head) ?? [];
  if (rest !== '')
    return { option: short, value: { text: rest, pieces: [rest, ...word.pieces.slice(1)] }, skips: 0 };
  return { option, value: next, skips: 1 };
}

export function afterEquals({ text, pieces: [first, ...more] }: ShellWord): ShellWord {
  const head = typeof first === 'string' ? first.slice(first.indexOf('=') + 1) : '';
  return { text, pieces: head === '' ? more : [head, ...more] };
}

/** Where the input of a command comes from. */
export type Around = Pick<ShellCommand, 'redirects' | 'fed_by'>;
export const NOTHING: Around = { redirects: [], fed_by: [] };
export const BLANK: ShellWord = { text: '', pieces: [] };

import { dropEnd } from '#kernel/text.ts';
import type { ScriptFinder } from './shell-scripts.ts';

const ENDINGS = (
  '.js .cjs .mjs .ts .cts .mts .jsx .tsx .json .node .wasm .py .pyc .pyw .rb .pl .pm .lua .php .R .r .jl .tcl .sh .ex .exs .erl ' +
  '.beam .raku .rakumod .groovy .kts .kt .scala .sc .swift .go .java .class .jar .dart .nim .cr .ps1 .csx .fsx .ml .hs .scm .rkt .jq'
).split(' ');
const INSIDE = [
  ...['js', 'cjs', 'mjs', 'ts', 'cts', 'mts', 'tsx', 'json', 'node'].map((ending) => `index.${ending}`),
  '__init__.py',
  '__main__.py',
  'init.lua',
  'package.json',
  'mod.ts',
];
/** Of one piece of code; what is longer has the whole tree for its scripts. */
const MAX_TOKENS = 300;

/**
 * The files that a name may mean to an interpreter: `./check` is `check.js` to one and `check.rb` to another,
 * `scripts.check` is `scripts/check.py`, and so is what is in the packages on the way. `folders`: where modules are looked
 * for besides. True where there is any.
 */
export function addModule(finder: ScriptFinder, name: string, folders: readonly string[] = []): boolean {
  const found = [...new Set(listForms(name).flatMap((form) => listCandidates(form)))]
    .flatMap((path) => [path, ...folders.map((folder) => `${folder}/${path}`)])
    .filter((path) => finder.isThere(path));
  for (const path of found) finder.addFile(path);
  return found.length > 0;
}

/** Every name in a piece of code that may be one of a module or of a file. */
export function addNamedModules(finder: ScriptFinder, code: string, folders: readonly string[] = []): void {
  const tokens = new Set(code.split(/[^\w./@:+-]+/).map((token) => dropEnd(token, ':.')));
  for (const [, from = '', names = ''] of code.matchAll(/\bfrom\s+([\w.]+)\s+import\s+([\w\s,*]+)/g))
    for (const name of names.split(/[\s,]+/)) tokens.add(`${from}.${name}`);
  if (tokens.size > MAX_TOKENS) return finder.addUnknown();
  for (const token of tokens) if (/[A-Za-z_]/.test(token)) addModule(finder, token, folders);
}

function listForms(name: string): string[] {
  const plain = name.replace(/^file:(?:\/\/)?/, '').replace(/[?#][^]*$/, '');
  if (plain === '') return [];
  const parts = plain.split(/::|\./);
  const isDotted = !plain.includes('/') && parts.length > 1 && parts.every((part) => /^\w+$/.test(part));
  // What is imported as `x.js` may be written in `x.ts`.
  const bare = plain.replace(/\.[cm]?js$/, '');
  return [plain, bare, ...(isDotted ? parts.map((_, at) => parts.slice(0, at + 1).join('/')) : [])];
}

function listCandidates(form: string): string[] {
  return [form, ...ENDINGS.map((ending) => form + ending), ...INSIDE.map((name) => `${form}/${name}`)];
}

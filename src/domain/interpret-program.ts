import { isToolVerb, isTwoFaced, RUN_VERBS } from './known-tools.ts';
import { addModule, addNamedModules } from './module-files.ts';
import { addShadows, isPython } from './python-shadows.ts';
import { takeScripts } from './package-scripts.ts';
import { literalOf, type ShellWord } from './shell-line.ts';
import { CODE_OPTIONS, FILE_OPTIONS, FOLDER_OPTIONS, READERS, SHELLS } from './shell-programs.ts';
import type { ScriptFinder } from './shell-scripts.ts';
import { type Around, BLANK, splitOption } from './shell-tree.ts';

/** Options of interpreters that name a module, and those that name a folder in which modules are. */
const MODULE_OPTIONS = new Set('-M -l -x -S -i --script -script --load -load -jar --jar --plugin'.split(' '));
const SEARCH_OPTIONS = new Set('-I -L -cp -classpath --class-path --module-path -pa --path'.split(' '));
/** Options after which no value comes. */
const FLAGS = /^(?:-[uBbOEsSIqvxdiwTtUnWAae]+|--(?:no|enable|experimental|trace|use|allow)-?[\w-]*|--)$/;

/** A script is the first word that names a file; code is read as far as it can be. */
export function interpretProgram(
  finder: ScriptFinder,
  name: string,
  args: readonly ShellWord[],
  { redirects, fed_by }: Around,
): void {
  const isShell = SHELLS.has(name) || name === '.' || name === 'source';
  const folders = isShell ? [] : listSearched(args);
  let missing: string | undefined;
  let hasCode = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (word === undefined) continue;
    const { option, value, skips } = splitOption(word, args[at + 1]);
    if (option !== undefined) {
      if (option === '--test') return;
      if (isShell ? /^-(?=[A-Za-z]*$)[^c]*c/.test(option) : isCodeOption(option)) {
        takeCode(finder, { isShell, folders }, skips === 0 && value ? [value] : args.slice(at + 1));
        if (isShell) return;
        if (isPython(name)) addShadows(finder);
        hasCode = true;
        continue;
      }
      if (option === '--run' && value !== undefined) return takeScripts(finder, namesOf(finder, value));
      if (/^-[A-Za-z]*m$/.test(option) && value !== undefined && !isShell) {
        takeModule(finder, value, folders);
        if (isPython(name)) addShadows(finder);
        return;
      }
      if (!isShell) takeGlued(finder, word, folders);
      if (value === undefined) continue;
      if (FILE_OPTIONS.has(option) || (!isShell && MODULE_OPTIONS.has(option)))
        takeNamed(finder, value, { folders, isShell, isFile: FILE_OPTIONS.has(option) });
      else if (FOLDER_OPTIONS.has(option)) finder.enter(value);
      else if (isShell || !SEARCH_OPTIONS.has(option) || isFileWord(finder, value)) continue;
      at += skips;
      continue;
    }
    if (hasCode) continue;
    const values = finder.valuesOf(word);
    if (values === undefined) return finder.addUnknown(word);
    const [first = ''] = values;
    if (missing === undefined && isFirstWord(args, at)) {
      if (first === 'eval') return addNamedModules(finder, textOf(args.slice(at + 1)), folders);
      if (first === 'task' && name === 'deno')
        return ['deno.json', 'deno.jsonc'].forEach((one) => finder.addFile(one));
      if (first === 'test' || (isTwoFaced(name) && isToolVerb(first))) return;
      if (!isShell && RUN_VERBS.has(first) && !finder.isThere(first)) continue;
    }
    if (takeFiles(finder, values, isShell ? undefined : folders)) {
      if (isPython(name)) for (const value of values) addShadows(finder, value);
      // It may be the value of the option before it: then the script is still to come.
      const before = literalOf(args[at - 1] ?? BLANK) ?? '';
      if (isShell || !before.startsWith('-') || before.includes('=') || FLAGS.test(before)) return;
      continue;
    }
    missing ??= first;
  }
  if (missing !== undefined && missing !== '-') return finder.addFile(missing);
  if (isShell && !hasCode) takeInput(finder, { redirects, fed_by });
}

/** True where one of them is there. */
function takeFiles(
  finder: ScriptFinder,
  values: readonly string[],
  folders: readonly string[] | undefined,
): boolean {
  let isFound = false;
  for (const value of values) {
    const isThere = finder.isThere(value) || finder.isFolder(value);
    if (isThere) finder.addFile(value);
    else if (folders !== undefined && value !== '-' && addModule(finder, value, folders))
      finder.addFile(value);
    else continue;
    isFound = true;
  }
  return isFound;
}

function isFirstWord(args: readonly ShellWord[], at: number): boolean {
  return args.slice(0, at).every((word) => (literalOf(word) ?? '').startsWith('-'));
}

function isCodeOption(option: string): boolean {
  return CODE_OPTIONS.has(option) || /^-[A-Za-z0-9]{1,5}[eEc]$/.test(option);
}

function isFileWord(finder: ScriptFinder, word: ShellWord): boolean {
  return (finder.valuesOf(word) ?? []).some((value) => finder.isThere(value));
}

function namesOf(finder: ScriptFinder, word: ShellWord): readonly string[] | undefined {
  return finder.valuesOf(word)?.flatMap((name) => [`pre${name}`, name, `post${name}`]);
}

function textOf(words: readonly ShellWord[]): string {
  return words.map((word) => literalOf(word) ?? '').join(' ');
}

function listSearched(args: readonly ShellWord[]): string[] {
  return args.flatMap((word, at) => {
    const { option, value } = splitOption(word, args[at + 1]);
    const text = literalOf(word) ?? '';
    if (/^-I./.test(text)) return [text.slice(2)];
    const found = option !== undefined && SEARCH_OPTIONS.has(option) ? literalOf(value ?? BLANK) : undefined;
    return found === undefined ? [] : found.split(':');
  });
}

/** `-mcheck`, `-MCheck`, `-r./check`, `-c'import check'`, `--require=./check`. */
function takeGlued(finder: ScriptFinder, word: ShellWord, folders: readonly string[]): void {
  const text = literalOf(word) ?? '';
  if (text.includes('=')) addNamedModules(finder, text.slice(text.indexOf('=') + 1), folders);
  if (text.startsWith('--')) return;
  const [, module] = /^-[A-Za-z]*?m([A-Za-z_][^]*)$/.exec(text) ?? [];
  if (module !== undefined) takeModule(finder, { text: module, pieces: [module] }, folders);
  for (const length of [2, 3, 4])
    if (text.length > length) addNamedModules(finder, text.slice(length), folders);
}

function takeNamed(
  finder: ScriptFinder,
  word: ShellWord,
  { folders, isShell, isFile }: { folders: readonly string[]; isShell: boolean; isFile: boolean },
): void {
  const found = (finder.valuesOf(word) ?? []).map((value) => !isShell && addModule(finder, value, folders));
  // One that is not there counts as such, and one that is not known may be any.
  if (isFile && !found.includes(true)) finder.addNamed(word);
}

function takeCode(
  finder: ScriptFinder,
  { isShell, folders }: { readonly isShell: boolean; readonly folders: readonly string[] },
  args: readonly ShellWord[],
): void {
  const code = args.find((word) => !(literalOf(word) ?? '').startsWith('-'));
  if (code === undefined) return;
  const values = finder.valuesOf(code);
  if (values === undefined) return finder.addUnknown();
  for (const value of values) {
    if (isShell) finder.read(value, finder.folders());
    else addNamedModules(finder, value, folders);
  }
}

function takeModule(finder: ScriptFinder, word: ShellWord, folders: readonly string[]): void {
  for (const value of finder.valuesOf(word) ?? []) {
    const [top = ''] = value.split('.');
    for (const place of ['', ...folders.map((folder) => `${folder}/`)])
      if (top !== '' && finder.isFolder(place + top)) finder.addFile(place + top);
    addModule(finder, value, folders);
  }
}

/** A shell without a script reads one. */
function takeInput(finder: ScriptFinder, { redirects, fed_by }: Around): void {
  for (const { operator, target } of redirects) {
    if (operator === '<' || operator === '<>') finder.addNamed(target);
    if (operator === '<&') finder.addUnknown();
    if (operator.startsWith('<<')) finder.readArgs([target]);
  }
  for (const { words, redirects: fed } of fed_by) {
    for (const { operator, target } of fed) if (operator === '<') finder.addNamed(target);
    const [first = BLANK, ...args] = words;
    const program = literalOf(first) ?? '';
    if (program === 'echo' || program === 'printf')
      takePrinted(
        finder,
        program,
        args.filter((word) => literalOf(word)?.startsWith('-') !== true),
      );
    else if (READERS.has(program)) {
      for (const word of args) {
        const values = finder.valuesOf(word);
        if (values === undefined) finder.addUnknown(word);
        else for (const value of values) if (finder.isThere(value)) finder.addFile(value);
      }
    } else finder.addUnknown();
  }
}

/** The lines that a shell reads from another program. Some programs and shells put in a line break for `\n`, others do not. */
function takePrinted(finder: ScriptFinder, program: string, words: readonly ShellWord[]): void {
  finder.readArgs(words);
  const text = textOf(words);
  const broken = text.replaceAll(String.raw`\n`, '\n');
  if (broken !== text) finder.read(broken, finder.folders());
  // Any other sign of its own stands for a text that is not known here.
  if (broken.includes('\\') || (program === 'printf' && broken.includes('%'))) finder.addUnknown();
}

import { literalOf, parseShellLine, type ShellCommand, type ShellWord } from './shell-line.ts';
import { SHELLS } from './shell-programs.ts';

/**
 * Whether a shell line does nothing but what was allowed: every simple command in it begins with the words of one of
 * the prefixes. What cannot be read for certain does not match.
 */
export type CommandMatch =
  | { readonly matches: false }
  /** `files`: what it reads or writes by redirection; whether it may is for the caller to say. */
  | { readonly matches: true; readonly files: readonly string[] };

const NO_MATCH: CommandMatch = { matches: false };

/** Variables that change how a program speaks, and not what it loads. */
const HARMLESS = new Set(
  'CI NODE_ENV FORCE_COLOR NO_COLOR CLICOLOR TERM COLUMNS LINES TZ LANG LC_ALL RUST_BACKTRACE RUST_LOG'.split(
    ' ',
  ),
);
const NOWHERE = new Set(['/dev/null', '/dev/stdout', '/dev/stderr']);

export function matchCommand(
  line: string,
  prefixes: readonly string[],
  /** Where it is run: to go there is to stay. */
  cwd: string,
): CommandMatch {
  const { commands, constructs, unparsed } = parseShellLine(line);
  if (unparsed || commands.length === 0) return NO_MATCH;
  if (
    ['substitution', 'compound', 'background', 'here_text'].some((one) => constructs.has(one as 'compound'))
  )
    return NO_MATCH;
  const allowed = prefixes.flatMap((prefix) => {
    const words = parsePrefix(prefix);
    return words === undefined ? [] : [words];
  });
  const files: string[] = [];
  for (const command of commands) {
    if (
      !isHarmless(command) ||
      !(staysIn(command, cwd) || allowed.some((words) => beginsWith(command, words)))
    )
      return NO_MATCH;
    for (const { operator, target } of command.redirects) {
      const name = literalOf(target);
      if (name === undefined || name === '') return NO_MATCH;
      const isCopy = operator.endsWith('&') && /^(?:\d+|-)$/.test(name);
      if (!isCopy && !NOWHERE.has(name)) files.push(name);
    }
  }
  return { matches: true, files };
}

/** Programs that only look, whatever their arguments are but for those below. */
const LOOKS = [
  'ls',
  'pwd',
  'cat',
  'head',
  'tail',
  'wc',
  'stat',
  'du',
  'which',
  'grep',
  'echo',
  'true',
  'test',
  '[',
];
const GIT_LOOKS = [
  'git status',
  'git log',
  'git diff',
  'git show',
  'git rev-parse',
  'git ls-files',
  'git blame',
];
/** Options by which one of them would write, run or load something. */
const ACTS =
  /^(?:-o|--output|--ext-diff|--textconv|--exec|-c$|--git-dir|--work-tree|-C$|--files-from|--files0-from|-f$|--file)/;
/** Follows links that lie in a folder, which may lead out of the checkout. */
const FOLLOWS = /^(?:-[A-Za-z]*R|--dereference)/;

/**
 * Whether a shell line only looks: nothing in it is expanded, redirected or run besides. `files` is all that it may
 * look at by a path of its own.
 */
export function matchLook(line: string, cwd: string): CommandMatch {
  const { commands, constructs } = parseShellLine(line);
  const match = matchCommand(line, [...LOOKS, ...GIT_LOOKS], cwd);
  if (constructs.size > 0 || !match.matches || match.files.length > 0) return NO_MATCH;
  const words = commands.flatMap((one) => one.words.slice(1).map(literalOf));
  if (words.some((word) => word === undefined || ACTS.test(word))) return NO_MATCH;
  const greps = commands.filter(({ words: [program] }) => program && literalOf(program) === 'grep');
  if (greps.some((one) => one.words.some((word) => FOLLOWS.test(literalOf(word) ?? '')))) return NO_MATCH;
  return { matches: true, files: words.flatMap((word = '') => listPaths(word)) };
}

/** What in a word may be a path: also behind `=`, and behind the letters of options. What is none lies in the checkout. */
function listPaths(word: string): string[] {
  const behind = /^-[^-]/.test(word) ? Array.from(word.slice(2), (_, at) => word.slice(at + 2)) : [];
  return [...word.split('='), ...behind].filter((part) => !/^-|^$/.test(part));
}

/** The words of `npm test`; undefined for what is not the beginning of one simple command, word for word. */
export function parsePrefix(text: string): readonly string[] | undefined {
  const { commands, constructs, unparsed } = parseShellLine(text);
  const [command, ...more] = commands;
  if (unparsed || constructs.size > 0 || command === undefined || more.length > 0) return undefined;
  if (command.assigned.length > 0 || command.redirects.length > 0 || command.words.length === 0)
    return undefined;
  const words = command.words.map(literalOf);
  return words.some((word) => word === undefined || word === '')
    ? undefined
    : words.flatMap((word) => word ?? []);
}

/** Whether one of the commands of the line begins with these words. */
export function hasPrefix(line: string, prefix: string): boolean {
  const words = parsePrefix(prefix);
  return words !== undefined && parseShellLine(line).commands.some((command) => beginsWith(command, words));
}

/** What an agent runs by a shell of its own: `/bin/bash -lc 'npm test'` is `npm test`. */
export function unwrapShell(line: string): string {
  const [shell = '', option = '', inner, ...more] = parsePrefix(line) ?? [];
  const isShell = SHELLS.has(shell.slice(shell.lastIndexOf('/') + 1)) && /^-l?c$/.test(option);
  return isShell && inner !== undefined && more.length === 0 ? inner : line;
}

function isHarmless({ assigned, words }: ShellCommand): boolean {
  return (
    words.length > 0 &&
    assigned.every(({ name, value }) => HARMLESS.has(name) && literalOf(value) !== undefined)
  );
}

function beginsWith({ words }: ShellCommand, prefix: readonly string[]): boolean {
  return prefix.every((word, at) => at < words.length && literalOf(words[at] as ShellWord) === word);
}

/** Agents like to say where they are. Any other folder is not the same: a program finds other files there. */
function staysIn({ words, redirects }: ShellCommand, cwd: string): boolean {
  const [program, target, ...more] = words.map(literalOf);
  return (
    program === 'cd' && more.length === 0 && redirects.length === 0 && (target === cwd || target === '.')
  );
}

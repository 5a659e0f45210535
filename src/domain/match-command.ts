import { hasLookOptions, LOOKS } from './look-options.ts';
import { isPlainLine } from './plain-line.ts';
import { keepsTo } from './risky-options.ts';
import { literalOf, parseShellLine, type ShellCommand, type ShellWord } from './shell-line.ts';

/**
 * Whether a shell line does nothing but what was allowed: every simple command in it begins with the words of one of
 * the prefixes and has no option by which it would do something else. What cannot be read for certain does not match.
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
  if (unparsed || commands.length === 0 || !isPlainLine(line)) return NO_MATCH;
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
      !(staysIn(command, cwd) || allowed.some((words) => isAllowed(command, words)))
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

/**
 * Whether a shell line only looks: nothing in it is expanded, redirected or run besides. `files` is all that it may
 * look at by a path of its own.
 */
export function matchLook(line: string, cwd: string): CommandMatch {
  const { commands, constructs } = parseShellLine(line);
  const match = matchCommand(line, LOOKS, cwd);
  if (constructs.size > 0 || !match.matches || match.files.length > 0) return NO_MATCH;
  const given = commands.map((one) => one.words.map((word) => literalOf(word) ?? ''));
  if (!given.every(hasLookOptions)) return NO_MATCH;
  return { matches: true, files: given.flatMap(([, ...words]) => words.flatMap(listPaths)) };
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
  if (unparsed || constructs.size > 0 || command === undefined || more.length > 0 || !isPlainLine(text))
    return undefined;
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

/** Shells as the system has them. One of the same name elsewhere is a program that the agent may have written. */
const SYSTEM_SHELL = /^(?:\/bin\/|\/usr\/bin\/|\/usr\/local\/bin\/)?(?:bash|sh|zsh|dash)$/;

/** What an agent runs by a shell of its own: `/bin/bash -lc 'npm test'` is `npm test`. */
export function unwrapShell(line: string): string {
  const [shell = '', option = '', inner, ...more] = parsePrefix(line) ?? [];
  const isShell = SYSTEM_SHELL.test(shell) && /^-l?c$/.test(option);
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

function isAllowed(command: ShellCommand, prefix: readonly string[]): boolean {
  return beginsWith(command, prefix) && keepsTo(command.words.map(literalOf), prefix);
}

/** Agents like to say where they are. Any other folder is not the same: a program finds other files there. */
function staysIn({ words, redirects }: ShellCommand, cwd: string): boolean {
  const [program, target, ...more] = words.map(literalOf);
  return (
    program === 'cd' && more.length === 0 && redirects.length === 0 && (target === cwd || target === '.')
  );
}

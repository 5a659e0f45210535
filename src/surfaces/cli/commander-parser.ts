import type { Command } from 'commander';
import { ForgeError } from '#kernel/errors.ts';
import { assembleInput } from '#operations/assemble-input.ts';
import {
  type Accepted,
  type FlagTable,
  GLOBAL_SWITCHES,
  GLOBAL_VALUES,
  listOperationEntries,
  type OperationEntry,
} from '#operations/flag-table.ts';
import { checkInput } from './check-input.ts';
import {
  createCommand,
  createOperationCommand,
  groupHelp,
  type HelpView,
  operationHelp,
  topHelp,
} from './command-help.ts';
import { refuseFlag, refuseWord } from './refuse-word.ts';

export interface ParseOptions {
  readonly table: FlagTable;
  readonly version: string;
  readonly view: HelpView;
}

export type ParsedArgv =
  | { readonly outcome: 'accepted'; readonly accepted: Accepted }
  /** Help or the version: nothing is to be run. */
  | { readonly outcome: 'print'; readonly text: string };

/**
 * The slow parser: commander sorts the words, the declaration's schema checks the values. It owns every error and
 * all help, and agrees with acceptArgv on everything that one accepts. Throws usage and invalid_input.
 */
export function parseArgv(argv: readonly string[], options: ParseOptions): ParsedArgv {
  const flags = new Map<string, string[]>();
  const found = findCommand(argv, options, flags);
  if ('outcome' in found) return found;
  const { entry } = found;
  const command = createOperationCommand(entry);
  const rest = spreadWords(entry, found.rest);
  const help = (): ParsedArgv => ({ outcome: 'print', text: operationHelp(entry, options.view) });
  if (checkFlagValues(command, rest, 'to the end') === 'help') return help();
  const { operands, unknown } = sortWords(command, rest, flags);
  if (asksForHelp(unknown)) return help();
  if (unknown[0] !== undefined) throw refuseFlag(unknown[0], command, entry);
  const accepted = assembleInput(entry, { flags, args: operands });
  checkInput(accepted);
  return { outcome: 'accepted', accepted };
}

interface FoundCommand {
  readonly entry: OperationEntry;
  readonly rest: readonly string[];
}

/** Takes the command's own words from the front, and the global flags that stand before and between them. */
function findCommand(
  argv: readonly string[],
  options: ParseOptions,
  flags: Map<string, string[]>,
): FoundCommand | ParsedArgv {
  const { table, version } = options;
  const path: string[] = [];
  let rest = argv;
  let entry: OperationEntry | undefined;
  while (entry === undefined) {
    const command = createCommand(['forge', ...path].join(' ')).passThroughOptions();
    if (checkFlagValues(command, rest, 'to the command') === 'help') return helpFor(path, options);
    const { operands, unknown } = sortWords(command, rest, flags);
    if (asksForHelp(unknown.slice(0, 1))) return helpFor(path, options);
    if (unknown[0] === '--version' && path.length === 0)
      return { outcome: 'print', text: versionText(version, argv) };
    if (unknown[0] !== undefined) throw refuseFlag(unknown[0], command);
    const [word, ...more] = operands;
    if (word === undefined && flags.size === 0) return helpFor(path, options);
    if (word === undefined)
      throw new ForgeError('usage', 'No command is given', { hint: `${command.name()} --help` });
    if (word === 'help' && path.length === 0) return helpFor(more, options);
    path.push(word);
    rest = more;
    entry = listOperationEntries(table).find((one) => isSame(one.path, path) || isSame(one.alias, path));
    if (entry === undefined && !isGroup(path, table)) throw refuseWord(path, table);
    if (entry !== undefined && leadsOn(entry, { path, rest, table })) entry = undefined;
  }
  return { entry, rest };
}

/** `forge help task create`; words that begin with a dash are beside the point. */
function helpFor(words: readonly string[], { table, view }: ParseOptions): ParsedArgv {
  const path = words.filter((word) => !word.startsWith('-'));
  if (path.length === 0) return { outcome: 'print', text: topHelp(table, view) };
  const entry = listOperationEntries(table).find((one) => isSame(one.path, path) || isSame(one.alias, path));
  if (entry !== undefined) return { outcome: 'print', text: operationHelp(entry, view) };
  if (!isGroup(path, table)) throw refuseWord(path, table);
  return { outcome: 'print', text: groupHelp(path, table, view) };
}

/** The same rule as the quick parser's: a command without any field may be the beginning of others. */
function leadsOn(
  entry: OperationEntry,
  { path, rest, table }: { path: readonly string[]; rest: readonly string[]; table: FlagTable },
): boolean {
  if (Object.keys(entry.fields).length > 0 || !isGroup(path, table, entry.name)) return false;
  const command = createCommand(['forge', ...path].join(' ')).passThroughOptions();
  if (checkFlagValues(command, rest, 'to the command') === 'help') return false;
  const [word] = sortWords(command, rest, new Map()).operands;
  return word !== undefined && isGroup([...path, word], table);
}

function sortWords(
  command: Command,
  words: readonly string[],
  flags: Map<string, string[]>,
): { operands: string[]; unknown: string[] } {
  for (const option of command.options) {
    command.on(`option:${option.name()}`, (value?: string) => {
      flags.set(option.name(), [...(flags.get(option.name()) ?? []), value ?? '']);
    });
  }
  return command.parseOptions([...words]);
}

/**
 * `--command a -b` as `--command=a --command=-b`: such a flag takes words up to the next flag that is ours, and behind
 * `--` all that are left.
 */
function spreadWords({ fields }: OperationEntry, words: readonly string[]): readonly string[] {
  const rules = Object.values(fields);
  const greedy = rules.flatMap(({ words: takes, flag }) =>
    takes && flag !== undefined ? [`--${flag}`] : [],
  );
  if (greedy.length === 0) return words;
  const own = new Set<string | undefined>([
    'help',
    ...GLOBAL_SWITCHES,
    ...GLOBAL_VALUES,
    ...rules.flatMap(({ flag, file_flag }) => [flag, file_flag]),
  ]);
  const isOwn = (word: string): boolean =>
    word.startsWith('--') && own.has(word.slice(2).replace(/=.*$/s, ''));
  const spread: string[] = [];
  let taker: string | undefined;
  for (const [at, word] of words.entries()) {
    if (word === '--') {
      if (taker === undefined) return [...spread, ...words.slice(at)];
      const rest = words.slice(words[at - 1] === taker ? at + 1 : at);
      return [...spread, ...rest.map((one) => `${taker}=${one}`)];
    }
    if (isOwn(word)) taker = greedy.includes(word) && !isOwn(words[at + 1] ?? '--help') ? word : undefined;
    if (taker === undefined) spread.push(word);
    else if (taker !== word) spread.push(`${taker}=${word}`);
  }
  return spread;
}

/**
 * Commander takes whatever follows a flag as its value, so a forgotten value would swallow the next flag. A word
 * that looks like one is refused instead; `--flag=value` says that it is meant.
 */
function checkFlagValues(
  command: Command,
  words: readonly string[],
  how: 'to the command' | 'to the end',
): 'fine' | 'help' {
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--' || (how === 'to the command' && !word.startsWith('-'))) return 'fine';
    const option = command.options.find(
      ({ required, long, short }) => required && (long === word || short === word),
    );
    if (option === undefined) continue;
    at += 1;
    const value = words[at];
    if (value === '--help' || value === '-h') return 'help';
    if (value === undefined) throw new ForgeError('usage', `${word} needs a value`, { hint: option.flags });
    if (/^--?[a-z][\w-]*(?:=|$)/i.test(value)) {
      throw new ForgeError('usage', `${word} needs a value, and ${value} looks like a flag`, {
        hint: `${option.long ?? word}=${value} if it is the value`,
      });
    }
  }
  return 'fine';
}

function asksForHelp(unknown: readonly string[]): boolean {
  const end = unknown.indexOf('--');
  return unknown.slice(0, end === -1 ? undefined : end).some((word) => word === '--help' || word === '-h');
}

function versionText(version: string, argv: readonly string[]): string {
  return `${argv.includes('--json') ? JSON.stringify({ version }) : version}\n`;
}

function isSame(whole: readonly string[] | undefined, path: readonly string[]): boolean {
  return whole !== undefined && whole.length === path.length && whole.every((word, at) => word === path[at]);
}

/** Whether commands begin with these words, others than `besides`. */
function isGroup(path: readonly string[], table: FlagTable, besides?: string): boolean {
  return listOperationEntries(table).some(
    (entry) => entry.name !== besides && path.every((word, at) => entry.path[at] === word),
  );
}

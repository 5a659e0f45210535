import { parseSync, Visitor } from 'rolldown/utils';
import type { ESTree } from 'rolldown/utils';
import {
  type FieldRule,
  type FlagTable,
  GLOBAL_SWITCHES,
  GLOBAL_VALUES,
  type OperationEntry,
} from '#operations/flag-table.ts';

/** A command line that a text of the program gives a person to type. */
export interface TypedCommand {
  readonly path: string;
  readonly line: number;
  readonly command: string;
}

/** Stands for what a template fills in when it runs. */
const FILLED = '\u0001';
/** What a command line comes behind, in the middle of a text. */
const BEFORE =
  /(?:^|[`(]|: |; |&& |, then |, or |see |See |with |until |Sooner: |\$ |Next: |by )(forge [^`]*)/g;
/** What ends it there. */
const END = /; |, | && | \| | >>? | < |\)|(?<=[\w>\u0001])\. |: | \u2013 |\n|$/;

/** Every command line that the texts of a source file give. Throws when the file does not parse. */
export function findTypedCommands(path: string, text: string): TypedCommand[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const found: TypedCommand[] = [];
  const add = (start: number, value: string): void => {
    const line = text.slice(0, start).split('\n').length;
    for (const command of listCommands(value)) found.push({ path, line, command });
  };
  new Visitor({
    Literal: (node) => {
      if (typeof node.value === 'string') add(node.start, node.value);
    },
    TemplateLiteral: (node: ESTree.TemplateLiteral) => {
      add(node.start, node.quasis.map(({ value }) => value.cooked ?? '').join(FILLED));
    },
  }).visit(program);
  return found;
}

function listCommands(text: string): string[] {
  const found: string[] = [];
  for (let rest = text; rest !== '';) {
    BEFORE.lastIndex = 0;
    const match = BEFORE.exec(rest);
    if (match === null) break;
    const [, tail = ''] = match;
    const end = hideQuoted(tail).search(END);
    const command = tail.slice(0, end).replace(/(?<=[\w>])\.$/, '');
    // In backticks or brackets it may be the name of a command, without what it takes.
    const isName = /[`(]$/.test(rest.slice(0, match.index + match[0].length - tail.length));
    if (!isName || !/^forge [a-z]+( [a-z]+)*$/.test(command))
      found.push(command.replaceAll(FILLED, '<filled>'));
    rest = rest.slice(match.index + match[0].length - tail.length + Math.max(command.length, 1));
  }
  return found;
}

/** The same length, without what stands in quotes and brackets. */
function hideQuoted(text: string): string {
  return text.replaceAll(/"[^"]*"|'[^']*'|<[^>]*>/g, (quoted) => 'x'.repeat(quoted.length));
}

/** Why the command line cannot be typed as it stands, with its gaps filled; undefined where it can. */
export function findCommandFault(command: string, table: FlagTable): string | undefined {
  const [, ...all] = splitWords(command);
  const words = withoutGlobals(all);
  const [first = ''] = words;
  if (isGap(first) || first === '--help' || first === '--version') return undefined;
  const place = findCommand(words, table);
  if (place === undefined) return `there is no command ${words.slice(0, 2).join(' ')}`;
  if (place === 'group') return undefined;
  return checkWords(place.entry, words.slice(place.used));
}

/** `forge --server <url> ready`: what stands before the command. */
function withoutGlobals(words: readonly string[]): readonly string[] {
  const [, flag = ''] = /^--?([a-zA-Z]+)$/.exec(words[0] ?? '') ?? [];
  if (flag === 'C' || (GLOBAL_VALUES as readonly string[]).includes(flag))
    return withoutGlobals(words.slice(2));
  return words;
}

function splitWords(command: string): string[] {
  return (command.match(/(?:<[^>]*>|"[^"]*"|'[^']*'|[^\s"'<])+/g) ?? []).map((word) =>
    word.replaceAll(/^["']|["']$/g, ''),
  );
}

/** To be filled in by the program or the reader. */
function isGap(word: string): boolean {
  return /<[^>]*>|\u2026|^\.\.\.$/.test(word);
}

function findCommand(
  words: readonly string[],
  table: FlagTable,
): { readonly entry: OperationEntry; readonly used: number } | 'group' | undefined {
  for (let used = Math.min(3, words.length); used > 0; used -= 1) {
    const name = table.commands[words.slice(0, used).join(' ')];
    const entry = name === undefined ? undefined : table.entries[name]?.();
    if (entry !== undefined) return { entry, used };
  }
  const isGroup = Object.keys(table.commands).some((name) => name.startsWith(`${words[0]} `));
  return isGroup && words[1] === '--help' ? 'group' : undefined;
}

function checkWords(entry: OperationEntry, words: readonly string[]): string | undefined {
  const given = new Set<string>();
  const args: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!word.startsWith('-') || word === '-') {
      args.push(word);
      continue;
    }
    // A flag that the program chooses has what it needs.
    if (word === '--help' || isGap(word)) return undefined;
    const [flag = '', inline] = word.replace(/^--?/, '').split('=', 2);
    if ((GLOBAL_SWITCHES as readonly string[]).includes(flag)) continue;
    const field = Object.entries(entry.fields).find(
      ([, rule]) => rule.flag === flag || rule.file_flag === flag,
    );
    const isGlobal = flag === 'C' || (GLOBAL_VALUES as readonly string[]).includes(flag);
    if (field === undefined && !isGlobal) return `${entry.path.join(' ')} has no flag ${word}`;
    if (field !== undefined) given.add(field[0]);
    if (field?.[1].words === true) break;
    if (field?.[1].kind === 'boolean' || inline !== undefined) continue;
    at += 1;
    const value = words[at];
    if (value === undefined) return `${word} lacks its value`;
    const fault =
      field === undefined || field[1].file_flag === flag ? undefined : checkValue(field[1], value);
    if (fault !== undefined) return `${word}: ${fault}`;
  }
  return checkArguments(entry, args, given);
}

function checkArguments(
  entry: OperationEntry,
  args: readonly string[],
  given: ReadonlySet<string>,
): string | undefined {
  const last = entry.fields[entry.args.at(-1) ?? ''];
  if (args.length > entry.args.length && last?.kind !== 'strings')
    return `too many arguments: ${args.slice(entry.args.length).join(' ')}`;
  for (const [at, field] of entry.args.entries()) {
    const rule = entry.fields[field];
    const fault = args[at] === undefined || rule === undefined ? undefined : checkValue(rule, args[at]);
    if (fault !== undefined) return fault;
  }
  const missing = entry.required.filter(
    (field) => !given.has(field) && !entry.args.slice(0, args.length).includes(field),
  );
  return missing.length === 0 ? undefined : `it lacks ${missing.join(', ')}`;
}

function checkValue({ values, kind, pattern }: FieldRule, value: string): string | undefined {
  if (isGap(value)) return undefined;
  if (values !== undefined && !values.includes(value)) return `${value} is none of ${values.join(', ')}`;
  if (kind === 'integer' && !/^\d+$/.test(value)) return `${value} is no number`;
  if (kind === 'string' && pattern !== undefined && !new RegExp(...pattern).test(value))
    return `${value} is not of the right form`;
  return undefined;
}

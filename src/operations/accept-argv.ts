import { isForgeError } from '#kernel/errors.ts';
import { assembleInput, type GivenWords, listPendingFields } from './assemble-input.ts';
import { holdsRule } from './field-value.ts';
import {
  type Accepted,
  type FieldRule,
  type FlagTable,
  GLOBAL_SWITCHES,
  GLOBAL_VALUES,
  type OperationEntry,
} from './flag-table.ts';

/**
 * The quick parser: understands a command line or leaves it. Undefined means "not for me" (a typo, a missing
 * value, a call for help, a spelling only commander knows), never "wrong": the slow parser decides that, and
 * must give the same answer for everything accepted here.
 */
export function acceptArgv(argv: readonly string[], table: FlagTable): Accepted | undefined {
  const sorted = sortWords(argv, table);
  if (sorted === undefined) return undefined;
  const accepted = assembleOrLeave(sorted.entry, sorted.given);
  return accepted !== undefined && holdsRules(accepted, table) ? accepted : undefined;
}

interface SortedWords {
  readonly entry: OperationEntry;
  readonly given: GivenWords;
}

function sortWords(argv: readonly string[], table: FlagTable): SortedWords | undefined {
  const path: string[] = [];
  const args: string[] = [];
  const flags = new Map<string, string[]>();
  let entry: OperationEntry | undefined;
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--') {
      args.push(...argv.slice(at + 1));
      break;
    }
    if (word === '-' || !word.startsWith('-')) {
      if (entry !== undefined && !leadsOn(entry, [...path, word], args, table)) {
        args.push(word);
        continue;
      }
      // Commands are found by their words joined: a word with a space in it could pass for two.
      if (word.includes(' ')) return undefined;
      path.push(word);
      entry = findEntry(path, table);
      if (entry === undefined && !isGroup(path, table)) return undefined;
      continue;
    }
    const flag = readFlag(word, entry);
    // Which words such a flag takes is for the other parser to say.
    if (flag === undefined || flag.takes === 'words') return undefined;
    let value = flag.inline ?? '';
    if (flag.takes !== 'nothing' && flag.inline === undefined) {
      at += 1;
      const next = argv[at];
      if (next === undefined || !isValue(next, flag.takes)) return undefined;
      value = next;
    }
    const before = flags.get(flag.name);
    if (before === undefined) flags.set(flag.name, [value]);
    else before.push(value);
  }
  return entry === undefined ? undefined : { entry, given: { flags, args } };
}

interface Flag {
  readonly name: string;
  readonly takes: 'nothing' | 'text' | 'integer' | 'words';
  /** The part behind `=`. */
  readonly inline: string | undefined;
}

function readFlag(word: string, entry: OperationEntry | undefined): Flag | undefined {
  if (word === '-C') return { name: 'directory', takes: 'text', inline: undefined };
  if (!word.startsWith('--')) return undefined;
  const equals = word.indexOf('=');
  const name = word.slice(2, equals === -1 ? undefined : equals);
  const takes = flagTakes(name, entry);
  const inline = equals === -1 ? undefined : word.slice(equals + 1);
  if (takes === undefined || (takes === 'nothing' && inline !== undefined)) return undefined;
  return { name, takes, inline };
}

function flagTakes(name: string, entry: OperationEntry | undefined): Flag['takes'] | undefined {
  if ((GLOBAL_SWITCHES as readonly string[]).includes(name)) return 'nothing';
  if ((GLOBAL_VALUES as readonly string[]).includes(name)) return 'text';
  for (const rule of Object.values(entry?.fields ?? {})) {
    if (rule.file_flag === name) return 'text';
    if (rule.flag === name)
      return rule.kind === 'boolean'
        ? 'nothing'
        : rule.kind === 'integer'
          ? 'integer'
          : rule.words === true
            ? 'words'
            : 'text';
  }
  return undefined;
}

/** A word behind a flag that begins with a dash may be another flag: only numbers are taken without asking. */
function isValue(word: string, takes: 'text' | 'integer'): boolean {
  return !word.startsWith('-') || word === '-' || (takes === 'integer' && /^-\d+$/.test(word));
}

function findEntry(path: readonly string[], { commands, entries }: FlagTable): OperationEntry | undefined {
  const command = path.join(' ');
  return Object.hasOwn(commands, command) ? entries[commands[command] ?? '']?.() : undefined;
}

/** `forge mcp` is a command and `forge mcp install` another: only a command without any field can be both. */
function leadsOn(
  entry: OperationEntry,
  path: readonly string[],
  args: readonly string[],
  table: FlagTable,
): boolean {
  return args.length === 0 && Object.keys(entry.fields).length === 0 && isGroup(path, table);
}

function isGroup(path: readonly string[], { commands }: FlagTable): boolean {
  const words = path.join(' ');
  return Object.keys(commands).some((command) => command === words || command.startsWith(`${words} `));
}

function assembleOrLeave(entry: OperationEntry, given: GivenWords): Accepted | undefined {
  try {
    return assembleInput(entry, given);
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

function holdsRules(accepted: Accepted, table: FlagTable): boolean {
  const { operation, input, globals } = accepted;
  if (globals.actor !== undefined && !holdsRule(table.actor, globals.actor)) return false;
  const pending = listPendingFields(accepted);
  if (operation.required.some((field) => !Object.hasOwn(input, field) && !pending.includes(field)))
    return false;
  return Object.entries(operation.fields).every(
    ([field, rule]) => !Object.hasOwn(input, field) || holdsField(accepted, field, rule),
  );
}

function holdsField({ input, files }: Accepted, field: string, rule: FieldRule): boolean {
  const value = input[field];
  if (value === null) return rule.nullable === true;
  if (rule.kind === 'strings') {
    const items = value as readonly string[]; // assembleInput gives a list for this kind
    return (
      (rule.maxItems === undefined || items.length <= rule.maxItems) &&
      items.every((item) => holdsRule(rule, item))
    );
  }
  if (rule.kind !== 'assignments') return holdsRule(rule, value);
  const keys = [
    ...Object.keys(value as object),
    ...files.flatMap((file) => (file.field === field && file.key !== undefined ? [file.key] : [])),
  ];
  return keys.every((key) => holdsRule(rule, key));
}

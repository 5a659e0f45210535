import type { Declaration } from '#contract/declare.ts';
import { describeCommand, type FieldHelp } from './describe-command.ts';
import { type FieldRule, type FlagTable, listOperationEntries, type OperationEntry } from './flag-table.ts';

/** What the three shells need to know, before each says it in its own words. */
export interface CompletionModel {
  /** What can follow `forge` and each group: `''` and `task` → words with summaries. */
  readonly groups: ReadonlyMap<string, readonly CompletionWord[]>;
  readonly commands: readonly CompletionCommand[];
  readonly globals: readonly CompletionFlag[];
}

export interface CompletionWord {
  readonly word: string;
  readonly summary: string;
}

export interface CompletionCommand {
  /** `task create`; the alias is a command of its own here. */
  readonly path: string;
  readonly args: readonly CompletionArgument[];
  readonly flags: readonly CompletionFlag[];
}

export interface CompletionArgument {
  readonly name: string;
  readonly value: CompletionValue;
  /** It takes all the words that are left. */
  readonly repeats: boolean;
}

export interface CompletionFlag {
  /** Without dashes. */
  readonly name: string;
  readonly short?: string;
  readonly description: string;
  readonly repeats: boolean;
  /** Undefined for a flag that stands alone. */
  readonly value?: CompletionValue;
}

export interface CompletionValue {
  readonly words: readonly string[];
  /** Besides the words: ids from `forge task list`, paths of files or folders. */
  readonly from: 'tasks' | 'all tasks' | 'closed tasks' | 'files' | 'folders' | 'nothing';
}

export const NO_VALUE: CompletionValue = { words: [], from: 'nothing' };

/** The flags of `forge task list` that bring the ids. */
export const TASK_LISTINGS = { tasks: '', 'all tasks': '--all', 'closed tasks': '--status closed' } as const;

export function createCompletionModel(
  declarations: readonly Declaration[],
  table: FlagTable,
): CompletionModel {
  const groups = new Map<string, CompletionWord[]>([
    ['', [{ word: 'help', summary: 'Show the help of a command' }]],
  ]);
  const commands = listOperationEntries(table).flatMap((entry) => {
    const declaration = declarations.find(({ name }) => name === entry.name);
    if (declaration === undefined) return [];
    return [entry.path, ...(entry.alias === undefined ? [] : [entry.alias])].map((path) => {
      addToGroups(groups, path, declaration.summary);
      return toCommand(declaration, entry, path);
    });
  });
  return { groups, commands, globals: GLOBALS };
}

const GLOBALS: readonly CompletionFlag[] = [
  { name: 'json', description: 'Answer in JSON', repeats: false },
  { name: 'fields', description: 'Only these fields, with --json', repeats: false, value: NO_VALUE },
  { name: 'actor', description: 'Who asks', repeats: false, value: NO_VALUE },
  {
    name: 'directory',
    short: 'C',
    description: 'Work as if started there',
    repeats: false,
    value: { words: [], from: 'folders' },
  },
  { name: 'server', description: 'Ask this server', repeats: false, value: NO_VALUE },
  { name: 'no-color', description: 'No colours', repeats: false },
  { name: 'quiet', description: 'No progress lines', repeats: false },
  { name: 'help', short: 'h', description: 'Show help', repeats: false },
];

function addToGroups(groups: Map<string, CompletionWord[]>, path: readonly string[], summary: string): void {
  path.forEach((word, at) => {
    const group = path.slice(0, at).join(' ');
    const words = groups.get(group) ?? [];
    groups.set(group, words);
    if (words.some((one) => one.word === word)) return;
    words.push({
      word,
      summary: at === path.length - 1 ? summary : `Commands of ${path.slice(0, at + 1).join(' ')}`,
    });
  });
}

function toCommand(
  declaration: Declaration,
  entry: OperationEntry,
  path: readonly string[],
): CompletionCommand {
  const { args, flags } = describeCommand(declaration, entry);
  return {
    path: path.join(' '),
    args: args.map(({ field, rule }) => ({
      name: field.replaceAll('_', '-'),
      value: toValue(rule, entry),
      repeats: rule.kind === 'strings',
    })),
    flags: flags.map((flag) => toFlag(flag, entry)),
  };
}

function toFlag({ rule, description, from_file }: FieldHelp, entry: OperationEntry): CompletionFlag {
  const repeats = !from_file && (rule.kind === 'strings' || rule.kind === 'assignments');
  const name = (from_file ? rule.file_flag : rule.flag) ?? '';
  if (rule.kind === 'boolean') return { name, description, repeats };
  return {
    name,
    description,
    repeats,
    value: from_file ? { words: [], from: 'files' } : toValue(rule, entry),
  };
}

const MOST_NUMBERS = 10;

function toValue(rule: FieldRule, entry: OperationEntry): CompletionValue {
  const { minimum, maximum } = rule;
  const few = minimum !== undefined && maximum !== undefined && maximum - minimum < MOST_NUMBERS;
  const numbers = few ? Array.from({ length: maximum - minimum + 1 }, (_, at) => String(minimum + at)) : [];
  const words = [...(rule.values ?? []), ...numbers, ...(rule.nullable === true ? ['none'] : [])];
  if (rule.file_argument === true) return { words, from: 'files' };
  return { words, from: rule.task === true ? tasksFor(entry) : 'nothing' };
}

/** Which tasks make sense; deleted ones, which `task restore` wants, are in no list. */
function tasksFor({ name }: OperationEntry): CompletionValue['from'] {
  if (name === 'task.restore') return 'nothing';
  if (name === 'task.reopen') return 'closed tasks';
  return ['task.show', 'task.history', 'task.comment', 'dep.tree'].includes(name) ? 'all tasks' : 'tasks';
}

import { Argument, Command, Help, Option } from 'commander';
import { describeCommand, type FieldHelp, GLOBAL_HELP } from '#operations/describe-command.ts';
import { type FlagTable, listOperationEntries, type OperationEntry } from '#operations/flag-table.ts';
import type { TextView } from '#operations/operation.ts';
import { style } from '#operations/style-text.ts';
import { getDeclaration } from './check-input.ts';

export type HelpView = Pick<TextView, 'color' | 'columns'>;

const FLAGS = 'Flags:';
const GLOBAL_FLAGS = 'Global flags:';

/** A command with the flags that every command takes. It only sorts words and shows help; nothing runs in it. */
export function createCommand(name: string): Command {
  return addGlobalFlags(new Command(name).helpCommand(false).helpOption(false));
}

function addGlobalFlags(command: Command): Command {
  for (const { term, description } of GLOBAL_HELP) {
    if (!term.includes('--help')) command.addOption(new Option(term, description).helpGroup(GLOBAL_FLAGS));
  }
  return command;
}

/** One operation as a command, for parsing and for its help. */
export function createOperationCommand(entry: OperationEntry): Command {
  const declaration = getDeclaration(entry.name);
  const { usage, args, flags } = describeCommand(declaration, entry);
  const name = ['forge', ...entry.path].join(' ');
  const command = new Command(name)
    .helpCommand(false)
    .helpOption(false)
    .usage(usage.slice(name.length + 1));
  const alias = entry.alias === undefined ? [] : [`Short: ${['forge', ...entry.alias].join(' ')}`];
  command.description(
    [declaration.summary, ...(declaration.about === undefined ? [] : [declaration.about]), ...alias].join(
      '\n\n',
    ),
  );
  for (const arg of args) command.addArgument(createArgument(arg));
  for (const flag of flags)
    command.addOption(new Option(flag.term, describeWithValues(flag)).helpGroup(FLAGS));
  return addGlobalFlags(command);
}

function createArgument(help: FieldHelp): Argument {
  const name = `${help.field.replaceAll('_', '-')}${help.rule.kind === 'strings' ? '...' : ''}`;
  return new Argument(help.required ? `<${name}>` : `[${name}]`, describeWithValues(help));
}

function describeWithValues({ description, values }: FieldHelp): string {
  const told = values.every((value) => description.includes(value));
  return told ? description : `${description} (${values.join(', ')})`;
}

/** Help of one operation, with its examples. */
export function operationHelp(entry: OperationEntry, view: HelpView): string {
  const examples = getDeclaration(entry.name).cli.examples.map((example) => `  ${example}`);
  return `${toHelpText(createOperationCommand(entry), view)}\n${style(view, 'bold', 'Examples:')}\n${examples.join('\n')}\n`;
}

/** Help of `forge task`: what can follow. */
export function groupHelp(path: readonly string[], table: FlagTable, view: HelpView): string {
  const name = ['forge', ...path].join(' ');
  const command = new Command(name).helpCommand(false).helpOption(false).usage('<command> [flags]');
  const members = listOperationEntries(table).filter((entry) =>
    path.every((word, at) => entry.path[at] === word),
  );
  for (const entry of members)
    command.addCommand(createListed(entry, entry.path.slice(path.length), 'Commands:'));
  return `${toHelpText(command, view)}\n${globalFlagsText([], view)}\n${name} <command> --help shows the flags and examples of a command.\n`;
}

/** Help of `forge` itself: every command under one of four headings. */
export function topHelp(table: FlagTable, view: HelpView): string {
  const command = new Command('forge').helpCommand(false).helpOption(false).usage('<command> [flags]');
  command.description('Forge: a task graph in your git repository, for people and coding agents');
  for (const heading of HEADINGS) {
    const members = listOperationEntries(table)
      .filter((entry) => headingOf(entry) === heading)
      .toSorted((a, b) => START.indexOf(a.name) - START.indexOf(b.name));
    for (const entry of members) command.addCommand(createListed(entry, entry.alias ?? entry.path, heading));
  }
  const version = { term: '--version', description: 'Show the version' };
  return `${toHelpText(command, view)}\n${globalFlagsText([version], view)}\nforge help <command> shows the flags and examples of a command.\n`;
}

const HEADINGS = ['Start here:', 'Work:', 'Graph:', 'Project:'] as const;
/** In the order of a first hour with it. */
const START = ['project.init', 'task.create', 'task.ready', 'task.claim', 'task.close', 'project.demo'];
const GRAPH = ['project.graph', 'task.blocked'];
const OVERVIEWS = ['project.status', 'project.report', 'inbox.list'];

function headingOf({ name }: OperationEntry): (typeof HEADINGS)[number] {
  if (START.includes(name)) return 'Start here:';
  if (GRAPH.includes(name) || name.startsWith('dep.')) return 'Graph:';
  return name.startsWith('task.') || OVERVIEWS.includes(name) ? 'Work:' : 'Project:';
}

/** As a line of a list: `task create <title>   Create a task`. */
function createListed(entry: OperationEntry, path: readonly string[], heading: string): Command {
  const declaration = getDeclaration(entry.name);
  const command = new Command(path.join(' '))
    .helpGroup(heading)
    .description(declaration.summary)
    .helpOption(false);
  const { args } = describeCommand(declaration, entry);
  const width = args.reduce((sum, { term }) => sum + term.length + 1, command.name().length);
  if (width <= WIDEST_TERM) for (const arg of args) command.addArgument(createArgument(arg));
  return command;
}

/** One line that is wider would leave the summaries of all others too little; the command's own help shows the rest. */
const WIDEST_TERM = 34;
const USUAL_WIDTH = 80;
const WIDEST = 100;

function toHelpText(command: Command, view: HelpView): string {
  const isOperation = command.options.length > 0;
  if (isOperation) command.addHelpOption(new Option('-h, --help', 'Show help').helpGroup(GLOBAL_FLAGS));
  return command
    .configureOutput({ getOutHelpWidth: () => widthOf(view), getOutHasColors: () => view.color })
    .configureHelp({ styleTitle: (title) => style(view, 'bold', title) })
    .helpInformation();
}

/** Commander would put these before the commands, where nobody looks for them. */
function globalFlagsText(more: typeof GLOBAL_HELP, view: HelpView): string {
  const help = new Help();
  help.prepareContext({ helpWidth: widthOf(view) });
  const items = [...GLOBAL_HELP, ...more];
  const widest = Math.max(...items.map(({ term }) => term.length));
  const lines = items.map(({ term, description }) => help.formatItem(term, widest, description, help));
  return help.formatItemList(style(view, 'bold', GLOBAL_FLAGS), lines, help).join('\n');
}

function widthOf({ columns }: HelpView): number {
  return Number.isFinite(columns) ? Math.min(columns, WIDEST) : USUAL_WIDTH;
}

import { Argument, Command, Option } from 'commander';
import { describeCommand, GLOBAL_HELP } from '#operations/describe-command.ts';
import type { FlagTable, OperationEntry } from '#operations/flag-table.ts';
import type { TextView } from '#operations/operation.ts';
import { style } from '#operations/style-text.ts';
import { getDeclaration } from './check-input.ts';

export type HelpView = Pick<TextView, 'color' | 'columns'>;

const FLAGS = 'Flags:';
const GLOBAL_FLAGS = 'Global flags:';

/** The command with the flags that every command takes. It only sorts words and shows help; nothing runs in it. */
export function createCommand(name: string): Command {
  const command = new Command(name).helpCommand(false).helpOption(false);
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
  const command = createCommand(name).usage(usage.slice(name.length + 1));
  const alias = entry.alias === undefined ? [] : [`Short: ${['forge', ...entry.alias].join(' ')}`];
  command.description([declaration.summary, ...(declaration.about === undefined ? [] : [declaration.about]), ...alias].join('\n\n'));
  for (const { field, description, required } of args) {
    const argument = field.replaceAll('_', '-');
    command.addArgument(new Argument(required ? `<${argument}>` : `[${argument}]`, description));
  }
  for (const { term, description } of flags) command.addOption(new Option(term, description).helpGroup(FLAGS));
  return command;
}

/** Help of one operation, with its examples. */
export function operationHelp(entry: OperationEntry, view: HelpView): string {
  const examples = getDeclaration(entry.name).cli.examples.map((example) => `  ${example}`);
  return `${toHelpText(createOperationCommand(entry), view)}\n${style(view, 'bold', 'Examples:')}\n${examples.join('\n')}\n`;
}

/** Help of `forge task`: what can follow. */
export function groupHelp(path: readonly string[], table: FlagTable, view: HelpView): string {
  const name = ['forge', ...path].join(' ');
  const command = createCommand(name).usage('<command> [flags]');
  const members = table.operations.filter((entry) => path.every((word, at) => entry.path[at] === word));
  for (const entry of members) command.addCommand(createListed(entry, entry.path.slice(path.length), 'Commands:'));
  return `${toHelpText(command, view)}\n${name} <command> --help shows the flags and examples of a command.\n`;
}

/** Help of `forge` itself: every command under one of four headings. */
export function topHelp(table: FlagTable, view: HelpView): string {
  const command = createCommand('forge').usage('<command> [flags]');
  command.description('Forge: a task graph in your git repository, for people and coding agents');
  for (const heading of HEADINGS) {
    for (const entry of table.operations) {
      if (headingOf(entry) === heading) command.addCommand(createListed(entry, entry.alias ?? entry.path, heading));
    }
  }
  command.addOption(new Option('--version', 'Show the version').helpGroup(GLOBAL_FLAGS));
  return `${toHelpText(command, view)}\nforge help <command> shows the flags and examples of a command.\n`;
}

const HEADINGS = ['Start here:', 'Work:', 'Graph:', 'Project:'] as const;
const START = ['project.init', 'project.demo', 'task.create', 'task.ready', 'task.claim', 'task.close'];
const GRAPH = ['project.graph', 'task.blocked'];

function headingOf({ name }: OperationEntry): (typeof HEADINGS)[number] {
  if (START.includes(name)) return 'Start here:';
  if (GRAPH.includes(name) || name.startsWith('dep.')) return 'Graph:';
  return name.startsWith('task.') ? 'Work:' : 'Project:';
}

/** As a line of a list: `task create <title>   Create a task`. */
function createListed(entry: OperationEntry, path: readonly string[], heading: string): Command {
  const declaration = getDeclaration(entry.name);
  const command = new Command(path.join(' ')).helpGroup(heading).description(declaration.summary).helpOption(false);
  for (const { field, required } of describeCommand(declaration, entry).args) {
    const argument = field.replaceAll('_', '-');
    command.addArgument(new Argument(required ? `<${argument}>` : `[${argument}]`));
  }
  return command;
}

const USUAL_WIDTH = 80;
const WIDEST = 100;

function toHelpText(command: Command, view: HelpView): string {
  const width = Number.isFinite(view.columns) ? Math.min(view.columns, WIDEST) : USUAL_WIDTH;
  return command
    .addHelpOption(new Option('-h, --help', 'Show help').helpGroup(GLOBAL_FLAGS))
    .configureOutput({ getOutHelpWidth: () => width, getOutHasColors: () => view.color })
    .configureHelp({ styleTitle: (title) => style(view, 'bold', title) })
    .helpInformation();
}

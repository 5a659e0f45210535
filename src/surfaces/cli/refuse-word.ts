import type { Command } from 'commander';
import { ForgeError } from '#kernel/errors.ts';
import { type FlagTable, listOperationEntries, type OperationEntry } from '#operations/flag-table.ts';
import { findClosestWord } from '#kernel/closest-word.ts';

/** What other programs call it. */
const ELSEWHERE_CALLED: ReadonlyMap<string, readonly string[]> = new Map([
  ['ls', ['task', 'list']],
  ['new', ['task', 'create']],
  ['edit', ['task', 'update']],
  ['done', ['task', 'close']],
  ['finish', ['task', 'close']],
  ['rm', ['task', 'delete']],
  ['undo', ['task', 'restore']],
  ['undelete', ['task', 'restore']],
  ['log', ['task', 'history']],
  ['config', ['settings', 'list']],
]);

/** The error for a word that is no command, with the command that was probably meant. */
export function refuseWord(path: readonly string[], table: FlagTable): ForgeError {
  const word = path.at(-1) ?? '';
  const group = path.slice(0, -1);
  const paths = listOperationEntries(table).flatMap((entry) =>
    entry.alias === undefined ? [entry.path] : [entry.alias, entry.path],
  );
  // The right word in the wrong place first: `forge create`, `forge task ready`.
  const elsewhere = paths.find((whole) => whole.at(-1) === word);
  const beside = paths
    .filter((whole) => group.every((one, at) => whole[at] === one))
    .map((whole) => whole[group.length] ?? '');
  const closest = findClosestWord(word, new Set(beside));
  const usual = group.length === 0 || group[0] === 'task' ? ELSEWHERE_CALLED.get(word) : undefined;
  const meant = elsewhere ?? usual ?? (closest === undefined ? undefined : [...group, closest]);
  const suggestion = meant === undefined ? '' : `; did you mean forge ${meant.join(' ')}?`;
  return new ForgeError('usage', `Unknown command: forge ${path.join(' ')}${suggestion}`, {
    hint: ['forge', ...group, '--help'].join(' '),
    details: { word, ...(meant !== undefined && { suggestion: meant.join(' ') }) },
  });
}

/** The error for a flag that the command does not have. `entry` is missing when the command is not known yet. */
export function refuseFlag(word: string, command: Command, entry?: OperationEntry): ForgeError {
  const flag = word.startsWith('--') ? (word.split('=', 1)[0] ?? word) : word;
  const hint = `${command.name()} --help`;
  if (command.options.some(({ long }) => long === flag))
    return new ForgeError('usage', `${flag} takes no value`, { hint });
  const argument = entry?.args.find((field) => `--${field.replaceAll('_', '-')}` === flag);
  if (argument !== undefined) {
    return new ForgeError('usage', `${flag} is no flag: the value stands alone`, {
      hint: `${command.name()} ${command.usage()}`,
    });
  }
  const closest = findClosestWord(
    flag.replace(/^--?/, ''),
    command.options.map(({ long }) => long?.slice(2) ?? ''),
  );
  const suggestion = closest === undefined ? '' : `; did you mean --${closest}?`;
  const place = entry === undefined ? ' before the command (its own flags stand behind it)' : '';
  return new ForgeError('usage', `Unknown flag ${flag}${place}${suggestion}`, {
    hint,
    details: { flag, ...(closest !== undefined && { suggestion: `--${closest}` }) },
  });
}

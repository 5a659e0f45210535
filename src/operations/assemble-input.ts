import { ForgeError } from '#kernel/errors.ts';
import { readFieldValue } from './field-value.ts';
import {
  type Accepted,
  type FileValue,
  type GlobalFlags,
  type OperationEntry,
  spellField,
} from './flag-table.ts';
import { readAssignments } from './read-assignments.ts';

/** The words of a command line, sorted but not yet understood. */
export interface GivenWords {
  /** Flag name without dashes → its values in order; an empty text for a flag that takes none. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** What stands without a flag, behind the command's own words. */
  readonly args: readonly string[];
}

/**
 * Words to input. Both parsers end here, so that they cannot read a word differently; what they do on their
 * own is to sort the words before and to check the values afterwards. Throws usage for what contradicts itself.
 */
export function assembleInput(entry: OperationEntry, given: GivenWords): Accepted {
  const input: Record<string, unknown> = {};
  const files: FileValue[] = [];
  readArguments(entry, given.args, { input, files });
  for (const field of Object.keys(entry.fields)) readField(entry, field, given, { input, files });
  if (files.filter(({ path }) => path === '-').length > 1) {
    throw new ForgeError('usage', 'Standard input can be read only once: only one "-" or "@-" is possible');
  }
  return { operation: entry, input, globals: readGlobals(entry, given), files };
}

/** Fields that are not in the input yet but will be: from a file, or asked for. */
export function listPendingFields({ operation, input, files }: Accepted): readonly string[] {
  const pending = files.filter(({ key }) => key === undefined).map(({ field }) => field);
  const asked = operation.prompt?.field;
  if (asked !== undefined && !Object.hasOwn(input, asked) && !pending.includes(asked)) pending.push(asked);
  return pending;
}

function readArguments(
  entry: OperationEntry,
  args: readonly string[],
  { input, files }: { input: Record<string, unknown>; files: FileValue[] },
): void {
  args.forEach((text, index) => {
    const last = entry.args.at(-1);
    const field = entry.args[index] ?? (entry.fields[last ?? '']?.kind === 'strings' ? last : undefined);
    const rule = field === undefined ? undefined : entry.fields[field];
    if (field === undefined || rule === undefined) {
      throw new ForgeError('usage', `Too many arguments: ${JSON.stringify(text)} has no place`, {
        hint: `${['forge', ...entry.path, '--help'].join(' ')} (text with spaces needs quotes)`,
      });
    }
    if (rule.file_argument === true) {
      if (text === '') throw new ForgeError('usage', `${spellField(entry, field)} names no file`);
      files.push({ field, path: text });
    } else if (rule.kind === 'strings')
      input[field] = [...((input[field] as string[] | undefined) ?? []), text];
    else input[field] = readFieldValue(rule, text);
  });
}

function readField(
  entry: OperationEntry,
  field: string,
  given: GivenWords,
  into: { input: Record<string, unknown>; files: FileValue[] },
): void {
  const rule = entry.fields[field];
  if (rule === undefined) return;
  const texts = rule.flag === undefined ? undefined : given.flags.get(rule.flag);
  const [text] = texts ?? [];
  if (texts !== undefined && text !== undefined) {
    const spelling = spellField(entry, field);
    if (rule.kind === 'boolean') into.input[field] = true;
    else if (rule.kind === 'strings')
      into.input[field] = rule.nullable === true && texts.length === 1 && text === 'none' ? null : texts;
    else if (rule.kind === 'assignments') {
      const { values, files } = readAssignments(texts, spelling);
      into.input[field] = values;
      into.files.push(...files.map((file) => ({ field, ...file })));
    } else into.input[field] = readFieldValue(rule, onlyOne(texts, spelling));
  }
  const paths = rule.file_flag === undefined ? undefined : given.flags.get(rule.file_flag);
  if (paths === undefined) return;
  const spelling = `--${rule.file_flag}`;
  const path = onlyOne(paths, spelling);
  if (path === '') throw new ForgeError('usage', `${spelling} names no file`);
  if (Object.hasOwn(into.input, field)) {
    throw new ForgeError('usage', `${spellField(entry, field)} and ${spelling} exclude each other`);
  }
  into.files.push({ field, path });
}

function readGlobals(entry: OperationEntry, { flags }: GivenWords): GlobalFlags {
  const value = (name: string): string | undefined => {
    const texts = flags.get(name);
    return texts === undefined ? undefined : onlyOne(texts, `--${name}`);
  };
  const json = flags.has('json');
  const fields = value('fields');
  const actor = value('actor');
  const directory = value('directory');
  const server = value('server');
  if (server === '')
    throw new ForgeError('usage', '--server names no server', { hint: '--server http://127.0.0.1:8080' });
  if (directory === '') throw new ForgeError('usage', '--directory names no folder');
  if (fields !== undefined && !json) {
    throw new ForgeError('usage', '--fields chooses fields of the JSON answer: it needs --json', {
      hint: 'Add --json',
    });
  }
  return {
    json,
    color: !flags.has('no-color'),
    quiet: flags.has('quiet'),
    ...(fields !== undefined && { fields: readFieldNames(entry, fields) }),
    ...(actor !== undefined && { actor }),
    ...(directory !== undefined && { directory }),
    ...(server !== undefined && { server }),
  };
}

function readFieldNames(entry: OperationEntry, text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  const known = `the answer has ${entry.output.join(', ')}`;
  if (names.includes('')) {
    throw new ForgeError('usage', `--fields wants names separated by commas; ${known}`, {
      details: { known: entry.output },
    });
  }
  // Refused before anything runs: a write that succeeds must not end as an error.
  const unknown = names.filter((name) => !entry.output.includes(name));
  if (unknown.length > 0) {
    throw new ForgeError('usage', `--fields: no field ${unknown.join(', ')}; ${known}`, {
      details: { unknown, known: entry.output },
    });
  }
  return names;
}

function onlyOne(texts: readonly string[], spelling: string): string {
  const [text, second] = texts;
  if (text !== undefined && second === undefined) return text;
  throw new ForgeError(
    'usage',
    `${spelling} is given twice: ${texts.map((one) => JSON.stringify(one)).join(' and ')}`,
  );
}

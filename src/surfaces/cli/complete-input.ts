import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { ForgeError } from '#kernel/errors.ts';
import { holdsRule } from '#operations/field-value.ts';
import { type Accepted, type FileValue, spellField } from '#operations/flag-table.ts';
import type { CliIo } from './cli-io.ts';
import { readAll } from './read-all.ts';

/**
 * Brings what the command line only pointed to: texts of files and of standard input, and the answer to the
 * prompt. The values that came in so keep the same rules as those that were typed. Throws invalid_input or usage.
 */
export async function completeInput(accepted: Accepted, io: CliIo): Promise<Accepted> {
  const { operation, files } = accepted;
  const input = { ...accepted.input };
  const completed = { ...accepted, input, files: [] };
  for (const file of files) {
    const text = await readText(file, accepted, io);
    if (file.key === undefined) input[file.field] = text;
    else (input[file.field] as Record<string, unknown>)[file.key] = text; // assembleInput made the record
  }
  const asked = operation.prompt?.field;
  if (asked !== undefined && !Object.hasOwn(input, asked)) input[asked] = await askFor(accepted, io);
  const fields = [
    ...files.flatMap(({ field, key }) => (key === undefined ? [field] : [])),
    ...(asked === undefined ? [] : [asked]),
  ];
  if (fields.some((field) => breaksRule(completed, field))) {
    const { checkInput } = await import('./check-input.ts');
    checkInput(completed);
  }
  return completed;
}

function breaksRule({ operation, input }: Accepted, field: string): boolean {
  const rule = operation.fields[field];
  return rule === undefined || !holdsRule(rule, input[field]);
}

async function readText(file: FileValue, accepted: Accepted, io: CliIo): Promise<string> {
  const fromStdin = file.path === '-';
  const what = fromStdin ? 'Standard input' : file.path;
  const folder = resolve(io.cwd, accepted.globals.directory ?? '.');
  const bytes = fromStdin
    ? await io.stdin()
    : await readFile(resolve(folder, file.path), `${spellFile(file, accepted)}: ${what}`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ForgeError('invalid_input', `${spellFile(file, accepted)}: ${what} is not valid UTF-8`, {
      cause: error,
    });
  }
}

function spellFile({ field, key }: FileValue, { operation }: Accepted): string {
  if (operation.fields[field]?.file_argument === true) return spellField(operation, field);
  return key === undefined
    ? `--${operation.fields[field]?.file_flag ?? field}`
    : `${spellField(operation, field)} ${key}`;
}

const READ_FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read',
};

async function readFile(path: string, what: string): Promise<Uint8Array> {
  try {
    return await readAll(createReadStream(path), what);
  } catch (error) {
    if (error instanceof ForgeError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new ForgeError('invalid_input', `${what} ${READ_FAILURES[code] ?? `cannot be read (${code})`}`, {
      details: { path },
      cause: error,
    });
  }
}

/** Under --json a program asks, and a program in a terminal would wait for ever. */
async function askFor({ operation, globals }: Accepted, io: CliIo): Promise<string> {
  const { prompt } = operation;
  const answer =
    prompt !== undefined && !globals.json && io.isTerminal.stdin && io.isTerminal.stderr
      ? await io.ask(prompt.question)
      : undefined;
  const text = answer?.trim() ?? '';
  if (text !== '') return text;
  const { refuseMissing } = await import('./check-input.ts');
  throw refuseMissing(operation, prompt === undefined ? [] : [prompt.field]);
}

import type * as z from 'zod';
import type { Declaration } from '#contract/declare.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';

type Input = Readonly<Record<string, unknown>>;

/** What earlier systems of this kind call a status; a word that is one of ours stays as it is. */
const STATUS_WORDS: ReadonlyMap<unknown, string> = new Map([
  ['todo', 'open'],
  ['in-progress', 'in_progress'],
  ['complete', 'closed'],
]);

/** Said of a field that the declaration does not know. */
export const NO_SUCH_FIELD = 'there is no such field';

/** Names that mean something to JavaScript itself; no declaration has one. */
const RESERVED = ['__proto__', 'constructor', 'prototype'];

/**
 * The input as the declaration has it. Throws invalid_input with everything that is wrong at once; a field that the
 * declaration does not know is refused by its name, because leaving it out would do something else than was asked.
 */
export function checkCallInput(declaration: Declaration, input: unknown): Input {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new ForgeError('invalid_input', `The input of ${declaration.name} must be an object`, {
      details: { issues: [{ field: '', message: 'must be an object' }] },
    });
  }
  const known = Object.keys(declaration.input.shape);
  const names = new Set(known.filter((name) => !RESERVED.includes(name)));
  const unknown = Object.keys(input).filter((name) => !names.has(name));
  const result = declaration.input.safeParse(pick(input as Input, known));
  const wrong = result.error?.issues ?? [];
  if (result.success && unknown.length === 0) return result.data;
  const issues = [
    ...unknown
      .slice(0, LIMITS.error_names)
      .map((field) => ({ field: field.slice(0, 100), message: NO_SUCH_FIELD })),
    ...wrong.slice(0, LIMITS.error_names).map(toIssue),
  ];
  const more = unknown.length + wrong.length - issues.length;

  const messages = new Set(issues.map(({ field, message }) => `${field}: ${message}`));
  const rest = more > 0 ? [`… and ${more} more`] : [];
  throw new ForgeError('invalid_input', [...messages, ...rest].join('; '), {
    ...(unknown.length > 0 && { hint: `${declaration.name} knows ${known.join(', ')}` }),
    details: { issues },
  });
}

function pick(input: Input, names: readonly string[]): Input {
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(input, name)).map((name) => [name, toValue(name, input[name])]),
  );
}

function toValue(name: string, value: unknown): unknown {
  return name === 'status' ? (STATUS_WORDS.get(value) ?? value) : value;
}

function toIssue(issue: z.core.$ZodIssue): { field: string; message: string } {
  return { field: issue.path.map(String).join('.'), message: issue.message };
}

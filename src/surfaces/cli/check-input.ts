import type * as z from 'zod';
import type { Declaration } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { Identity } from '#contract/task.ts';
import { assert } from '#kernel/assert.ts';
import { ForgeError } from '#kernel/errors.ts';
import { listPendingFields } from '#operations/assemble-input.ts';
import { describeCommand, describeRange } from '#operations/describe-command.ts';
import {
  type Accepted,
  type FieldRule,
  nestParts,
  type OperationEntry,
  spellField,
} from '#operations/flag-table.ts';

/** Every rule of the declaration, by its schema. Throws usage for what is missing, invalid_input for what is wrong. */
export function checkInput(accepted: Accepted): void {
  const declaration = getDeclaration(accepted.operation.name);
  const pending = listPendingFields(accepted);
  const missing = accepted.operation.required.filter(
    (field) => !Object.hasOwn(accepted.input, field) && !pending.includes(field),
  );
  if (missing.length > 0) throw refuseMissing(accepted.operation, missing);
  const issues = [...listIssues(accepted, declaration), ...listActorIssues(accepted)];
  if (issues.length === 0) return;
  // Two checks of one field may say the same.
  const messages = new Set(issues.map(({ spelling, message }) => `${spelling}: ${message}`));
  throw new ForgeError('invalid_input', [...messages].join('; '), {
    hint: `forge ${accepted.operation.path.join(' ')} --help`,
    details: { issues: issues.map(({ field, message }) => ({ field, message })) },
  });
}

export function getDeclaration(name: string): Declaration {
  const declaration = OPERATIONS.find((one) => one.name === name);
  assert(
    declaration !== undefined,
    `the flag table and the declarations name the same operations, ${name} too`,
  );
  return declaration;
}

/** The error for fields that were not given. */
export function refuseMissing(operation: OperationEntry, missing: readonly string[]): ForgeError {
  const spellings = missing.map((field) => spellField(operation, field)).join(' and ');
  return new ForgeError('usage', `${spellings} ${missing.length === 1 ? 'is' : 'are'} missing`, {
    hint: describeCommand(getDeclaration(operation.name), operation).usage,
    details: { missing },
  });
}

interface Issue {
  readonly field: string;
  readonly spelling: string;
  readonly message: string;
}

function listIssues(accepted: Accepted, declaration: Declaration): readonly Issue[] {
  const { operation, input, files } = accepted;
  const pending = listPendingFields(accepted);
  const whole: Record<string, unknown> = { ...input };
  for (const { field, key } of files) {
    // Not read yet, but its key can be checked.
    if (key !== undefined) whole[field] = { ...(whole[field] as object), [key]: '' };
  }
  const nested = nestParts(operation, whole);
  const result = declaration.input.safeParse(nested, { error: (issue) => explain(issue, operation) });
  const issues = (result.error?.issues ?? []).map(({ path, message }) => {
    const [field, part] = toFlatPath(operation, path);
    return { field: field ?? '', spelling: spellIssue(accepted, field ?? '', part), message };
  });
  return issues.filter(({ field }) => !pending.includes(field));
}

/** A part of an object is a field of the command line. */
function toFlatPath({ fields }: OperationEntry, path: readonly PropertyKey[]): readonly string[] {
  const [first, second, ...rest] = path.map(String);
  const isPart = second !== undefined && fields[second]?.part_of === first;
  return isPart ? [second, ...rest] : path.map(String);
}

/** `--label " x"` says which of several it was. */
function spellIssue({ operation, input }: Accepted, field: string, part: string | undefined): string {
  const spelling = spellField(operation, field);
  const value = input[field];
  if (part === undefined) return spelling;
  return `${spelling} ${quote(Array.isArray(value) ? (value[Number(part)] as unknown) : part)}`;
}

function listActorIssues({ globals }: Accepted): readonly Issue[] {
  if (globals.actor === undefined) return [];
  const result = Identity.safeParse(globals.actor, { error: () => 'an identity is too long' });
  return (result.error?.issues ?? []).map(({ message }) => ({
    field: 'actor',
    spelling: '--actor',
    message,
  }));
}

/** The words for an issue whose schema brings none of its own. */
function explain(issue: z.core.$ZodRawIssue, operation: OperationEntry): string | undefined {
  const rule = operation.fields[toFlatPath(operation, issue.path ?? [])[0] ?? ''];
  if (rule === undefined) return undefined;
  const none = rule.nullable === true ? ' or "none"' : '';
  if (rule.kind === 'integer') return explainInteger(rule, issue.input) + none;
  if (rule.values !== undefined && typeof issue.input === 'string')
    return `must be one of ${rule.values.join(', ')}${none}, not ${quote(issue.input)}`;
  if (issue.code === 'too_big') {
    return issue.origin === 'array'
      ? `at most ${String(issue.maximum)} times`
      : `must have at most ${String(issue.maximum)} characters`;
  }
  if (issue.code === 'too_small') {
    return issue.minimum === 1
      ? 'must not be empty'
      : `must have at least ${String(issue.minimum)} characters`;
  }
  return undefined;
}

function explainInteger(rule: FieldRule, value: unknown): string {
  const range = describeRange(rule);
  if (typeof value !== 'number')
    return `must be ${range === 'a whole number' ? range : `a whole number, ${range}`}, not ${quote(value)}`;
  if (value > Number.MAX_SAFE_INTEGER) return `must be at most ${rule.maximum ?? Number.MAX_SAFE_INTEGER}`;
  return `must be ${range.includes(' to ') ? `between ${range.replace(' to ', ' and ')}` : range}`;
}

const LONGEST_QUOTE = 60;

function quote(value: unknown): string {
  const text = String(value);
  return JSON.stringify(text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text);
}

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type CliHints, type Declaration, declare } from '#contract/declare.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { Label, TaskRef } from '#contract/task.ts';
import { ERROR_CODES } from '#kernel/errors.ts';
import { FLAG_TABLE } from '#operations/flag-table.generated.ts';
import { listOperationEntries } from '#operations/flag-table.ts';
import { deriveFlagTable } from '../scripts/derive-flag-table.ts';
import { generateFiles } from '../scripts/generate.ts';

function declaration(
  input: z.ZodObject,
  cli: Partial<CliHints> = {},
  output: z.ZodType = z.object({ id: z.string() }),
): Declaration {
  return declare({
    name: 'area.verb',
    summary: 'Do <it>',
    input,
    output,
    errors: ['not_found'],
    access: 'read',
    needs: 'nothing',
    cli: { path: ['verb'], examples: ['forge verb'], ...cli },
  });
}
const ruleOf = (schema: z.ZodType) =>
  listOperationEntries(deriveFlagTable([declaration(z.object({ field: schema }))]))[0]?.fields['field'];

describe('the flag table', () => {
  it('is derived from the declarations as they are now', () => {
    const derived = deriveFlagTable(OPERATIONS);
    expect(listOperationEntries(FLAG_TABLE)).toEqual(listOperationEntries(derived));
    expect(Object.keys(FLAG_TABLE.entries)).toEqual(Object.keys(derived.entries));
    expect({ ...FLAG_TABLE, entries: {} }).toEqual({ ...derived, entries: {} });
  });
  const rules: readonly [string, z.ZodType, object][] = [
    ['a switch', z.boolean().optional(), { kind: 'boolean' }],
    ['a number', z.int().min(0).max(4).optional(), { kind: 'integer', minimum: 0, maximum: 4 }],
    [
      'a number or null',
      z.int().min(1).nullable().optional(),
      { kind: 'integer', nullable: true, minimum: 1 },
    ],
    ['a text', z.string().min(1).max(9), { kind: 'string', minLength: 1, maxLength: 9 }],
    ['a pattern with its flags', z.string().regex(/^a/iu), { kind: 'string', pattern: ['^a', 'iu'] }],
    ['a list of words', z.enum(['a', 'b']).nullable(), { kind: 'enum', nullable: true, values: ['a', 'b'] }],
    [
      'a flag that repeats',
      z.array(Label).max(3).optional(),
      { kind: 'strings', maxItems: 3, maxLength: 100 },
    ],
    ['a repeated list of words', z.array(z.enum(['a', 'b'])), { kind: 'strings', values: ['a', 'b'] }],
    ['assignments', z.record(z.string().max(5), z.unknown()), { kind: 'assignments', maxLength: 5 }],
    [
      'text that a request may hold as JSON',
      z.union([z.string().max(9), z.record(z.string(), z.unknown())]).optional(),
      { kind: 'string', maxLength: 9 },
    ],
    ['a list that may be null', z.array(z.string()).nullable(), { kind: 'strings', nullable: true }],
    ['a task', TaskRef.nullable().optional().describe('x'), { kind: 'string', task: true, nullable: true }],
  ];
  it.each(rules)('knows %s', (_name, schema, rule) => {
    expect(ruleOf(schema)).toMatchObject({ ...rule, flag: 'field' });
  });

  it('names the task that says which project is meant: the first single one, of operations in a project', () => {
    const route = (input: z.ZodObject, needs: Declaration['needs'] = 'project') =>
      listOperationEntries(deriveFlagTable([{ ...declaration(input), needs }]))[0]?.route;
    const from = TaskRef.describe('x');
    expect(route(z.object({ a: z.string(), from, to: TaskRef }))).toBe('from');
    expect(route(z.object({ ids: z.array(TaskRef), parent: TaskRef.nullable().optional() }))).toBe('parent');
    expect(route(z.object({ ids: z.array(TaskRef) }))).toBeUndefined();
    expect(route(z.object({ from }), 'nothing')).toBeUndefined();
  });

  const refused: readonly [string, z.ZodType, RegExp][] = [
    ['a refinement', z.string().refine((text) => text !== 'x'), /cannot check "custom"/],
    ['a transformation', z.string().trim(), /cannot check "overwrite"/],
    ['a default', z.string().default('x'), /no place for "default"/],
    ['a format', z.email(), /no place for "format"|no place for "pattern"|cannot check/],
    ['two patterns', z.string().regex(/a/).regex(/b/), /no place for "allOf"|one pattern/],
    ['a fraction', z.number(), /no flag can say/],
    ['a union', z.union([z.string(), z.int()]), /no flag can say/],
    ['an object', z.object({ a: z.string() }), /no flag can say/],
    ['a list of numbers', z.array(z.int()), /a list of integer has no flag/],
    ['a least length of a list', z.array(z.string()).min(1), /no place for "minItems"/],
    ['a record of numbers', z.record(z.string(), z.int()), /values of a record/],
    ['a switch that may be null', z.boolean().nullable(), /cannot be null/],
    ['a refined element', z.array(z.string().refine(() => true)), /field, each: .*custom/],
  ];
  it.each(refused)('refuses %s, because it could not check it', (_name, schema, message) => {
    expect(() => ruleOf(schema)).toThrow(message);
    expect(() => ruleOf(schema)).toThrow(/^area\.verb: field/);
  });

  const text = z.object({ a: z.string(), b: z.string().optional() });
  const mistakes: readonly [string, () => Declaration[], RegExp][] = [
    ['a check of the whole input', () => [declaration(text.refine(() => true))], /check of the whole input/],
    ['an argument that is no field', () => [declaration(text, { args: ['c'] })], /name c/],
    ['a hint for no field', () => [declaration(text, { flags: { c: {} } })], /name c/],
    [
      'several words for one',
      () => [declaration(text, { flags: { b: { words: true } } })],
      /only the flag of a list/,
    ],
    [
      'parts of a text',
      () => [declaration(text, { flags: { b: { parts: {} } } })],
      /only an object has parts/,
    ],
    [
      'a part without a flag',
      () => [
        declaration(z.object({ a: z.object({ c: z.string().optional() }) }), { flags: { a: { parts: {} } } }),
      ],
      /c has no flag/,
    ],
    [
      'a part that must be given',
      () => [
        declaration(z.object({ a: z.object({ c: z.string() }) }), { flags: { a: { parts: { c: {} } } } }),
      ],
      /must be one that can be left out/,
    ],
    [
      'a part with the name of a field',
      () => [
        declaration(text.extend({ d: z.object({ a: z.string().optional() }) }), {
          flags: { d: { parts: { a: {} } } },
        }),
      ],
      /a is a field and a part of d/,
    ],
    [
      'an optional argument before a required one',
      () => [declaration(text, { args: ['b', 'a'] })],
      /may be missing/,
    ],
    [
      'a prompt for an optional field',
      () => [declaration(text, { prompt: { field: 'b', question: '?' } })],
      /required field/,
    ],
    [
      'a flag that is global',
      () => [declaration(z.object({ json: z.string() }))],
      /two flags are called --json/,
    ],
    [
      'a file argument that has a flag',
      () => [declaration(text, { flags: { a: { file_argument: true } } })],
      /a is a file argument/,
    ],
    [
      'two flags of one name',
      () => [declaration(text, { flags: { a: { flag: 'b' } } })],
      /two flags are called --b/,
    ],
    [
      'an argument that repeats before another',
      () => [declaration(z.object({ a: z.array(z.string()), b: z.string() }), { args: ['a', 'b'] })],
      /stands last/,
    ],
    [
      'an argument that is a switch',
      () => [declaration(z.object({ a: z.boolean() }), { args: ['a'] })],
      /one word/,
    ],
    [
      'a command within a command',
      () => [declaration(text), declaration(text, { path: ['verb', 'more'] })],
      /hides/,
    ],
    ['two commands of one name', () => [declaration(text), declaration(text)], /hides/],
    [
      'two commands of one name without fields',
      () => [declaration(z.object({})), declaration(z.object({}))],
      /hides/,
    ],
    ['a command called help', () => [declaration(text, { path: ['help'] })], /help is a command/],
    ['an answer without fields', () => [declaration(text, {}, z.string())], /no fields/],
  ];
  it.each(mistakes)('refuses %s', (_name, declarations, message) => {
    expect(() => deriveFlagTable(declarations())).toThrow(message);
  });
  it('finds the fields of rows, of unions and of what refers to itself', () => {
    const row = z.object({ id: z.string() });
    const tree: z.ZodType = z.object({ id: z.string(), children: z.array(z.lazy(() => tree)) });
    const outputOf = (output: z.ZodType) =>
      listOperationEntries(deriveFlagTable([declaration(text, {}, output)]))[0]?.output;
    expect(outputOf(z.array(row.extend({ n: z.int().optional() })))).toEqual(['id', 'n']);
    expect(outputOf(z.array(z.union([row, z.object({ b: z.string() })])))).toEqual(['id', 'b']);
    expect(outputOf(tree)).toEqual(['id', 'children']);
    expect(outputOf(z.array(tree))).toEqual(['id', 'children']);
  });
});

describe('generated files', () => {
  const files = generateFiles(OPERATIONS);
  it('are the same every time', () => {
    expect(generateFiles(OPERATIONS)).toEqual(files);
  });
  it('import operations lazily, by a name that follows from theirs', () => {
    const manifest = files.get('src/operations/manifest.generated.ts') ?? '';
    expect(manifest).toContain(
      "'task.create': () => import('./task-create.ts').then((module) => module.taskCreate),",
    );
    expect(manifest.match(/^import (?!type)/gm)).toBeNull();
    for (const { name } of OPERATIONS) expect(manifest).toContain(`'${name}':`);
  });
  it('are up to date in the repository', () => {
    const { stderr, status } = spawnSync(
      process.execPath,
      [join(import.meta.dirname, '../scripts/generate.ts'), '--check'],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});

describe('the CLI reference', () => {
  const reference = generateFiles(OPERATIONS).get('docs/cli.md') ?? '';
  it('has a section for every command, with its flags and examples', () => {
    for (const { path, fields } of listOperationEntries(FLAG_TABLE)) {
      const [, section = ''] = reference.split(`\n### forge ${path.join(' ')}\n`);
      const text = section.split('\n### ')[0] ?? '';
      expect(text).toContain('```sh\nforge ');
      const flags = Object.values(fields).flatMap(({ flag }) => (flag === undefined ? [] : [flag]));
      for (const flag of flags) expect(text).toContain(`\`--${flag}`);
    }
  });
  it('links to every section', () => {
    const headings = [...reference.matchAll(/^### (.+)$/gm)].map(([, text]) => text?.replaceAll(' ', '-'));
    for (const [, anchor] of reference.matchAll(/\]\(#([^)]+)\)/g)) expect(headings).toContain(anchor);
  });
  it('names every error code with its exit code', () => {
    for (const [code, { exit }] of Object.entries(ERROR_CODES))
      expect(reference).toMatch(new RegExp(`^\\| ${exit} \\|.*\`${code}\``, 'm'));
  });
  it('keeps angle brackets out of HTML', () => {
    const text = generateFiles([declaration(z.object({}))]).get('docs/cli.md');
    expect(text).toContain('Do &lt;it>.');
  });
  it('has no table row with a bar too many', () => {
    for (const table of reference.split('\n\n').filter((block) => block.startsWith('| '))) {
      const widths = new Set(table.split('\n').map((line) => line.replaceAll('\\|', '').split('|').length));
      expect({ table, widths: widths.size }).toEqual({ table, widths: 1 });
    }
  });
});

// Declarations to the flag table. What the table cannot express is an error here, because the quick parser would
// otherwise accept what the schema refuses.
import * as z from 'zod';
import type { Declaration, FlagHint } from '#contract/declare.ts';
import { Identity, Priority, TaskRef } from '#contract/task.ts';
import {
  type FieldRule,
  type FlagTable,
  GLOBAL_SWITCHES,
  GLOBAL_VALUES,
  type OperationEntry,
} from '#operations/flag-table.ts';

/** Throws on a declaration that the table cannot hold, naming the operation and the field. */
export function deriveFlagTable(declarations: readonly Declaration[]): FlagTable {
  const operations = declarations.map(deriveEntry);
  checkPaths(operations);
  return toFlagTable(operations, deriveRule(Identity, '--actor'));
}

function toFlagTable(operations: readonly OperationEntry[], actor: FieldRule): FlagTable {
  const spellings = operations.flatMap(({ name, path, alias }) =>
    [path, ...(alias === undefined ? [] : [alias])].map((words) => [words.join(' '), name] as const),
  );
  return {
    actor,
    commands: Object.fromEntries(spellings),
    entries: Object.fromEntries(operations.map((entry) => [entry.name, () => entry])),
  };
}

function deriveEntry(declaration: Declaration): OperationEntry {
  const { name, input, cli, needs, local, access } = declaration;
  checkObject(input, name);
  const args = cli.args ?? [];
  const fields: Record<string, FieldRule> = {};
  for (const [field, schema] of Object.entries(input.shape)) {
    const hint = cli.flags?.[field];
    if (hint?.parts === undefined)
      fields[field] = deriveField(schema, {
        what: `${name}: ${field}`,
        field,
        hint,
        bare: args.includes(field),
      });
    else
      for (const [part, rule] of deriveParts(schema, {
        what: `${name}: ${field}`,
        field,
        parts: hint.parts,
      })) {
        if (input.shape[part] !== undefined)
          throw new Error(`${name}: ${part} is a field and a part of ${field}`);
        fields[part] = rule;
      }
  }
  const entry: OperationEntry = {
    name,
    path: cli.path,
    ...(cli.alias !== undefined && { alias: cli.alias }),
    args,
    needs,
    ...(local === true && { local }),
    ...(access === 'read' && { reads: true }),
    fields,
    required: Object.keys(input.shape).filter((field) => !accepts(input.shape[field], undefined)),
    ...(cli.prompt !== undefined && { prompt: cli.prompt }),
    ...deriveRoute(fields, needs),
    output: listOutputFields(declaration),
  };
  checkEntry(entry, declaration);
  return entry;
}

interface FieldPlace {
  readonly what: string;
  readonly field: string;
  readonly hint: FlagHint | undefined;
  /** It stands without a flag. */
  readonly bare?: boolean;
}

function deriveField(schema: z.core.$ZodType, { what, field, hint, bare }: FieldPlace): FieldRule {
  const rule = deriveRule(schema, what);
  if (hint?.words === true && (rule.kind !== 'strings' || bare === true))
    throw new Error(`${what}: only the flag of a list can take several words`);
  return {
    ...rule,
    ...(bare !== true && { flag: hint?.flag ?? field.replaceAll('_', '-') }),
    ...(hint?.file_flag !== undefined && { file_flag: hint.file_flag }),
    ...(hint?.file_argument !== undefined && { file_argument: hint.file_argument }),
    ...(hint?.words === true && { words: hint.words }),
  };
}

function deriveParts(
  schema: z.core.$ZodType,
  { what, field, parts }: { what: string; field: string; parts: Readonly<Record<string, FlagHint>> },
): [string, FieldRule][] {
  const { inner } = unwrap(schema);
  if (!(inner instanceof z.ZodObject)) throw new Error(`${what}: only an object has parts`);
  const keys = Object.entries<z.core.$ZodType>(inner.shape);
  const missing = keys.find(([key]) => parts[key] === undefined);
  if (missing !== undefined) throw new Error(`${what}: ${missing[0]} has no flag`);
  return keys.map(([key, part]) => {
    if (!accepts(part, undefined)) throw new Error(`${what}: ${key} must be one that can be left out`);
    const rule = deriveField(part, { what: `${what}.${key}`, field: key, hint: parts[key] });
    return [key, { ...rule, part_of: field }];
  });
}

/** The first single task that the input names is the one the command is about; the others may be elsewhere. */
function deriveRoute(
  fields: Readonly<Record<string, FieldRule>>,
  needs: Declaration['needs'],
): Pick<OperationEntry, 'route'> {
  const route = Object.keys(fields).find(
    (field) => fields[field]?.task === true && fields[field].kind === 'string',
  );
  return route === undefined || needs !== 'project' ? {} : { route };
}

/** Keywords of a property's JSON Schema that FieldRule has a place for; `$schema` and `description` say nothing. */
const KEYWORDS = {
  boolean: ['type'],
  integer: ['type', 'minimum', 'maximum'],
  enum: ['type', 'enum'],
  string: ['type', 'minLength', 'maxLength', 'pattern'],
  strings: ['type', 'items', 'maxItems'],
  assignments: ['type', 'propertyNames', 'additionalProperties'],
} as const;

/** Checks whose meaning JSON Schema keeps. A refinement or a transformation leaves no trace in it. */
const CHECKS = ['min_length', 'max_length', 'greater_than', 'less_than', 'number_format', 'string_format'];

function deriveRule(schema: z.core.$ZodType, what: string): FieldRule {
  const { inner, nullable } = unwrap(schema);
  checkChecks(inner, what);
  const json = toJsonSchema(inner);
  const kind = kindOf(json, what);
  const known: readonly string[] = KEYWORDS[kind];
  for (const keyword of Object.keys(json)) {
    if (!known.includes(keyword)) throw new Error(`${what}: the flag table has no place for "${keyword}"`);
  }
  if (nullable && kind === 'boolean') throw new Error(`${what}: a ${kind} cannot be null`);
  // No command line says that a record is null; leaving it out means the same.
  const isNullable = nullable && kind !== 'assignments';
  return { kind, ...(isNullable && { nullable: isNullable }), ...deriveLimits(kind, { json, inner, what }) };
}

function deriveLimits(kind: FieldRule['kind'], { json, inner, what }: Property): Partial<FieldRule> {
  if (kind === 'integer') return { ...pick(json, ['minimum', 'maximum']), ...derivePriority(inner) };
  if (kind === 'enum') return { values: json.enum as readonly string[] }; // kindOf looked at its type
  if (kind === 'string')
    return { ...pick(json, ['minLength', 'maxLength']), ...derivePattern(inner, what), ...deriveTask(inner) };
  if (kind === 'strings') {
    const element = deriveRule((inner as z.core.$ZodArray)._zod.def.element, `${what}, each`);
    if (element.kind !== 'string' && element.kind !== 'enum')
      throw new Error(`${what}: a list of ${element.kind} has no flag`);
    const { kind: _kind, ...limits } = element;
    return { ...limits, ...pick(json, ['maxItems']) };
  }
  if (kind === 'assignments') {
    if (Object.keys(json.additionalProperties as object).length > 0)
      throw new Error(`${what}: values of a record may be anything or the flag table cannot hold it`);
    const { kind: _kind, ...limits } = deriveRule(
      (inner as z.core.$ZodRecord)._zod.def.keyType,
      `${what}, keys`,
    );
    return limits;
  }
  return {};
}

interface Property {
  readonly json: z.core.JSONSchema.BaseSchema;
  readonly inner: z.core.$ZodType;
  readonly what: string;
}

function kindOf(json: z.core.JSONSchema.BaseSchema, what: string): FieldRule['kind'] {
  if (json.type === 'boolean' || json.type === 'integer') return json.type;
  if (json.type === 'string') return json.enum === undefined ? 'string' : 'enum';
  if (json.type === 'array') return 'strings';
  if (json.type === 'object' && json.additionalProperties !== undefined && json.properties === undefined)
    return 'assignments';
  throw new Error(`${what}: no flag can say ${JSON.stringify(json)}`);
}

function unwrap(schema: z.core.$ZodType): { inner: z.core.$ZodType; nullable: boolean } {
  let inner = schema;
  let nullable = false;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) {
    nullable ||= inner instanceof z.ZodNullable;
    inner = inner.unwrap();
  }
  // Text, or the same as a JSON object: a command line can only say the text.
  if (inner instanceof z.ZodUnion) {
    const [text, json, ...more] = inner.options;
    if (text instanceof z.ZodString && json instanceof z.ZodRecord && more.length === 0) inner = text;
  }
  return { inner, nullable };
}

function checkChecks(schema: z.core.$ZodType, what: string): void {
  for (const check of schema._zod.def.checks ?? []) {
    const def: { check: string; format?: string } = check._zod.def;
    const fits = CHECKS.includes(def.check) && (def.check !== 'string_format' || def.format === 'regex');
    if (!fits) throw new Error(`${what}: the flag table cannot check "${def.format ?? def.check}"`);
  }
}

/** A rule over several fields has no place in the table either. */
function checkObject(input: z.ZodObject, name: string): void {
  if ((input._zod.def.checks ?? []).length > 0)
    throw new Error(`${name}: a check of the whole input has no place in the flag table`);
}

function derivePattern(schema: z.core.$ZodType, what: string): Partial<FieldRule> {
  const patterns = (schema._zod.def.checks ?? []).flatMap((check) => {
    const { pattern }: { check: string; pattern?: RegExp } = check._zod.def;
    return pattern === undefined ? [] : [pattern];
  });
  if (patterns.length > 1) throw new Error(`${what}: the flag table has place for one pattern`);
  const [pattern] = patterns;
  return pattern === undefined ? {} : { pattern: [pattern.source, pattern.flags] };
}

/** `describe` makes a copy of a schema that shares its definition. */
function deriveTask(schema: z.core.$ZodType): Partial<FieldRule> {
  return schema._zod.def === TaskRef._zod.def ? { task: true } : {};
}

function derivePriority(schema: z.core.$ZodType): Partial<FieldRule> {
  return schema._zod.def === Priority._zod.def ? { priority: true } : {};
}

function toJsonSchema(schema: z.core.$ZodType): z.core.JSONSchema.BaseSchema {
  const {
    $schema: _schema,
    '~standard': _standard,
    description: _description,
    ...json
  } = z.toJSONSchema(schema, { io: 'input' });
  return json;
}

function pick<K extends 'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'maxItems'>(
  json: z.core.JSONSchema.BaseSchema,
  keys: readonly K[],
): { [key in K]?: number } {
  const entries = keys.flatMap((key) => (typeof json[key] === 'number' ? [[key, json[key]]] : []));
  return Object.fromEntries(entries) as { [key in K]?: number }; // only the keys asked for
}

function accepts(schema: z.core.$ZodType | undefined, value: unknown): boolean {
  return schema !== undefined && z.safeParse(schema, value).success;
}

/** Top-level keys of the answer, of every variant of it, or of its rows. */
function listOutputFields({ name, output }: Declaration): readonly string[] {
  const root = z.toJSONSchema(output, { io: 'output' });
  const fields = new Set<string>();
  const visit = (json: z.core.JSONSchema.BaseSchema): void => {
    for (const variant of [...(json.anyOf ?? []), ...(json.oneOf ?? []), ...(json.allOf ?? [])])
      visit(variant as z.core.JSONSchema.BaseSchema);
    for (const key of Object.keys(json.properties ?? {})) fields.add(key);
    if (json.type === 'array' && typeof json.items === 'object')
      visit(json.items as z.core.JSONSchema.BaseSchema);
    const reference = json.$ref?.split('/').at(-1);
    if (reference !== undefined && reference !== '#')
      visit((root.$defs?.[reference] ?? {}) as z.core.JSONSchema.BaseSchema);
  };
  visit(root);
  if (fields.size === 0) throw new Error(`${name}: the answer has no fields`);
  return [...fields];
}

function checkEntry(entry: OperationEntry, { cli }: Declaration): void {
  const { name, args, fields, required, prompt } = entry;
  const hinted = [...args, ...Object.keys(cli.flags ?? {}), ...(prompt === undefined ? [] : [prompt.field])];
  const whole = new Set(Object.values(fields).map(({ part_of }) => part_of));
  const stranger = hinted.find((field) => fields[field] === undefined && !whole.has(field));
  if (stranger !== undefined)
    throw new Error(`${name}: the cli hints name ${stranger}, which the input does not have`);
  if (prompt !== undefined && !required.includes(prompt.field))
    throw new Error(`${name}: only a required field can be asked for`);
  const misplaced = Object.keys(fields).find(
    (field) => fields[field]?.file_argument && !args.includes(field),
  );
  if (misplaced !== undefined) throw new Error(`${name}: ${misplaced} is a file argument, but has a flag`);
  const optional = args.findIndex((field) => !required.includes(field));
  if (optional !== -1 && args.slice(optional).some((field) => required.includes(field))) {
    throw new Error(`${name}: an argument that may be missing stands before one that may not`);
  }
  const kindOfArgument = (field: string): string => fields[field]?.kind ?? '';
  const words = args.filter((field) => kindOfArgument(field) === 'strings');
  if (words.some((field) => field !== args.at(-1)))
    throw new Error(`${name}: an argument of several words stands last`);
  if (args.some((field) => !['string', 'integer', 'enum', 'strings'].includes(kindOfArgument(field))))
    throw new Error(`${name}: an argument is one word, or the last one several`);
  const taken: string[] = [...GLOBAL_SWITCHES, ...GLOBAL_VALUES, 'help'];
  for (const flag of Object.values(fields).flatMap((rule) => [rule.flag, rule.file_flag])) {
    if (flag === undefined) continue;
    if (taken.includes(flag)) throw new Error(`${name}: two flags are called --${flag}`);
    taken.push(flag);
  }
}

function checkPaths(operations: readonly OperationEntry[]): void {
  const paths = operations.flatMap(({ path, alias }) => (alias === undefined ? [path] : [path, alias]));
  for (const [index, path] of paths.entries()) {
    if (path[0] === 'help') throw new Error('help is a command of its own');
    const other = paths.find(
      (whole, at) => at !== index && path.every((word, position) => whole[position] === word),
    );
    // A command without any field may lead on to others: no word behind it could be its own.
    const bare = operations.some((entry) => entry.path === path && Object.keys(entry.fields).length === 0);
    if (other !== undefined && !(bare && other.length > path.length))
      throw new Error(`The command ${path.join(' ')} hides ${other.join(' ')}`);
  }
}

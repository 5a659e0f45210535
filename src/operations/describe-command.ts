import type { Declaration, FlagHint } from '#contract/declare.ts';
import { type FieldRule, type OperationEntry, spellField } from './flag-table.ts';

/** How a field is shown in help, in the reference and in completions. */
export interface FieldHelp {
  readonly field: string;
  /** `--priority <n>`, or `<title>` */
  readonly term: string;
  readonly description: string;
  /** The words it allows, unless the term shows them. */
  readonly values: readonly string[];
  /** What its value may be, in words; empty when anything goes. */
  readonly limits: string;
  readonly required: boolean;
  readonly rule: FieldRule;
  /** The same field from a file. */
  readonly from_file: boolean;
}

export interface CommandHelp {
  /** `forge task create <title> [flags]` */
  readonly usage: string;
  readonly args: readonly FieldHelp[];
  readonly flags: readonly FieldHelp[];
}

/** Terms and descriptions of the flags that every command takes. */
export const GLOBAL_HELP: readonly { readonly term: string; readonly description: string }[] = [
  { term: '--json', description: 'Answer with one JSON document on standard output, errors included' },
  {
    term: '--fields <names>',
    description: 'With --json: only these fields of the answer, separated by commas',
  },
  { term: '--actor <identity>', description: 'Who asks (default: FORGE_ACTOR, else user.name of git)' },
  { term: '-C, --directory <path>', description: 'Work as if started in this folder' },
  {
    term: '--server <url>',
    description: 'Ask this server instead of the local store (default: FORGE_SERVER)',
  },
  { term: '--no-color', description: 'No colours, whatever the terminal can do' },
  { term: '--quiet', description: 'No progress lines, only the answer and errors' },
  { term: '-h, --help', description: 'Show help' },
];

export function describeCommand(declaration: Declaration, entry: OperationEntry): CommandHelp {
  const args = entry.args.flatMap((field) => describeField(declaration, entry, field).slice(0, 1));
  const flags = Object.keys(entry.fields).flatMap((field) =>
    describeField(declaration, entry, field).slice(entry.args.includes(field) ? 1 : 0),
  );
  return { usage: usageLine(entry, { args, flags }), args, flags };
}

function usageLine(
  entry: OperationEntry,
  { args, flags }: { args: readonly FieldHelp[]; flags: readonly FieldHelp[] },
): string {
  const parts = [
    ...args.map(({ term, required }) => (required ? term : `[${term.slice(1, -1)}]`)),
    ...flags.filter(({ required, from_file }) => required && !from_file).map(({ term }) => term),
  ];
  return ['forge', ...entry.path, ...parts, '[flags]'].join(' ');
}

/** The field itself, then its file flag where it has one. */
function describeField(declaration: Declaration, entry: OperationEntry, field: string): readonly FieldHelp[] {
  const rule = entry.fields[field];
  if (rule === undefined) return [];
  const hint = findHint(declaration, field, rule);
  const schema = findSchema(declaration, field, rule);
  const spelling = spellField(entry, field);
  const placeholder = hint?.placeholder ?? placeholderOf(rule);
  const bare = rule.flag === undefined || rule.kind === 'boolean';
  const several = rule.flag === undefined && rule.kind === 'strings';
  const term = several ? `${spelling.slice(0, -1)}...>` : bare ? spelling : `${spelling} <${placeholder}>`;
  // Values that the placeholder lists need no second list.
  const values = term.includes('|') ? [] : (rule.values ?? []);
  const help: FieldHelp = {
    field,
    term,
    description: schema?.description ?? '',
    values,
    limits: describeLimits({ ...rule, values }),
    required: entry.required.includes(field),
    rule,
    from_file: false,
  };
  if (rule.file_flag === undefined) return [help];
  const description = `Read ${spelling} from a file; "-" is standard input`;
  return [
    help,
    { ...help, term: `--${rule.file_flag} <path>`, description, values: [], limits: '', from_file: true },
  ];
}

function findHint({ cli }: Declaration, field: string, { part_of }: FieldRule): FlagHint | undefined {
  return part_of === undefined ? cli.flags?.[field] : cli.flags?.[part_of]?.parts?.[field];
}

function findSchema(
  { input }: Declaration,
  field: string,
  { part_of }: FieldRule,
): { description?: string } | undefined {
  if (part_of === undefined) return input.shape[field];
  let schema: unknown = input.shape[part_of];
  while (isWrapped(schema)) schema = schema.unwrap();
  return (schema as { shape?: Record<string, { description?: string }> } | undefined)?.shape?.[field];
}

/** An optional or nullable schema; told by its shape, because zod itself is not loaded for a description. */
function isWrapped(schema: unknown): schema is { unwrap(): unknown } {
  return typeof schema === 'object' && schema !== null && 'unwrap' in schema;
}

/** Longer lists of values leave no room beside them and are told in the description. */
const LONGEST_PLACEHOLDER = 27;

function placeholderOf(rule: FieldRule): string {
  const values = rule.values?.join('|') ?? '';
  if (values !== '' && values.length <= LONGEST_PLACEHOLDER) return values;
  if (rule.kind === 'integer') return 'n';
  return rule.flag ?? 'value';
}

/** `0 to 4`, `one of open, closed`, `at most 500 characters`. */
export function describeLimits(rule: FieldRule): string {
  const parts: string[] = [];
  if (rule.values !== undefined && rule.values.length > 0) parts.push(`one of ${rule.values.join(', ')}`);
  if (rule.kind === 'integer') parts.push(describeRange(rule));
  else if (rule.maxLength !== undefined)
    parts.push(`at most ${rule.maxLength} characters${rule.kind === 'strings' ? ' each' : ''}`);
  if (rule.maxItems !== undefined) parts.push(`at most ${rule.maxItems} times`);
  if (rule.nullable === true) parts.push('or "none"');
  return parts.filter((part) => part !== '').join(', ');
}

/** Bounds that are only those of a double say nothing to a person. */
export function describeRange({ minimum, maximum }: Pick<FieldRule, 'minimum' | 'maximum'>): string {
  const least = minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (least !== undefined && most !== undefined) return `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most === undefined ? 'a whole number' : `at most ${most}`;
}

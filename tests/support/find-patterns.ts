import { parseSync, Visitor } from 'rolldown/utils';
import type { ESTree } from 'rolldown/utils';

/** A regular expression of a source file. */
export interface FoundPattern {
  readonly path: string;
  readonly line: number;
  readonly source: string;
  readonly flags: string;
}

/**
 * Every regular expression that a file writes, as a literal or as `new RegExp`. Parts of the latter that are no
 * constants of the file stand for a plain word. Throws when the file does not parse, or when nothing of a pattern is
 * known: what is not understood must not pass.
 */
export function findPatterns(path: string, text: string): FoundPattern[] {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const found: FoundPattern[] = [];
  const constants = new Map<string, ESTree.Expression>();
  const lineAt = (at: number): number => text.slice(0, at).split('\n').length;
  const add = (node: ESTree.NewExpression | ESTree.CallExpression): void => {
    if (node.callee.type !== 'Identifier' || node.callee.name !== 'RegExp') return;
    const [pattern, flags] = node.arguments;
    const source = toText(pattern, constants);
    if (source === undefined) {
      // What a schema of the contract says; the schemas are looked at where they are written.
      if (path.endsWith('operations/field-value.ts')) return;
      throw new Error(`${path}:${lineAt(node.start)}: it cannot be read what this regular expression is`);
    }
    found.push({ path, line: lineAt(node.start), source, flags: toText(flags, constants) ?? '' });
  };
  new Visitor({
    VariableDeclarator: ({ id, init }) => {
      if (id.type === 'Identifier' && init !== null) constants.set(id.name, init);
    },
  }).visit(program);
  new Visitor({
    Literal: (node) => {
      if (!('regex' in node)) return;
      const { pattern, flags } = node.regex;
      found.push({ path, line: lineAt(node.start), source: pattern, flags });
    },
    NewExpression: add,
    CallExpression: add,
  }).visit(program);
  return found;
}

type Argument = ESTree.NewExpression['arguments'][number];

function toText(node: Argument | undefined, constants: ReadonlyMap<string, Argument>): string | undefined {
  if (node === undefined) return undefined;
  if (node.type === 'Literal') {
    if ('regex' in node) return node.regex.pattern;
    return typeof node.value === 'string' ? node.value : undefined;
  }
  if (node.type === 'TemplateLiteral') return joinTemplate(node, 'cooked', constants);
  if (node.type === 'TaggedTemplateExpression') return joinTemplate(node.quasi, 'raw', constants);
  if (node.type === 'Identifier') {
    const value = constants.get(node.name);
    return value === undefined || value === node ? undefined : toText(value, constants);
  }
  // `PATTERN.source` of a literal beside it.
  if (node.type !== 'MemberExpression' || node.property.type !== 'Identifier') return undefined;
  return node.property.name === 'source' ? toText(node.object as Argument, constants) : undefined;
}

function joinTemplate(
  { quasis, expressions }: ESTree.TemplateLiteral,
  spelling: 'cooked' | 'raw',
  constants: ReadonlyMap<string, Argument>,
): string {
  return quasis
    .map(({ value }, at) => {
      const between = expressions[at];
      return `${value[spelling] ?? ''}${between === undefined ? '' : (toText(between, constants) ?? 'word')}`;
    })
    .join('');
}

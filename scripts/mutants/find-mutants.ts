import { parseTree, type TreeNode, visitTree } from './source-tree.ts';

/** One small change of a source file that a good test notices. */
export interface Mutant {
  readonly kind: 'negated' | 'flipped' | 'dropped' | 'constant';
  /** From 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  /** What stands there, and what stands there instead. */
  readonly from: string;
  readonly to: string;
}

const FLIPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
};

const CONDITIONS: Readonly<Record<string, string>> = {
  IfStatement: 'test',
  ConditionalExpression: 'test',
  WhileStatement: 'test',
};

/** Calls whose loss changes nothing that can be seen. */
const HARMLESS = /^(?:await )?(?:console\.|\w+\.unref\b)/;

/** All mutants of a source text, in the order in which they stand there. */
export function findMutants(source: string): readonly Mutant[] {
  const found: Mutant[] = [];
  const lines = toLines(source);
  const add = (
    kind: Mutant['kind'],
    at: { readonly start: number; readonly end: number },
    to: string,
  ): void => {
    const from = source.slice(at.start, at.end);
    found.push({ kind, line: lines(at.start), start: at.start, end: at.end, from, to });
  };
  visitTree(parseTree(source), (node) => {
    const text = source.slice(node.start, node.end);
    const condition = CONDITIONS[node.type];
    if (condition !== undefined) {
      const test = node[condition] as TreeNode;
      add('negated', test, `!(${source.slice(test.start, test.end)})`);
    }
    if (node.type === 'BinaryExpression' || node.type === 'LogicalExpression') flip(source, node, add);
    if (node.type === 'ExpressionStatement' && isEffect(node) && !HARMLESS.test(text))
      add('dropped', node, ';');
    if (node.type === 'Literal') {
      const to = toOther(node['value']);
      if (to !== undefined) add('constant', node, to);
    }
  });
  return found.toSorted((a, b) => a.start - b.start || a.end - b.end);
}

function flip(
  source: string,
  node: TreeNode,
  add: (kind: Mutant['kind'], at: { start: number; end: number }, to: string) => void,
): void {
  const operator = String(node['operator']);
  const other = FLIPPED[operator];
  const [left, right] = [node['left'] as TreeNode, node['right'] as TreeNode];
  // A text is put together, not counted.
  if (other === undefined || ((operator === '+' || operator === '-') && (isText(left) || isText(right))))
    return;
  const start = source.indexOf(operator, left.end);
  if (start < 0 || start >= right.start) return;
  add('flipped', { start, end: start + operator.length }, other);
}

function isText({ type, value }: TreeNode): boolean {
  return type === 'TemplateLiteral' || (type === 'Literal' && typeof value === 'string');
}

/** A call or an assignment whose value is not used. */
function isEffect({ expression }: TreeNode): boolean {
  const { type, argument } = expression as TreeNode;
  if (type === 'AwaitExpression') return (argument as TreeNode).type === 'CallExpression';
  return type === 'CallExpression' || type === 'AssignmentExpression';
}

function toOther(value: unknown): string | undefined {
  if (typeof value === 'boolean') return String(!value);
  return typeof value === 'number' ? String(value + 1) : undefined;
}

function toLines(source: string): (at: number) => number {
  const starts = [0];
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1);
  return (at) => starts.findLastIndex((start) => start <= at) + 1;
}

/** The source with the mutant in it. */
export function applyMutant(source: string, { start, end, to }: Mutant): string {
  return source.slice(0, start) + to + source.slice(end);
}

/** The same mutants for the same seed. */
export function pickSome<T>(all: readonly T[], count: number, seed: number): readonly T[] {
  const rest = [...all];
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let at = rest.length - 1; at > 0; at -= 1) {
    const other = Math.floor(next() * (at + 1));
    [rest[at], rest[other]] = [rest[other] as T, rest[at] as T];
  }
  return rest.slice(0, count);
}

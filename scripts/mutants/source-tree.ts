import { parseAst } from 'rolldown/parseAst';

/** A node of a parsed file, as far as it is looked at here. */
export interface TreeNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export function parseTree(source: string): TreeNode {
  // The parser's own types know every form; only a few are looked at here.
  return parseAst(source, { lang: 'ts' }) as unknown as TreeNode;
}

/** Types are not there when the program runs. */
const WITHOUT_EFFECT = /^TS(?!AsExpression|SatisfiesExpression|NonNullExpression)/;

/** Every node that does something when the program runs, outer ones first. */
export function visitTree(node: TreeNode, look: (node: TreeNode) => void): void {
  if (WITHOUT_EFFECT.test(node.type) || node.type === 'ImportDeclaration') return;
  look(node);
  for (const [key, value] of Object.entries(node)) {
    // A key of an object or a member is a name.
    if (key === 'key' && node['computed'] !== true) continue;
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visitTree(child, look);
  }
}

function isNode(value: unknown): value is TreeNode {
  return typeof value === 'object' && value !== null && typeof (value as TreeNode).type === 'string';
}

import { parseTree, type TreeNode, visitTree } from './source-tree.ts';

/** A statement, or the value of a short function: when the program comes to it, the program reaches all of it. */
export interface ReachPoint {
  readonly start: number;
  readonly end: number;
}

interface Found extends ReachPoint {
  /** What is put around it, so that a call can stand in front of it. */
  readonly form: 'statement' | 'branch' | 'value';
}

/** The places of a source file that can be reached apart from each other, in the order in which they are found. */
export function findReachPoints(source: string): readonly ReachPoint[] {
  return listPoints(source).map(({ start, end }) => ({ start, end }));
}

/** The smallest point around a place of the file; undefined for what runs when the file is loaded. */
export function findPointAt(points: readonly ReachPoint[], place: number): number | undefined {
  let best: number | undefined;
  for (const [at, { start, end }] of points.entries()) {
    if (place < start || place >= end) continue;
    const other = best === undefined ? undefined : points[best];
    if (other === undefined || end - start <= other.end - other.start) best = at;
  }
  return best;
}

/** The source with a call in front of every point; `call` makes the text of one. No line moves. */
export function instrument(source: string, call: (point: number) => string): string {
  const opening = new Map<number, string>();
  const closing = new Map<number, string>();
  for (const [at, { start, end, form }] of listPoints(source).entries()) {
    const [open, close] = around(form, call(at));
    opening.set(start, (opening.get(start) ?? '') + open);
    closing.set(end, close + (closing.get(end) ?? ''));
  }
  const places = [...new Set([...opening.keys(), ...closing.keys()])].toSorted((a, b) => a - b);
  let made = '';
  let from = 0;
  for (const place of places) {
    made += source.slice(from, place) + (closing.get(place) ?? '') + (opening.get(place) ?? '');
    from = place;
  }
  return made + source.slice(from);
}

function around(form: Found['form'], call: string): readonly [string, string] {
  if (form === 'value') return [`(${call}, `, ')'];
  return form === 'branch' ? [`{ ${call}; `, ' }'] : [`${call}; `, ''];
}

function listPoints(source: string): readonly Found[] {
  const found: Found[] = [];
  const add = (node: unknown, form: Found['form']): void => {
    const { start, end } = node as TreeNode;
    found.push({ start, end, form });
  };
  visitTree(parseTree(source), (node) => {
    const { type } = node;
    if (type === 'BlockStatement')
      for (const one of node['body'] as readonly TreeNode[]) add(one, 'statement');
    if (type === 'SwitchCase')
      for (const one of node['consequent'] as readonly TreeNode[]) add(one, 'statement');
    if (type === 'ArrowFunctionExpression' && isBare(node['body'])) add(node['body'], 'value');
    if (type === 'IfStatement')
      for (const one of [node['consequent'], node['alternate']]) if (isBare(one)) add(one, 'branch');
    if (/^(?:For|While)\w*Statement$/.test(type) && isBare(node['body'])) add(node['body'], 'branch');
  });
  return found;
}

function isBare(node: unknown): boolean {
  return node !== null && node !== undefined && (node as TreeNode).type !== 'BlockStatement';
}

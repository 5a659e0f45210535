import { type JsoncMember, type JsoncNode, parseJsonc } from './parse-jsonc.ts';

/** The way to a member: `["mcpServers", "forge"]`. */
export type JsoncPath = readonly string[];

export class JsoncShapeFault extends Error {}

/**
 * The text with a value at the path; every other byte stays. Objects on the way are made. The same value gives the same
 * text. Throws JsoncFault, and JsoncShapeFault where something else than an object stands in the way.
 */
export function setInJsonc(text: string, path: JsoncPath, value: unknown): string {
  const root = parseJsonc(text);
  const { parent, depth } = descend(root, path);
  const rest = path.slice(depth);
  const [key] = rest;
  if (key === undefined) return text;
  const member = findMember(parent, key, path);
  if (member !== undefined) {
    if (JSON.stringify(member.node.value) === JSON.stringify(value)) return text;
    const shown = render(value, text, indentOf(text, member.start));
    return splice(text, member.node.start, member.node.end, shown);
  }
  const whole = rest.slice(1).reduceRight((inner, name) => ({ [name]: inner }), value);
  return insert(text, parent, key, whole);
}

/** The text without the member, and without the objects around it that held nothing else. The root stays. */
export function removeFromJsonc(text: string, path: JsoncPath): string {
  const root = parseJsonc(text);
  const { parent, depth } = descend(root, path);
  const member = depth === path.length - 1 ? findMember(parent, path[depth] ?? '', path) : undefined;
  if (member === undefined) return text;
  const alone = parent.members?.length === 1 && depth > 0 && isBare(text, parent, member);
  return alone ? removeFromJsonc(text, path.slice(0, -1)) : cut(text, parent, member);
}

/** The value at the path, if there is one. */
export function findInJsonc(text: string, path: JsoncPath): unknown {
  let node: JsoncNode | undefined = parseJsonc(text);
  for (const key of path) node = node?.members?.findLast((member) => member.key === key)?.node;
  return node?.value;
}

/** As far down the path as there are objects; the last step is never taken. */
function descend(root: JsoncNode, path: JsoncPath): { parent: JsoncNode; depth: number } {
  let parent = root;
  let depth = 0;
  for (;;) {
    if (parent.members === undefined)
      throw new JsoncShapeFault(
        depth === 0 ? 'it is no object' : `${path.slice(0, depth).join('.')} is no object`,
      );
    const next = depth < path.length - 1 ? findMember(parent, path[depth] ?? '', path) : undefined;
    if (next === undefined) return { parent, depth };
    parent = next.node;
    depth += 1;
  }
}

function findMember({ members = [] }: JsoncNode, key: string, path: JsoncPath): JsoncMember | undefined {
  const found = members.filter((member) => member.key === key);
  if (found.length > 1) throw new JsoncShapeFault(`${key} stands twice on the way to ${path.join('.')}`);
  return found[0];
}

function insert(text: string, parent: JsoncNode, key: string, value: unknown): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = unitOf(text);
  const outer = indentOf(text, parent.start);
  const last = parent.members?.at(-1);
  const isSpread = last !== undefined && /^[ \t]*$/.test(text.slice(lineStart(text, last.start), last.start));
  const indent = isSpread ? indentOf(text, last.start) : outer + unit;
  const entry = `${JSON.stringify(key)}: ${render(value, text, indent)}`;
  const brace = parent.end - 1;
  // Behind the last comment: what stands there speaks of what is above it.
  const end = lastContent(text, parent);
  const closing = text.slice(end, brace).includes('\n') ? '' : eol + outer;
  const trailing = last?.comma !== undefined ? ',' : '';
  const added = text.slice(0, end) + eol + indent + entry + trailing + closing + text.slice(end);
  if (last === undefined || last.comma !== undefined) return added;
  return splice(added, last.node.end, last.node.end, ',');
}

/** Where the last thing inside of an object ends, a comment included. */
function lastContent(text: string, { start, end }: JsoncNode): number {
  let at = end - 1;
  while (at > start + 1 && /[ \t\r\n]/.test(text[at - 1] ?? '')) at -= 1;
  return at;
}

function cut(text: string, parent: JsoncNode, member: JsoncMember): string {
  const members = parent.members ?? [];
  const index = members.indexOf(member);
  const before = members[index - 1];
  const end = member.comma === undefined ? member.node.end : member.comma + 1;
  const line = lineStart(text, member.start);
  const ownsLine = /^[ \t]*$/.test(text.slice(line, member.start));
  const rest = /^[ \t]*(\r?\n)?/.exec(text.slice(end))?.[0] ?? '';
  const whole = ownsLine && rest.endsWith('\n');
  const from = whole ? line : member.start;
  const shorter = splice(text, from, whole ? end + rest.length : end, '');
  // The comma that led to the last one leads nowhere now.
  if (before?.comma === undefined || member.comma !== undefined || index < members.length - 1) return shorter;
  return splice(shorter, before.comma, before.comma + 1, '');
}

/** Nothing but the one member stands in the object, not even a comment. */
function isBare(text: string, { start, end }: JsoncNode, { start: from, node, comma }: JsoncMember): boolean {
  const until = comma === undefined ? node.end : comma + 1;
  return /^\s*$/.test(text.slice(start + 1, from) + text.slice(until, end - 1));
}

function render(value: unknown, text: string, indent: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', eol + indent);
}

function unitOf(text: string): string {
  return /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

function indentOf(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, at)))?.[0] ?? '';
}

function splice(text: string, start: number, end: number, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

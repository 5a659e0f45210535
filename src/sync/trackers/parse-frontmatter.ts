import type { Json } from '#kernel/json.ts';
import { dropEnd } from '#kernel/text.ts';

/** The head of a Markdown file between two lines of dashes, and what follows. */
export interface Frontmatter {
  readonly fields: ReadonlyMap<string, Json>;
  readonly body: string;
  /** What is no YAML of the kind that is written there, one sentence each. */
  readonly problems: readonly string[];
}

/** Undefined where the text has no such head. Line ends become LF. */
export function parseFrontmatter(text: string): Frontmatter | undefined {
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  if (lines[0]?.trimEnd() !== '---') return undefined;
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === '---');
  if (end < 0) return undefined;
  return { ...parseYaml(lines.slice(1, end)), body: lines.slice(end + 1).join('\n') };
}

/** Read in one pass, which a lazy `[^:]*?` before blanks is not; so the third may end with blanks. */
const KEY = /^(?:"((?:[^"\\]|\\.)*)"\s*|'((?:[^']|'')*)'\s*|([^\s#:'"[\]{},][^:]*)):(?:\s([^]*))?$/;

/**
 * The subset that task tools write: one level of keys with text, lists in both forms, and folded or literal
 * blocks. Every scalar is text, so that no version number or date is taken for something else.
 */
export function parseYaml(lines: readonly string[]): Pick<Frontmatter, 'fields' | 'problems'> {
  const fields = new Map<string, Json>();
  const problems: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    const found = KEY.exec(line);
    let next = at + 1;
    while (next < lines.length && belongs(lines[next] ?? '')) next += 1;
    if (found !== null) {
      const key = found[1] ?? found[2] ?? found[3]?.trimEnd() ?? '';
      if (fields.has(key)) problems.push(`"${key}" is there twice; the last one counts`);
      fields.set(key, parseValue(found[4] ?? '', lines.slice(at + 1, next)));
    } else if (line.trim() !== '' && !line.startsWith('#')) {
      problems.push(`"${line.trim()}" cannot be read`);
    }
    at = next;
  }
  return { fields, problems };
}

/** Indented lines, empty ones, and list items and a closing bracket that stand as far left as their key. */
function belongs(line: string): boolean {
  return line.trim() === '' || /^(\s|-(\s|$)|\])/.test(line);
}

function parseValue(first: string, more: readonly string[]): Json {
  const head = stripComment(first).trim();
  const block = /^([|>])([+-]?)\d?$/.exec(head);
  if (block !== null) return parseBlock(block[1] === '>', more);
  const rest = more.filter((line) => line.trim() !== '' && !/^\s*#/.test(line));
  if (head === '' && isItem(rest[0] ?? '') && rest.every((line) => isItem(line) || /^\s{2,}\S/.test(line))) {
    return parseList(rest);
  }
  // A mapping inside: no field of theirs has one, so it is kept as it is written.
  if (head === '' && rest.length > 0) return more.join('\n').trimEnd();
  const whole = [head, ...rest.map((line) => line.trim())].join(' ').trim();
  if (whole.startsWith('[') && whole.endsWith(']')) return splitFlow(whole.slice(1, -1)).map(parseScalar);
  return parseScalar(whole);
}

function isItem(line: string): boolean {
  return /^\s*-(\s|$)/.test(line);
}

function parseList(lines: readonly string[]): Json[] {
  const items: { first: string; more: string[] }[] = [];
  const indent = /^\s*/.exec(lines[0] ?? '')?.[0].length ?? 0;
  for (const line of lines) {
    const item = /^(\s*)-(?:\s+(.*))?$/.exec(line);
    if (item !== null && (item[1] ?? '').length <= indent) items.push({ first: item[2] ?? '', more: [] });
    else items.at(-1)?.more.push(line);
  }
  return items.map(({ first, more }) => parseValue(first, more));
}

/** Folded: line breaks become spaces, empty lines become line breaks. */
function parseBlock(folded: boolean, lines: readonly string[]): string {
  const indent = Math.min(
    ...lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length),
  );
  const text = lines.map((line) => line.slice(Number.isFinite(indent) ? indent : 0)).join('\n');
  const trimmed = dropEnd(text, '\n');
  return folded ? trimmed.replaceAll(/(\n*)\n(?!\n)/g, (_all, empty: string) => empty || ' ') : trimmed;
}

/** `a, 'b, c', "d"` at its commas outside of quotes. */
function splitFlow(text: string): string[] {
  const parts = text.match(/\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

function parseScalar(text: string): Json {
  if (text.length >= 2 && text.startsWith("'") && text.endsWith("'")) {
    return text.slice(1, -1).replaceAll("''", "'");
  }
  if (text.length >= 2 && text.startsWith('"') && text.endsWith('"')) return unescape(text.slice(1, -1));
  return text === '~' || text === 'null' ? null : text;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '0': '\u0000', e: '\u001b' };

function unescape(text: string): string {
  return text.replaceAll(
    /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g,
    (_all, byte?: string, short?: string, long?: string, one?: string) => {
      const hex = byte ?? short ?? long;
      if (hex === undefined) return ESCAPES[one ?? ''] ?? one ?? '';
      const point = Number.parseInt(hex, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
    },
  );
}

/** ` # …` behind a value, where it is not inside quotes. */
function stripComment(text: string): string {
  const trimmed = text.trim();
  if (/^["']/.test(trimmed)) {
    const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s+#.*$/.exec(trimmed);
    return quoted?.[1] ?? text;
  }
  return text.replace(/(^|\s)#[^]*$/, '');
}

/** One statement of a TOML text; blank lines and comments are none. */
export interface TomlStatement {
  readonly kind: 'table' | 'list of tables' | 'value';
  /** Keys from the root for a table, from its table for a value. */
  readonly keys: readonly string[];
  readonly start: number;
  /** Behind the end of its line. */
  readonly end: number;
  /** Of the value alone. */
  readonly value?: { readonly start: number; readonly end: number };
}

export class TomlFault extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const BLANK = /[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/y;
const KEY = /[ \t]*(?:([A-Za-z0-9_-]+)|("[^"\\\n]*(?:\\.[^"\\\n]*)*")|'([^'\n]*)')[ \t]*/y;
/** Long texts before short ones, which begin with the same mark. */
const TEXT =
  /"""[^"\\]*(?:(?:\\[^]|"(?!""))[^"\\]*)*"{3,5}|'''[^']*(?:'(?!'')[^']*)*'{3,5}|"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*'/y;
const SCALAR = /[^\s,[\]{}#"'=]+(?: \d{2}:\d{2}[^\s,[\]{}#]*)?/y;
const SPACE = /(?:[ \t\r\n]|#[^\n]*)*/y;
const DEEPEST = 100;

/**
 * Where each statement stands. It knows enough of TOML to never take the inside of a text or a list for a statement, and
 * throws TomlFault for what it does not know.
 */
export function scanToml(text: string): readonly TomlStatement[] {
  const statements: TomlStatement[] = [];
  let at = text.startsWith('\ufeff') ? 1 : 0;
  while (at < text.length) {
    const blank = matchAt(BLANK, text, at);
    if (blank !== undefined && blank.length > 0) {
      at += blank.length;
      continue;
    }
    const statement = scanStatement(text, at);
    statements.push(statement);
    at = statement.end;
  }
  return statements;
}

function scanStatement(text: string, start: number): TomlStatement {
  let at = start + (matchAt(/[ \t]*/y, text, start)?.length ?? 0);
  const mark = text.startsWith('[[', at) ? '[[' : text[at] === '[' ? '[' : '';
  at += mark.length;
  const { keys, end: behind } = scanKeys(text, at);
  at = behind;
  if (mark !== '') {
    const closing = mark === '[' ? ']' : ']]';
    if (!text.startsWith(closing, at)) throw new TomlFault(`${closing} is missing`, at);
    const kind = mark === '[' ? 'table' : 'list of tables';
    return { kind, keys, start, end: endOfLine(text, at + closing.length) };
  }
  if (text[at] !== '=') throw new TomlFault('an equals sign is missing', at);
  const from = at + 1 + (matchAt(/[ \t]*/y, text, at + 1)?.length ?? 0);
  const until = scanValue(text, from, 0);
  return { kind: 'value', keys, start, end: endOfLine(text, until), value: { start: from, end: until } };
}

function scanKeys(text: string, start: number): { keys: string[]; end: number } {
  const keys: string[] = [];
  for (let at = start; ; at += 1) {
    KEY.lastIndex = at;
    const found = KEY.exec(text);
    if (found === null) throw new TomlFault('a key is missing', at);
    const [whole, bare, quoted, literal] = found;
    keys.push(bare ?? literal ?? readBasic(quoted ?? '""', at));
    at += whole.length;
    if (text[at] !== '.') return { keys, end: at };
  }
}

function readBasic(quoted: string, at: number): string {
  try {
    return JSON.parse(quoted) as string; // a text in quotes; the escapes that differ are refused
  } catch {
    throw new TomlFault('a key has an escape that is not understood', at);
  }
}

function scanValue(text: string, start: number, depth: number): number {
  if (depth > DEEPEST) throw new TomlFault('it is nested too deeply', start);
  const first = text[start];
  if (first === '[') return scanList(text, start, depth);
  if (first === '{') return scanInlineTable(text, start, depth);
  const word = matchAt(first === '"' || first === "'" ? TEXT : SCALAR, text, start);
  if (word === undefined) throw new TomlFault('a value is missing or has no end', start);
  return start + word.length;
}

function scanList(text: string, start: number, depth: number): number {
  let at = start + 1;
  for (;;) {
    at += matchAt(SPACE, text, at)?.length ?? 0;
    if (text[at] === ']') return at + 1;
    at = scanValue(text, at, depth + 1);
    at += matchAt(SPACE, text, at)?.length ?? 0;
    if (text[at] === ',') at += 1;
    else if (text[at] !== ']') throw new TomlFault('a comma or the end of a list is missing', at);
  }
}

function scanInlineTable(text: string, start: number, depth: number): number {
  let at = start + 1;
  for (;;) {
    at += matchAt(SPACE, text, at)?.length ?? 0;
    if (text[at] === '}') return at + 1;
    at = scanKeys(text, at).end;
    if (text[at] !== '=') throw new TomlFault('an equals sign is missing', at);
    at += 1 + (matchAt(/[ \t]*/y, text, at + 1)?.length ?? 0);
    at = scanValue(text, at, depth + 1);
    at += matchAt(SPACE, text, at)?.length ?? 0;
    if (text[at] === ',') at += 1;
    else if (text[at] !== '}') throw new TomlFault('a comma or the end of a table is missing', at);
  }
}

function endOfLine(text: string, at: number): number {
  const rest = matchAt(BLANK, text, at);
  if (rest === undefined) throw new TomlFault('something stands behind the value', at);
  return at + rest.length;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

export interface GitConfigEntry {
  /** Section and name in lower case, a subsection as written: `user.name`, `branch.Fix-1.remote`. */
  readonly key: string;
  /** Undefined for a name without `=`, which git reads as true. */
  readonly value: string | undefined;
}

/**
 * The entries of one git configuration file in their order, by the rules of git's own reader (quotes, escapes,
 * comments, continued lines, CRLF, byte order mark). Undefined where git would refuse the file. Whitespace
 * inside an unquoted value stays as written, as in git 2.45 and later; older ones turned tabs into spaces.
 */
export function parseGitConfig(text: string): readonly GitConfigEntry[] | undefined {
  const source = (text.startsWith('\uFEFF') ? text.slice(1) : text).replaceAll('\r\n', '\n');
  const entries: GitConfigEntry[] = [];
  let section = '';
  let at = skipBlank(source, 0);
  while (at < source.length) {
    if (source[at] === '[') {
      const header = matchAt(SECTION, source, at);
      if (header === null) return undefined;
      section = toSectionKey(header);
      at += header[0].length;
    } else {
      const name = matchAt(NAME, source, at);
      if (name === null) return undefined;
      const read = readValue(source, at + name[0].length);
      if (read === undefined) return undefined;
      entries.push({ key: `${section}${name[1]?.toLowerCase()}`, value: read.value });
      at = read.end;
    }
    at = skipBlank(source, at);
  }
  return entries;
}

/** The last one wins; `undefined` entries count, so that a later bare name hides an earlier value. */
export function findLastEntry(entries: readonly GitConfigEntry[], key: string): GitConfigEntry | undefined {
  return entries.findLast((entry) => entry.key === key);
}

export function isTrue(entry: GitConfigEntry | undefined): boolean {
  if (entry === undefined) return false;
  return entry.value === undefined || TRUE.test(entry.value);
}

const BLANK = /(?:[ \t\r\n]+|[#;][^\n]*)*/y;
const SECTION = /\[(?!\])([A-Za-z0-9.-]*)(?:[ \t\r]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y;
const NAME = /([A-Za-z][A-Za-z0-9-]*)[ \t]*/y;
const TRUE = /^(?:true|yes|on|[+-]?0*[1-9]\d*[kmg]?)$/i;

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function skipBlank(source: string, at: number): number {
  return at + (matchAt(BLANK, source, at)?.[0].length ?? 0);
}

function toSectionKey(header: RegExpExecArray): string {
  const base = `${header[1]?.toLowerCase()}.`;
  return header[2] === undefined ? base : `${base}${header[2].replaceAll(/\\(.)/gs, '$1')}.`;
}

/** From right after the name to the end of the value's last line. */
function readValue(source: string, start: number): { value: string | undefined; end: number } | undefined {
  if (start >= source.length || source[start] === '\n') return { value: undefined, end: start };
  if (source[start] !== '=') return undefined;
  let value = '';
  let kept = 0; // length without the whitespace that trails so far
  let quoted = false;
  let at = start + 1;
  for (; at < source.length && source[at] !== '\n'; at += 1) {
    const char = source.charAt(at);
    if (!quoted && (char === ' ' || char === '\t' || char === '\r')) {
      if (value !== '') value += char;
      continue;
    }
    if (!quoted && (char === '#' || char === ';')) {
      const newline = source.indexOf('\n', at);
      at = newline === -1 ? source.length : newline;
      break;
    }
    if (char === '"') quoted = !quoted;
    else if (char === '\\') {
      at += 1;
      const escaped = at < source.length ? ESCAPES.get(source.charAt(at)) : '';
      if (escaped === undefined) return undefined;
      value += escaped;
    } else value += char;
    kept = value.length;
  }
  return quoted ? undefined : { value: value.slice(0, kept), end: at };
}

/** A backslash before the newline (or the end of the file) continues the line and stands for nothing. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['\n', ''],
  ['t', '\t'],
  ['b', '\b'],
  ['n', '\n'],
  ['\\', '\\'],
  ['"', '"'],
]);

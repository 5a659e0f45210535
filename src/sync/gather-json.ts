import { LIMITS } from '#kernel/limits.ts';
import type { FileLine } from '#store/replication.ts';

/** Whether a line may be a value of its own, as Forge and most tools write them. */
export function isOneLine(text: string): boolean {
  return text.startsWith('{"') && text.endsWith('}') && !JOINED.test(text);
}

/** No JSON has it outside of a text: two objects that lost the line end between them. */
const JOINED = /\}\s*\{/;

/**
 * Lines of a file that a tool wrote anew in its own way: objects over several lines (`jq .`), or a list of them. Each
 * object comes out as one line, without the white space between its parts, so that one which is only written otherwise
 * still fits its seal. What is no such object comes out as it went in. Every line is looked at twice at most.
 */
export class JsonGatherer {
  /** Lines that are not settled: the object that they begin is not at its end. */
  #waiting: FileLine[] = [];
  #size = 0;
  /** Objects that end in these lines. */
  #found: FileLine[] = [];
  #parts: string[] = [];
  /** The brackets that are open, of the object at hand. */
  #open: string[] = [];
  #last = '';
  #begin = 0;
  /** Around the objects; `empty` until the first of them is whole, because it may be no list of objects at all. */
  #list: 'none' | 'empty' | 'begun' = 'none';

  /** Whether lines that are values of their own need not come here. */
  get isIdle(): boolean {
    return this.#waiting.length === 0 && this.#list === 'none';
  }

  take(line: FileLine): FileLine[] {
    const out = this.#goesOn(line) ? [] : this.end();
    const isFirst = this.#waiting.length === 0;
    this.#waiting.push(line);
    this.#size += line.text.length;
    if (!this.#scan(line)) {
      if (isFirst) return [...out, ...this.end()];
      this.#waiting.pop();
      return [...out, ...this.end(), ...this.take(line)];
    }
    const isWhole = this.#open.length === 0 && this.#list !== 'empty';
    return isWhole ? [...out, ...this.#settle()] : out;
  }

  /** What was begun and has no end: as it was. */
  end(): FileLine[] {
    const lines = this.#waiting;
    this.#clear();
    this.#list = 'none';
    return lines;
  }

  /** False where the line cannot belong to what is open: then that lacks its end, and must not swallow what follows. */
  #goesOn({ text, side }: FileLine): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return true;
    if (first.side !== side || this.#size + text.length > LIMITS.file_line_bytes) return false;
    return this.#open.length === 0 || !isOneLine(text);
  }

  #settle(): FileLine[] {
    const [line] = this.#waiting;
    const found = this.#found;
    if (line === undefined || !found.every(({ text }) => isJson(text))) return this.end();
    const isSingle = this.#waiting.length === 1 && found.length === 1;
    this.#clear();
    return isSingle && /^\s*\{[^]*\}\s*$/.test(line.text) ? [line] : found;
  }

  #clear(): void {
    this.#waiting = [];
    this.#size = 0;
    this.#found = [];
    this.#parts = [];
    this.#open = [];
    this.#last = '';
  }

  /** False where it is no JSON. What is left to JSON.parse is what stands between brackets, commas and colons. */
  #scan(line: FileLine): boolean {
    const { text } = line;
    for (let at = 0; at < text.length;) {
      const end = endOfToken(text, at);
      if (end === undefined) return false;
      const token = text.slice(at, end);
      at = end;
      if (isBlank(token)) continue;
      if (!(this.#open.length === 0 ? this.#scanOutside(token, line) : this.#scanInside(token, line)))
        return false;
      this.#last = token;
    }
    return true;
  }

  #scanOutside(token: string, { number }: FileLine): boolean {
    if (token === '{') {
      this.#open.push(token);
      this.#parts = [token];
      this.#begin = number;
      return true;
    }
    if (token === '[' && this.#list === 'none') {
      this.#list = 'empty';
      return true;
    }
    if (token === ']' && this.#list === 'begun') {
      this.#list = 'none';
      return true;
    }
    // Also where an object before it could not be read, so that the list is not known any more.
    return token === ',' && (this.#list === 'begun' || this.#found.length > 0);
  }

  #scanInside(token: string, { side }: FileLine): boolean {
    const open = this.#open.at(-1);
    // Without a sign between them two values would grow into one.
    if (!SIGNS.has(token) && !SIGNS.has(this.#last)) return false;
    if (token === '{' || token === '[') {
      const isValue = this.#last === ':' || (open === '[' && (this.#last === '[' || this.#last === ','));
      if (!isValue) return false;
      this.#open.push(token);
    } else if (token === '}' || token === ']') {
      if (open !== (token === '}' ? '{' : '[')) return false;
      this.#open.pop();
    }
    this.#parts.push(token);
    if (this.#open.length > 0) return true;
    const text = this.#parts.join('');
    this.#found.push(
      side === undefined ? { text, number: this.#begin } : { text, number: this.#begin, side },
    );
    if (this.#list === 'empty') this.#list = 'begun';
    return true;
  }
}

const SIGNS: ReadonlySet<string> = new Set(['{', '}', '[', ']', ',', ':']);
/** Of white space only what JSON knows: a text with another space in it can be read by no other program. */
const PLAIN = /[^ \t\r\n"{}[\],:]+|[ \t\r\n]+/y;

function isBlank(token: string): boolean {
  return /^[ \t\r\n]/.test(token);
}

/** Undefined where a text has no end. */
function endOfToken(text: string, start: number): number | undefined {
  const sign = text.charAt(start);
  if (SIGNS.has(sign)) return start + 1;
  if (sign !== '"') {
    PLAIN.lastIndex = start;
    PLAIN.test(text);
    return PLAIN.lastIndex;
  }
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charAt(end - 1 - slashes) === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

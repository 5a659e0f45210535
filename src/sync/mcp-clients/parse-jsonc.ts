/** A value of a JSON text with comments, and where it stands. */
export interface JsoncNode {
  readonly start: number;
  readonly end: number;
  /** Only of an object. */
  readonly members?: readonly JsoncMember[];
  readonly value: unknown;
}

export interface JsoncMember {
  readonly key: string;
  /** Where its key begins. */
  readonly start: number;
  readonly node: JsoncNode;
  /** Where the comma behind it stands, if one does. */
  readonly comma: number | undefined;
}

export class JsoncFault extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Deeper than any configuration, and far from the end of the stack. */
const DEEPEST = 200;

/** JSON with comments and trailing commas, as editors allow it. Throws JsoncFault. */
export function parseJsonc(text: string): JsoncNode {
  const reader = new Reader(text);
  const node = reader.readValue(0);
  reader.skip();
  if (reader.at < text.length) reader.fail('something stands behind the end');
  return node;
}

class Reader {
  readonly #text: string;
  at: number;

  constructor(text: string) {
    this.#text = text;
    this.at = text.startsWith('\ufeff') ? 1 : 0;
  }

  fail(message: string): never {
    throw new JsoncFault(message, this.at);
  }

  /** White space and comments. */
  skip(): void {
    for (;;) {
      const space = this.#match(/[ \t\r\n]+|\/\/[^\n]*|\/\*[^]*?\*\//y);
      if (space !== undefined) continue;
      if (this.#text.startsWith('/*', this.at)) this.fail('a comment has no end');
      return;
    }
  }

  readValue(depth: number): JsoncNode {
    if (depth > DEEPEST) this.fail('it is nested too deeply');
    this.skip();
    const start = this.at;
    const first = this.#text[start];
    if (first === '{') return this.#readObject(depth);
    if (first === '[') return this.#readList(depth);
    const word = this.#match(
      /"[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*"|-?\d[\d.eE+-]*|true|false|null/y,
    );
    if (word === undefined) this.fail(first === undefined ? 'it ends too early' : 'a value is missing');
    return { start, end: this.at, value: this.#parse(word, start) };
  }

  #readObject(depth: number): JsoncNode {
    const start = this.at;
    const members: JsoncMember[] = [];
    const value: [string, unknown][] = [];
    this.at += 1;
    for (;;) {
      this.skip();
      if (this.#take('}')) break;
      const at = this.at;
      const word = this.#match(/"[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*"/y);
      if (word === undefined) this.fail('a key in quotes is missing');
      const key = this.#parse(word, at) as string; // a text in quotes
      this.skip();
      if (!this.#take(':')) this.fail('a colon is missing');
      const node = this.readValue(depth + 1);
      this.skip();
      const comma = this.#text[this.at] === ',' ? this.at : undefined;
      members.push({ key, start: at, node, comma });
      value.push([key, node.value]);
      if (this.#take(',')) continue;
      if (!this.#take('}')) this.fail('a comma or the end of an object is missing');
      break;
    }
    return { start, end: this.at, members, value: Object.fromEntries(value) };
  }

  #readList(depth: number): JsoncNode {
    const start = this.at;
    const value: unknown[] = [];
    this.at += 1;
    for (;;) {
      this.skip();
      if (this.#take(']')) break;
      value.push(this.readValue(depth + 1).value);
      this.skip();
      if (this.#take(',')) continue;
      if (!this.#take(']')) this.fail('a comma or the end of a list is missing');
      break;
    }
    return { start, end: this.at, value };
  }

  #take(character: string): boolean {
    if (this.#text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  /** What the expression finds exactly here. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) return undefined;
    this.at += found.length;
    return found;
  }

  #parse(word: string, at: number): unknown {
    try {
      return JSON.parse(word) as unknown;
    } catch {
      this.at = at;
      return this.fail(`${word.slice(0, 40)} is no value`);
    }
  }
}

import { LIMITS } from '#kernel/limits.ts';

/** A key of an object or a place in a list. */
export type PathStep = string | number;

/** `states[3].next[1]`; a key that is no plain word stands in brackets, and a long one is cut. */
export function toPath(steps: readonly PathStep[]): string {
  return steps
    .map((step, at) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[A-Za-z_][\w-]*$/.test(step) || step.length > LONGEST_KEY)
        return `[${JSON.stringify(step.slice(0, LONGEST_KEY))}]`;
      return at === 0 ? step : `.${step}`;
    })
    .join('');
}

const LONGEST_KEY = 80;

export interface TextPlace {
  /** Both from 1, as editors count. */
  readonly line: number;
  readonly column: number;
}

/**
 * Where in the text each of these stands: a member at its key, an element of a list at its value. What is missing from
 * the text stands where the nearest thing around it does. The text must be JSON.
 */
export function locateJson(text: string, paths: readonly (readonly PathStep[])[]): TextPlace[] {
  const wanted = new Map<string, number | undefined>();
  for (const steps of paths) {
    for (let length = steps.length; length > 0; length -= 1)
      wanted.set(toPath(steps.slice(0, length)), undefined);
  }
  walkJson(text, (steps, offset) => {
    const path = toPath(steps);
    // A key that stands twice counts where it stands last, as in the value.
    if (wanted.has(path)) wanted.set(path, offset);
    return undefined;
  });
  const lines = lineStarts(text);
  return paths.map((steps) => {
    for (let length = steps.length; length > 0; length -= 1) {
      const offset = wanted.get(toPath(steps.slice(0, length)));
      if (offset !== undefined) return toPlace(lines, offset);
    }
    return toPlace(lines, /\S/.exec(text)?.index ?? 0);
  });
}

/** The place of one offset. */
export function placeAt(text: string, offset: number): TextPlace {
  return toPlace(lineStarts(text), offset);
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function toPlace(starts: readonly number[], offset: number): TextPlace {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
}

/**
 * `again`: the object holds this key already, and all but the last are lost when it is read. A sentence that it returns
 * ends the walk, as what is wrong with the text.
 */
export type JsonVisitor = (steps: readonly PathStep[], offset: number, again: boolean) => string | undefined;

export interface JsonBreak {
  readonly offset: number;
  readonly message: string;
}

/**
 * Visits every member and element in the order of the text. Undefined when the text is JSON, else where and why it is
 * not; then some may have been visited. It exists because JSON.parse names no place for most of what it refuses, and
 * says nothing of keys that stand twice.
 */
export function walkJson(text: string, visit: JsonVisitor): JsonBreak | undefined {
  const walker = new JsonWalker(text, visit);
  try {
    walker.walk();
    return undefined;
  } catch (error) {
    if (error instanceof BrokenJson) return { offset: error.offset, message: error.message };
    throw error;
  }
}

const UNCLOSED = 'this text is not closed, or not well formed';

class BrokenJson extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Lives for one walk: the place in the text, and the way from the top to it. */
class JsonWalker {
  readonly #text: string;
  readonly #visit: JsonVisitor;
  readonly #steps: PathStep[] = [];
  readonly #space = /[ \t\n\r]*/y;
  readonly #string = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})[^"\\\u0000-\u001f]*)*"/y;
  readonly #plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
  #at = 0;

  constructor(text: string, visit: JsonVisitor) {
    this.#text = text;
    this.#visit = visit;
  }

  walk(): void {
    this.#take(this.#space);
    this.#value();
    this.#take(this.#space);
    if (this.#at < this.#text.length) this.#refuse('nothing more may follow');
  }

  #value(): void {
    const first = this.#text[this.#at];
    if (first === '{') return this.#object();
    if (first === '[') return this.#list();
    if (this.#take(first === '"' ? this.#string : this.#plain) !== undefined) return;
    this.#refuse(first === '"' ? UNCLOSED : 'a value is missing');
  }

  #object(): void {
    const keys = new Set<string>();
    this.#items('}', () => {
      const offset = this.#at;
      if (this.#text[offset] !== '"') return this.#refuse('a key in double quotes is missing');
      const quoted = this.#take(this.#string);
      if (quoted === undefined) return this.#refuse(UNCLOSED);
      const key = JSON.parse(quoted) as string; // the pattern matches nothing else
      this.#steps.push(key);
      this.#tell(offset, keys.has(key));
      keys.add(key);
      this.#take(this.#space);
      if (this.#text[this.#at] !== ':') this.#refuse('":" is missing behind the key');
      this.#at += 1;
      this.#take(this.#space);
      this.#value();
      this.#steps.pop();
    });
  }

  #list(): void {
    let index = 0;
    this.#items(']', () => {
      this.#steps.push(index);
      this.#tell(this.#at, false);
      this.#value();
      this.#steps.pop();
      index += 1;
    });
  }

  /** From the opening mark to behind the closing one. */
  #items(end: '}' | ']', item: () => void): void {
    if (this.#steps.length >= LIMITS.metadata_depth)
      this.#refuse(`nested deeper than ${LIMITS.metadata_depth} levels`);
    this.#at += 1;
    this.#take(this.#space);
    if (this.#text[this.#at] === end) {
      this.#at += 1;
      return;
    }
    for (;;) {
      item();
      this.#take(this.#space);
      const mark = this.#text[this.#at];
      if (mark !== ',' && mark !== end) this.#refuse(`"," or "${end}" is missing`);
      this.#at += 1;
      if (mark === end) return;
      this.#take(this.#space);
      if (this.#text[this.#at] === end) this.#refuse(`no "," may stand before "${end}"`);
    }
  }

  #tell(offset: number, again: boolean): void {
    const why = this.#visit(this.#steps, offset, again);
    if (why !== undefined) throw new BrokenJson(why, offset);
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  #refuse(message: string): never {
    const ends = this.#at >= this.#text.length;
    throw new BrokenJson(ends ? `the text ends too early: ${message}` : message, this.#at);
  }
}

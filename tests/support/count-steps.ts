import { type Node, parsePattern } from './parse-pattern.ts';
import { type Growing, growTo, listWorstTexts } from './worst-texts.ts';

export interface Steep {
  readonly text: Growing;
  /** What the engine has to do for each length; Infinity where it was given up. */
  readonly steps: readonly number[];
}

const LENGTHS = [256, 512, 1024];
const MOST = 2.5;
/** More is not linear at these lengths. */
const TOO_MANY = 2_000_000;

/**
 * The first of the worst texts whose doubling multiplies the steps of a backtracking engine by more than 2.5, twice in a
 * row. Steps are counted by an engine of our own, so that the answer is the same on every machine, however busy.
 */
export function countSteep({
  source,
  flags,
}: {
  readonly source: string;
  readonly flags: string;
}): Steep | undefined {
  const engine = new CountingEngine(parsePattern(source, flags), flags);
  for (const text of listWorstTexts(source, flags)) {
    const steps: number[] = [];
    for (const length of [32, ...LENGTHS]) {
      const counted = engine.count(growTo(text, length));
      if (counted === Infinity) return { text, steps: [...steps, counted] };
      if (length > 32) steps.push(counted);
      // Nothing that begins in a straight line is bent later.
      if (steps.length === 2 && !isSteep(steps, 2.2)) break;
    }
    if (steps.length === LENGTHS.length && isSteep(steps, MOST)) return { text, steps };
  }
  return undefined;
}

function isSteep(steps: readonly number[], most: number): boolean {
  return steps.every((one, at) => at === 0 || one / (steps[at - 1] ?? one) > most);
}

type Next = (at: number) => boolean;

/** Tries what V8 would try, in the same order, and counts. Groups remember nothing: a reference to one takes anything. */
class CountingEngine {
  readonly #root: Node;
  readonly #flags: string;
  #text: readonly string[] = [];
  #reversed: readonly string[] | undefined;
  #steps = 0;

  constructor(root: Node, flags: string) {
    this.#root = root;
    this.#flags = flags;
  }

  count(text: string): number {
    this.#text = this.#flags.includes('u') ? Array.from(text) : text.split('');
    this.#reversed = undefined;
    this.#steps = 0;
    try {
      this.#search();
    } catch (error) {
      if (error === GIVEN_UP) return Infinity;
      throw error;
    }
    return this.#steps;
  }

  #search(): void {
    let end = 0;
    for (let start = 0; start <= this.#text.length; start = end > start ? end : start + 1) {
      end = start;
      const found = this.#match(this.#root, start, (at) => {
        end = at;
        return true;
      });
      if (this.#flags.includes('y') || (found && !this.#flags.includes('g'))) return;
    }
  }

  #step(): void {
    this.#steps += 1;
    if (this.#steps > TOO_MANY) throw GIVEN_UP;
  }

  #match(node: Node, at: number, next: Next): boolean {
    switch (node.kind) {
      case 'set': {
        this.#step();
        const character = this.#text[at];
        return character !== undefined && node.has(character) && next(at + 1);
      }
      case 'place':
        this.#step();
        return this.#isAt(node.at, at) && next(at);
      case 'choice':
        return node.options.some((one) => this.#match(one, at, next));
      case 'sequence':
        return this.#matchItems(node.items, 0, at, next);
      case 'look':
        return this.#look(node, at) !== node.negated && next(at);
      case 'repeat':
        return node.body.kind === 'set' ? this.#runSet(node, at, next) : this.#run(node, 0, at, next);
    }
  }

  #matchItems(items: readonly Node[], index: number, at: number, next: Next): boolean {
    const item = items[index];
    if (item === undefined) return next(at);
    return this.#match(item, at, (end) => this.#matchItems(items, index + 1, end, next));
  }

  #look({ body, behind }: Node & { kind: 'look' }, at: number): boolean {
    if (!behind) return this.#match(body, at, () => true);
    // Backwards, as V8 does it.
    const text = this.#text;
    this.#text = this.#reversed ??= text.toReversed();
    try {
      return this.#match(reverse(body), text.length - at, () => true);
    } finally {
      this.#text = text;
    }
  }

  #runSet({ body, min, max, lazy }: Node & { kind: 'repeat' }, at: number, next: Next): boolean {
    let taken = 0;
    const takesOne = (): boolean => {
      if (taken >= max) return false;
      this.#step();
      const character = this.#text[at + taken];
      if (character === undefined || body.kind !== 'set' || !body.has(character)) return false;
      taken += 1;
      return true;
    };
    while (taken < min) if (!takesOne()) return false;
    if (lazy) {
      do if (next(at + taken)) return true;
      while (takesOne());
      return false;
    }
    while (takesOne());
    for (; taken >= min; taken -= 1) {
      this.#step();
      if (next(at + taken)) return true;
    }
    return false;
  }

  #run(node: Node & { kind: 'repeat' }, taken: number, at: number, next: Next): boolean {
    this.#step();
    const { body, min, max, lazy } = node;
    const more = (): boolean =>
      taken < max &&
      // Taking nothing again and again is no progress.
      this.#match(body, at, (end) => (end > at || taken < min) && this.#run(node, taken + 1, end, next));
    if (taken < min) return more();
    return lazy ? next(at) || more() : more() || next(at);
  }

  #isAt(place: '^' | '$' | '\\b' | '\\B', at: number): boolean {
    const before = this.#text[at - 1];
    const after = this.#text[at];
    const isMulti = this.#flags.includes('m');
    if (place === '^') return before === undefined || (isMulti && LINE_ENDS.includes(before));
    if (place === '$') return after === undefined || (isMulti && LINE_ENDS.includes(after));
    const isEdge = /\w/.test(before ?? '') !== /\w/.test(after ?? '');
    return place === '\\b' ? isEdge : !isEdge;
  }
}

const GIVEN_UP = new Error('too many steps');

const LINE_ENDS = ['\n', '\r', '\u2028', '\u2029'];

/** What takes the same texts read from their end. */
function reverse(node: Node): Node {
  switch (node.kind) {
    case 'set':
      return node;
    case 'place':
      return { kind: 'place', at: node.at === '^' ? '$' : node.at === '$' ? '^' : node.at };
    case 'look':
      throw new Error('a look inside of a look behind is not known here');
    case 'choice':
      return { kind: 'choice', options: node.options.map(reverse) };
    case 'sequence':
      return { kind: 'sequence', items: node.items.toReversed().map(reverse) };
    case 'repeat':
      return { ...node, body: reverse(node.body) };
  }
}

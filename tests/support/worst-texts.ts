import { type Node, parsePattern } from './parse-pattern.ts';

/** A text that grows: a beginning, a part that is repeated, an end at which nothing matches. */
export interface Growing {
  readonly before: string;
  readonly repeated: string;
  readonly after: string;
}

export function growTo({ before, repeated, after }: Growing, length: number): string {
  const times = Math.max(1, Math.ceil((length - before.length - after.length) / repeated.length));
  return `${before}${repeated.repeat(times)}${after}`;
}

/**
 * Texts that are likely to be the worst for a regular expression, made of its own parts: what each repetition repeats,
 * what each sequence begins with, behind what leads there, with ends that no part of it takes.
 */
export function listWorstTexts(source: string, flags: string): Growing[] {
  const tree = parsePattern(source, flags);
  const found = new Map<string, Growing>();
  for (const { before, repeated, outside } of listPumps(tree)) {
    if (repeated === '') continue;
    for (const lead of new Set(['', before])) {
      for (const after of [...ENDS, ...outside]) {
        const text = { before: lead, repeated, after };
        found.set(JSON.stringify(text), text);
      }
    }
  }
  return [...found.values()];
}

const ENDS = ['', '\u0000', '\n\u0000', '!'];

interface Pump {
  readonly before: string;
  readonly repeated: string;
  /** Characters that what is repeated does not take. */
  readonly outside: readonly string[];
}

const EXAMPLES = 4;

/** A few texts that the node takes. */
function listExamples(node: Node): string[] {
  switch (node.kind) {
    case 'set':
      return node.samples.slice(0, EXAMPLES);
    case 'look':
    case 'place':
      return [''];
    case 'choice':
      return node.options.flatMap((one) => listExamples(one).slice(0, 2)).slice(0, EXAMPLES * 2);
    case 'repeat': {
      const times = Math.max(node.min, node.max === 0 ? 0 : 1);
      return listExamples(node.body).map((one) => one.repeat(times));
    }
    case 'sequence': {
      const parts = node.items.map(listExamples);
      const most = Math.min(EXAMPLES, Math.max(1, ...parts.map((one) => one.length)));
      return Array.from({ length: most }, (_, at) =>
        parts.map((one) => one[at % Math.max(1, one.length)] ?? '').join(''),
      );
    }
  }
}

/** Only what can be repeated without an end is looked at: all else costs the same at every place. */
function isEndless(node: Node): boolean {
  switch (node.kind) {
    case 'set':
    case 'place':
      return false;
    case 'look':
      return isEndless(node.body);
    case 'repeat':
      return node.max > MOST_REPEATS || isEndless(node.body);
    case 'choice':
      return node.options.some(isEndless);
    case 'sequence':
      return node.items.some(isEndless);
  }
}

const MOST_REPEATS = 1_000;

function* listPumps(tree: Node, before = ''): Generator<Pump> {
  if (!isEndless(tree)) return;
  switch (tree.kind) {
    case 'set':
    case 'place':
      return;
    case 'look':
      yield* listPumps(tree.body, before);
      return;
    case 'choice':
      for (const one of tree.options) yield* listPumps(one, before);
      return;
    case 'repeat': {
      const outside = listOutside(tree.body);
      for (const repeated of listExamples(tree.body)) yield { before, repeated, outside };
      for (const repeated of listCharacters(tree.body)) yield { before, repeated, outside };
      yield* listPumps(tree.body, before);
      return;
    }
    case 'sequence': {
      // An end of one part and the beginning of the next are where two repetitions share what they take.
      let lead = before;
      for (const [at, item] of tree.items.entries()) {
        yield* listPumps(item, lead);
        for (const length of [1, 2, 3]) {
          const part = { kind: 'sequence', items: tree.items.slice(at, at + length) } as const;
          for (const repeated of listExamples(part).slice(0, 2))
            yield { before: lead, repeated, outside: listOutside(part) };
        }
        lead += listExamples(item)[0] ?? '';
      }
      // A search begins anew at every place that looks like the beginning.
      for (let length = 1; length <= tree.items.length; length += 1) {
        const part = { kind: 'sequence', items: tree.items.slice(0, length) } as const;
        for (const repeated of listExamples(part)) yield { before, repeated, outside: [] };
      }
    }
  }
}

function listCharacters(node: Node): string[] {
  switch (node.kind) {
    case 'place':
      return [];
    case 'set':
      return [...node.samples];
    case 'look':
    case 'repeat':
      return listCharacters(node.body);
    case 'choice':
      return [...new Set(node.options.flatMap(listCharacters))];
    case 'sequence':
      return [...new Set(node.items.flatMap(listCharacters))];
  }
}

function listOutside(node: Node): string[] {
  switch (node.kind) {
    case 'place':
      return [];
    case 'set':
      return [...node.outside];
    case 'look':
    case 'repeat':
      return listOutside(node.body);
    case 'choice':
      return [...new Set(node.options.flatMap(listOutside))].slice(0, 3);
    case 'sequence':
      return [...new Set(node.items.flatMap(listOutside))].slice(0, 3);
  }
}

/** A part of a regular expression. */
export type Node =
  | { readonly kind: 'sequence'; readonly items: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | {
      readonly kind: 'repeat';
      readonly body: Node;
      readonly min: number;
      readonly max: number;
      readonly lazy: boolean;
    }
  /** A character of a set; one sample of each sort, and some that are not in it. */
  | {
      readonly kind: 'set';
      readonly samples: readonly string[];
      readonly outside: readonly string[];
      readonly has: (character: string) => boolean;
    }
  /** Takes nothing itself: what comes next, or what came before, is looked at. */
  | { readonly kind: 'look'; readonly body: Node; readonly behind: boolean; readonly negated: boolean }
  | { readonly kind: 'place'; readonly at: '^' | '$' | '\\b' | '\\B' };

/** One character of each sort that patterns tell apart. */
const PALETTE = [
  ...'a0 \n\t"\\\'_-./:,;=#*`$@!|&<>()[]{}+?%^~\u0000\u001b\u00e9\u2028zAZf9'.split(''),
  ...'bcdeghijklmnopqrstuvwxyBCDEFGHIJKLMNOPQRSTUVWXY12345678'.split(''),
  '\ud83d\ude00',
  '\ud83c',
  '\udc20',
];
const SAMPLES = 8;

export function parsePattern(source: string, flags: string): Node {
  const parser = new PatternParser(source, flags.replace(/[gy]/g, ''));
  return parser.parse();
}

/** As much of the grammar as it takes to find the parts: sets are asked from the engine itself. */
class PatternParser {
  readonly #source: string;
  readonly #flags: string;
  readonly #known = new Map<string, Node>();
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  parse(): Node {
    const tree = this.#choice();
    if (this.#at < this.#source.length) throw new Error(`not understood at ${this.#at}: ${this.#source}`);
    return tree;
  }

  #choice(): Node {
    const options = [this.#sequence()];
    while (this.#takes('|')) options.push(this.#sequence());
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: 'choice', options };
  }

  #sequence(): Node {
    const items: Node[] = [];
    while (this.#at < this.#source.length && !['|', ')'].includes(this.#source[this.#at] ?? '')) {
      items.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', items };
  }

  #atom(): Node {
    if (this.#takes('^')) return { kind: 'place', at: '^' };
    if (this.#takes('$')) return { kind: 'place', at: '$' };
    const rest = this.#source.slice(this.#at);
    if (/^\\[bB]/.test(rest)) {
      this.#at += 2;
      return { kind: 'place', at: rest.startsWith('\\b') ? '\\b' : '\\B' };
    }
    const look = /^\(\?<?[=!]/.exec(rest);
    const group = look ?? /^\((?:\?:|\?<[^=!>][^>]*>|\?[a-z-]+:)?/.exec(rest);
    if (group === null) return this.#set(rest);
    this.#at += group[0].length;
    const body = this.#choice();
    if (!this.#takes(')')) throw new Error(`a group without an end: ${this.#source}`);
    if (look === null) return body;
    return { kind: 'look', body, behind: look[0].includes('<'), negated: look[0].endsWith('!') };
  }

  #set(rest: string): Node {
    const [piece = ''] =
      /^\[(?:\\[^]|[^\]\\])*\]/.exec(rest) ??
      /^\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|c[A-Za-z]|[^])/i.exec(rest) ??
      /^[^]/u.exec(rest) ??
      [];
    this.#at += piece.length;
    const known = this.#known.get(piece) ?? this.#ask(piece);
    this.#known.set(piece, known);
    return known;
  }

  #ask(piece: string): Node {
    if (/^\\(?:[1-9]|k<)/.test(piece)) return { kind: 'set', samples: ['a'], outside: [], has: () => true };
    const test = new RegExp(`^(?:${piece})$`, this.#flags);
    const own = piece.replace(/^\\(?=[^a-z\d])/i, '');
    const samples = [own, ...PALETTE].filter((one) => /^[^]$/u.test(one) && test.test(one));
    if (samples.length === 0) {
      const point = Array.from({ length: 0x10000 }, (_, at) => at).find((at) =>
        test.test(String.fromCodePoint(at)),
      );
      samples.push(point === undefined ? own : String.fromCodePoint(point));
    }
    const outside = PALETTE.filter((one) => !test.test(one)).slice(0, 2);
    const known = new Map<string, boolean>();
    const has = (one: string): boolean => {
      const is = known.get(one) ?? test.test(one);
      known.set(one, is);
      return is;
    };
    return { kind: 'set', samples: [...new Set(samples)].slice(0, SAMPLES), outside, has };
  }

  #repeated(body: Node): Node {
    const found = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/.exec(this.#source.slice(this.#at));
    if (found === null) return body;
    this.#at += found[0].length;
    const [mark, least, comma, most] = found;
    const lazy = mark.length > 1 && mark.endsWith('?');
    if (mark.startsWith('*')) return { kind: 'repeat', body, min: 0, max: Infinity, lazy };
    if (mark.startsWith('+')) return { kind: 'repeat', body, min: 1, max: Infinity, lazy };
    if (mark.startsWith('?')) return { kind: 'repeat', body, min: 0, max: 1, lazy };
    const min = Number(least);
    return {
      kind: 'repeat',
      body,
      min,
      max: comma === '' ? min : most === '' ? Infinity : Number(most),
      lazy,
    };
  }

  #takes(mark: string): boolean {
    if (this.#source[this.#at] !== mark) return false;
    this.#at += 1;
    return true;
  }
}

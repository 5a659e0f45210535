import type { SaidUsage } from '#domain/count-usage.ts';
import { fieldsOf, type Fields } from './fields.ts';
import { SaidFigures } from './said-figures.ts';
import { UNKNOWN_USAGE } from './session.ts';
import {
  addCounts,
  growCounts,
  toOwnCounts,
  toTokens,
  type Counts,
  type TotalCounts,
} from './token-counts.ts';

interface Thread {
  before: Counts | undefined;
  now: TotalCounts | undefined;
}

const NOTHING: Counts = { input: 0, output: 0, cached: 0 };

/**
 * Codex tells the total of a thread, all its earlier runs included, and tells it more than once. What this run used
 * is the difference to what the total was when its first turn began. Helpers of the agent have threads of their own.
 */
export class CodexUsage {
  readonly #figures = new SaidFigures();
  readonly #threads = new Map<string, Thread>();
  readonly #resumed: boolean;
  #hasBegun = false;
  #model: string | null = null;

  constructor({ resumed }: { readonly resumed: boolean }) {
    this.#resumed = resumed;
  }

  noteModel(name: string | undefined): void {
    this.#model = name ?? this.#model;
  }

  beginTurn(): void {
    this.#hasBegun = true;
  }

  /**
   * The first report on a thread that is gone on with, before the first turn, is what was used before; no other is.
   * Says whether something of this run is new.
   */
  note(usage: Fields, { thread, own }: ToldOf): boolean {
    const total = this.#toCounts(fieldsOf(usage['total']));
    if (total === undefined) return false;
    const known = this.#threads.get(thread) ?? { before: undefined, now: undefined };
    this.#threads.set(thread, known);
    if (own && this.#resumed && !this.#hasBegun && known.before === undefined) {
      known.before = total;
      return false;
    }
    known.before ??= this.#findBefore(total, { own, last: fieldsOf(usage['last']) });
    known.now = growCounts(known.now, total);
    return true;
  }

  total(): SaidUsage {
    const used = [...this.#threads.values()].flatMap(({ before, now }) =>
      before === undefined || now === undefined ? [] : [toOwnCounts(now, before)],
    );
    return {
      ...UNKNOWN_USAGE,
      ...toTokens(used.reduce<Counts | undefined>(addCounts, undefined)),
      model: this.#model,
      ...(this.#figures.refused !== undefined && { refused: this.#figures.refused }),
    };
  }

  /** A thread of this run began with nothing. Of another the first request is all that is known to be of this run. */
  #findBefore(total: Counts, { own, last }: { readonly own: boolean; readonly last: Fields }): Counts {
    if (own && !this.#resumed) return NOTHING;
    return subtract(total, this.#toCounts(last) ?? total);
  }

  /** `inputTokens` has what came from the cache in it already. */
  #toCounts(breakdown: Fields): Counts | undefined {
    const input = this.#figures.tokens(breakdown['inputTokens']);
    const output = this.#figures.tokens(breakdown['outputTokens']);
    if (input === undefined || output === undefined) return undefined;
    return { input, output, cached: this.#figures.tokens(breakdown['cachedInputTokens']) ?? 0 };
  }
}

interface ToldOf {
  readonly thread: string;
  /** It is the thread of the agent itself. */
  readonly own: boolean;
}

function subtract(a: Counts, b: Counts): Counts {
  return {
    input: Math.max(0, a.input - b.input),
    output: Math.max(0, a.output - b.output),
    cached: Math.max(0, a.cached - b.cached),
  };
}

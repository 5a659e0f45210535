import type { SaidUsage } from '#domain/count-usage.ts';
import { countOf, fieldsOf, type Fields } from './fields.ts';
import { UNKNOWN_USAGE } from './session.ts';

interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

interface Thread {
  before: Counts | undefined;
  now: Counts | undefined;
}

/**
 * Codex tells the total of a thread, all its earlier runs included, and tells it more than once. What this run used
 * is the difference to what the total was when its first turn began. Helpers of the agent have threads of their own.
 */
export class CodexUsage {
  readonly #threads = new Map<string, Thread>();
  readonly #turns = new Set<string>();
  #model: string | null = null;

  noteModel(name: string | undefined): void {
    this.#model = name ?? this.#model;
  }

  beginTurn(id: string): void {
    this.#turns.add(id);
  }

  /**
   * Of an earlier turn when a thread is gone on with: then it is what was used before. Says whether something of this
   * run is new.
   */
  note(usage: Fields, { thread, own, turn }: ToldOf): boolean {
    const total = toCounts(fieldsOf(usage['total']));
    if (total === undefined) return false;
    const known = this.#threads.get(thread) ?? { before: undefined, now: undefined };
    this.#threads.set(thread, known);
    if (own && turn !== undefined && !this.#turns.has(turn)) {
      known.before = total;
      return false;
    }
    // Without a word before the turn the first request of it is all that may be taken off.
    known.before ??= subtract(total, toCounts(fieldsOf(usage['last'])) ?? total);
    known.now = total;
    return true;
  }

  total(): SaidUsage {
    const used = [...this.#threads.values()].flatMap(({ before, now }) =>
      before === undefined || now === undefined ? [] : [subtract(now, before)],
    );
    if (used.length === 0) return { ...UNKNOWN_USAGE, model: this.#model };
    const sum = (of: (counts: Counts) => number): number => used.reduce((all, one) => all + of(one), 0);
    return {
      ...UNKNOWN_USAGE,
      input_tokens: sum(({ input }) => input),
      output_tokens: sum(({ output }) => output),
      cached_tokens: sum(({ cached }) => cached),
      model: this.#model,
    };
  }
}

interface ToldOf {
  readonly thread: string;
  /** It is the thread of the agent itself. */
  readonly own: boolean;
  readonly turn: string | undefined;
}

/** `inputTokens` has what came from the cache in it already. */
function toCounts(breakdown: Fields): Counts | undefined {
  const input = countOf(breakdown['inputTokens']);
  const output = countOf(breakdown['outputTokens']);
  if (input === undefined || output === undefined) return undefined;
  return { input, output, cached: countOf(breakdown['cachedInputTokens']) ?? 0 };
}

function subtract(a: Counts, b: Counts): Counts {
  return {
    input: Math.max(0, a.input - b.input),
    output: Math.max(0, a.output - b.output),
    cached: Math.max(0, a.cached - b.cached),
  };
}

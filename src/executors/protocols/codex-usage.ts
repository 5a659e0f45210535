import type { RunUsage } from '#contract/attempt.ts';
import { countOf, fieldsOf, type Fields } from './fields.ts';

interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/**
 * Codex tells the total of the thread, all its earlier runs included, and tells it more than once. What this run used
 * is the difference to what the total was when its first turn began.
 */
export class CodexUsage {
  #before: Counts | undefined;
  #now: Counts | undefined;
  readonly #turns = new Set<string>();

  beginTurn(id: string): void {
    this.#turns.add(id);
  }

  /** Of an earlier turn when a thread is gone on with: then it is what was used before. */
  note(usage: Fields, turn_id: string | undefined): void {
    const total = toCounts(fieldsOf(usage['total']));
    if (total === undefined) return;
    if (turn_id !== undefined && !this.#turns.has(turn_id)) this.#before = total;
    else {
      // Without a word before the turn the first request of it is all that may be taken off.
      this.#before ??= subtract(total, toCounts(fieldsOf(usage['last'])) ?? total);
      this.#now = total;
    }
  }

  total(): RunUsage {
    if (this.#now === undefined || this.#before === undefined)
      return { input_tokens: null, output_tokens: null, cached_tokens: null, cost_usd: null };
    const used = subtract(this.#now, this.#before);
    return {
      input_tokens: used.input,
      output_tokens: used.output,
      cached_tokens: used.cached,
      cost_usd: null,
    };
  }
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

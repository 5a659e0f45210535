import type { RunUsage } from '#contract/attempt.ts';
import { countOf, fieldsOf, numberOf, textOf, type Fields } from './fields.ts';
import { UNKNOWN_USAGE } from './session.ts';

/**
 * The protocol leaves open whether an agent counts the turn or the whole session. Both are the same for the one turn
 * of a new session, and only then the tokens are known. The cost is said to be that of the session.
 */
export class AcpUsage {
  readonly #resumed: boolean;
  #turns = 0;
  #tokens: Omit<RunUsage, 'cost_usd'> = UNKNOWN_USAGE;
  #cost_before: number | undefined;
  #cost: number | undefined;

  constructor(options: { readonly resumed: boolean }) {
    this.#resumed = options.resumed;
    if (!options.resumed) this.#cost_before = 0;
  }

  beginTurn(): void {
    this.#turns += 1;
  }

  noteTurn(usage: Fields): void {
    if (this.#resumed || this.#turns > 1) {
      this.#tokens = UNKNOWN_USAGE;
      return;
    }
    const cached = countOf(usage['cachedReadTokens']);
    this.#tokens = {
      input_tokens: countOf(usage['inputTokens']) ?? null,
      output_tokens: countOf(usage['outputTokens']) ?? null,
      cached_tokens: cached ?? null,
    };
  }

  noteUpdate(update: Fields): void {
    if (update['sessionUpdate'] !== 'usage_update') return;
    const cost = fieldsOf(update['cost']);
    const amount = numberOf(cost['amount']);
    if (amount === undefined || textOf(cost['currency']) !== 'USD') return;
    if (this.#turns === 0) this.#cost_before = amount;
    else this.#cost = amount;
  }

  total(): RunUsage {
    const { input_tokens, output_tokens, cached_tokens } = this.#tokens;
    const known = this.#cost !== undefined && this.#cost_before !== undefined;
    const cost_usd = known ? Math.max(0, (this.#cost ?? 0) - (this.#cost_before ?? 0)) : null;
    return { input_tokens, output_tokens, cached_tokens, cost_usd };
  }
}

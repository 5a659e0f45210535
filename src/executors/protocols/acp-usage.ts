import type { RunUsage } from '#contract/attempt.ts';
import { countOf, fieldsOf, numberOf, textOf, type Fields } from './fields.ts';
import { UNKNOWN_USAGE } from './session.ts';

/**
 * What the tokens at the end of a turn are said to be.
 * - `unclear`: the protocol leaves open whether it is the turn or the whole session. Both are the same for the one turn
 *   of a new session, and only then the tokens are known.
 * - `last_request`: of the turn's last request to the model alone. With a tool call there was more than one.
 */
export type AcpCounts = 'unclear' | 'last_request';

type Tokens = Omit<RunUsage, 'cost_usd'>;

/** The cost is said to be that of the session. */
export class AcpUsage {
  readonly #options: { readonly resumed: boolean; readonly counts: AcpCounts };
  #turns = 0;
  /** Calls of tools in the turn at work. */
  #calls = 0;
  /** Undefined as long as no turn has ended; unknown for good after one that is. */
  #tokens: Tokens | undefined;
  #cost_before: number | undefined;
  #cost: number | undefined;

  constructor(options: { readonly resumed: boolean; readonly counts: AcpCounts }) {
    this.#options = options;
    if (!options.resumed) this.#cost_before = 0;
  }

  beginTurn(): void {
    this.#turns += 1;
    this.#calls = 0;
  }

  noteTurn(result: Fields): void {
    const turn = this.#toTokens(result);
    this.#tokens = this.#tokens === undefined ? turn : addTokens(this.#tokens, turn);
  }

  noteUpdate(update: Fields): void {
    if (update['sessionUpdate'] === 'tool_call') this.#calls += 1;
    if (update['sessionUpdate'] !== 'usage_update') return;
    const cost = fieldsOf(update['cost']);
    const amount = numberOf(cost['amount']);
    if (amount === undefined || textOf(cost['currency']) !== 'USD') return;
    if (this.#turns === 0) this.#cost_before = amount;
    else this.#cost = amount;
  }

  total(): RunUsage {
    const { input_tokens, output_tokens, cached_tokens } = this.#tokens ?? UNKNOWN_USAGE;
    const known = this.#cost !== undefined && this.#cost_before !== undefined;
    const cost_usd = known ? Math.max(0, (this.#cost ?? 0) - (this.#cost_before ?? 0)) : null;
    return { input_tokens, output_tokens, cached_tokens, cost_usd };
  }

  #toTokens(result: Fields): Tokens {
    const quota = toQuota(result);
    if (quota !== undefined) return quota;
    const known =
      this.#options.counts === 'last_request'
        ? this.#calls === 0
        : !this.#options.resumed && this.#turns === 1;
    return known ? toTokens(fieldsOf(result['usage'])) : UNKNOWN_USAGE;
  }
}

/** Gemini CLI says it in a place of its own, and counts all requests of the turn. */
function toQuota(result: Fields): Tokens | undefined {
  const counted = fieldsOf(fieldsOf(fieldsOf(result['_meta'])['quota'])['token_count']);
  const input_tokens = countOf(counted['input_tokens']);
  const output_tokens = countOf(counted['output_tokens']);
  if (input_tokens === undefined || output_tokens === undefined) return undefined;
  return { input_tokens, output_tokens, cached_tokens: null };
}

function toTokens(usage: Fields): Tokens {
  const input = countOf(usage['inputTokens']);
  const cached = countOf(usage['cachedReadTokens']);
  return {
    input_tokens: input === undefined ? null : input + findApart(usage),
    output_tokens: countOf(usage['outputTokens']) ?? null,
    cached_tokens: cached ?? null,
  };
}

/** What the cache gave or took, where the sum says that it is not part of the input. */
function findApart(usage: Fields): number {
  const of = (name: string): number => countOf(usage[name]) ?? 0;
  const cache = of('cachedReadTokens') + of('cachedWriteTokens');
  const rest = of('totalTokens') - of('inputTokens') - of('outputTokens');
  return rest === cache || rest === cache + of('thoughtTokens') ? cache : 0;
}

function addTokens(sum: Tokens, turn: Tokens): Tokens {
  const add = (a: number | null, b: number | null): number | null =>
    a === null || b === null ? null : a + b;
  return {
    input_tokens: add(sum.input_tokens, turn.input_tokens),
    output_tokens: add(sum.output_tokens, turn.output_tokens),
    cached_tokens: add(sum.cached_tokens, turn.cached_tokens),
  };
}

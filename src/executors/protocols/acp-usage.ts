import type { SaidUsage, Tokens } from '#domain/count-usage.ts';
import type { SessionCounts } from '../executor.ts';
import { countOf, fieldsOf, listOf, numberOf, textOf, type Fields } from './fields.ts';
import { UNKNOWN_USAGE } from './session.ts';

/**
 * What the tokens at the end of a turn are said to be.
 * - `unclear`: the protocol leaves open whether it is the turn or the whole session. Both are the same for the one turn
 *   of a new session, and only then the tokens are known.
 * - `last_request`: of the turn's last request to the model alone. With a tool call there was more than one.
 */
export type AcpCounts = 'unclear' | 'last_request';

export interface AcpUsageOptions {
  readonly resumed: boolean;
  readonly counts: AcpCounts;
  readonly model: string | undefined;
  /** Reads the books, where the agent keeps some that are known. */
  readonly readBooks?: ((session_id: string) => SessionCounts | undefined) | undefined;
}

/** The cost is said to be that of the session. */
export class AcpUsage {
  readonly #options: AcpUsageOptions;
  #turns = 0;
  /** Calls of tools in the turn at work. */
  #calls = 0;
  /** Undefined as long as no turn has ended; unknown for good after one that is. */
  #tokens: Tokens | undefined;
  #cost: number | undefined;
  #model: string | undefined;
  #session = '';
  #before: SessionCounts | undefined;

  constructor(options: AcpUsageOptions) {
    this.#options = options;
    this.#model = options.model;
  }

  noteModel(name: string | undefined): void {
    this.#model = name ?? this.#model;
  }

  /** Before the first prompt: what the books say now is what was used before. */
  openSession(id: string): void {
    this.#session = id;
    this.#before = this.#options.readBooks?.(id);
    if (this.#before === undefined && !this.#options.resumed)
      this.#before = { input: 0, output: 0, cached: 0, cost_usd: 0 };
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
    // Nothing at all is what an agent says that knows no price of the model.
    if (amount === undefined || amount === 0 || textOf(cost['currency']) !== 'USD') return;
    this.#cost = amount;
  }

  /** Whether there is something new in what was used: books are written after each request, so after each tool. */
  isTold({ sessionUpdate, status }: Fields): boolean {
    if (sessionUpdate === 'usage_update') return true;
    const isAfterTool = sessionUpdate === 'tool_call_update' && status === 'completed';
    return isAfterTool && this.#options.readBooks !== undefined;
  }

  total(): SaidUsage {
    const booked = this.#readBooks();
    const tokens = booked?.tokens ?? this.#tokens ?? UNKNOWN_USAGE;
    const usd = Math.max(this.#cost ?? 0, booked?.cost_usd ?? 0);
    return {
      input_tokens: tokens.input_tokens,
      output_tokens: tokens.output_tokens,
      cached_tokens: tokens.cached_tokens,
      cost: usd > 0 ? { usd, of: 'session' } : null,
      since_cost: null,
      model: this.#model ?? null,
    };
  }

  #readBooks(): { readonly tokens: Tokens; readonly cost_usd: number } | undefined {
    const before = this.#before;
    const now = this.#session === '' ? undefined : this.#options.readBooks?.(this.#session);
    if (now === undefined || before === undefined) return undefined;
    const since = (of: (counts: SessionCounts) => number): number => Math.max(0, of(now) - of(before));
    const tokens = {
      input_tokens: since(({ input }) => input),
      output_tokens: since(({ output }) => output),
      cached_tokens: since(({ cached }) => cached),
    };
    return { tokens, cost_usd: now.cost_usd };
  }

  #toTokens(result: Fields): Tokens {
    const quota = fieldsOf(fieldsOf(result['_meta'])['quota']);
    this.noteModel(textOf(listOf(quota['model_usage'])[0]?.['model']));
    const counted = toQuota(quota);
    if (counted !== undefined) return counted;
    const known =
      this.#options.counts === 'last_request'
        ? this.#calls === 0
        : !this.#options.resumed && this.#turns === 1;
    return known ? toTokens(fieldsOf(result['usage'])) : UNKNOWN_USAGE;
  }
}

/** Gemini CLI says it in a place of its own, and counts all requests of the turn. */
function toQuota(quota: Fields): Tokens | undefined {
  const counted = fieldsOf(quota['token_count']);
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

import type { SaidUsage, Tokens } from '#domain/count-usage.ts';
import { growTotal, sumTotal, type SaidTotal } from '#domain/said-total.ts';
import type { SessionCounts } from '../executor.ts';
import { fieldsOf, listOf, textOf, type Fields } from './fields.ts';
import { toSaidCost } from './said-cost.ts';
import { SaidFigures } from './said-figures.ts';
import { UNKNOWN_USAGE } from './session.ts';
import { growCounts, toOwnCounts, toTokens, type TotalCounts } from './token-counts.ts';

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

/** What the books of an agent said in this run; the agent can change them, or take them away. */
interface Booked {
  readonly counts: TotalCounts;
  readonly cost: SaidTotal;
}

/** The cost is said to be that of the session. */
export class AcpUsage {
  readonly #options: AcpUsageOptions;
  readonly #figures = new SaidFigures();
  #turns = 0;
  /** Calls of tools in the turn at work. */
  #calls = 0;
  /** Undefined as long as no turn has ended; unknown for good after one that is. */
  #tokens: Tokens | undefined;
  #cost: SaidTotal | undefined;
  #model: string | undefined;
  #session = '';
  #before: SessionCounts | undefined;
  #booked: Booked | undefined;

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
    const amount = this.#figures.usd(cost['amount']);
    if (amount === undefined || textOf(cost['currency']) !== 'USD') return;
    // Nothing at all is what an agent says that knows no price of the model.
    if (amount === 0 && this.#cost === undefined) return;
    // What comes by before the first turn is history.
    this.#cost = growTotal(this.#turns === 0 ? undefined : this.#cost, amount);
  }

  /** Whether there is something new in what was used: books are written after each request, so after each tool. */
  isTold({ sessionUpdate, status }: Fields): boolean {
    if (sessionUpdate === 'usage_update') return true;
    const isAfterTool = sessionUpdate === 'tool_call_update' && status === 'completed';
    return isAfterTool && this.#options.readBooks !== undefined;
  }

  total(): SaidUsage {
    this.#noteBooks();
    const tokens = this.#toBookedTokens() ?? this.#tokens ?? UNKNOWN_USAGE;
    const costs = [this.#cost, this.#booked?.cost].filter((cost) => cost !== undefined);
    const [cost] = costs.filter((one) => sumTotal(one) > 0).toSorted((a, b) => sumTotal(b) - sumTotal(a));
    return {
      input_tokens: tokens.input_tokens,
      output_tokens: tokens.output_tokens,
      cached_tokens: tokens.cached_tokens,
      cost: toSaidCost(cost, 'session'),
      since_cost: null,
      model: this.#model ?? null,
      ...(this.#figures.refused !== undefined && { refused: this.#figures.refused }),
    };
  }

  #noteBooks(): void {
    const now = this.#session === '' ? undefined : this.#options.readBooks?.(this.#session);
    if (now === undefined) return;
    const counts = [now.input, now.output, now.cached].map((count) => this.#figures.tokens(count));
    const usd = this.#figures.usd(now.cost_usd);
    if (counts.includes(undefined) || usd === undefined) return;
    this.#booked = {
      counts: growCounts(this.#booked?.counts, now),
      cost: growTotal(this.#booked?.cost, usd),
    };
  }

  #toBookedTokens(): Tokens | undefined {
    if (this.#booked === undefined || this.#before === undefined) return undefined;
    return toTokens(toOwnCounts(this.#booked.counts, this.#before));
  }

  #toTokens(result: Fields): Tokens {
    const quota = fieldsOf(fieldsOf(result['_meta'])['quota']);
    this.noteModel(textOf(listOf(quota['model_usage'])[0]?.['model']));
    const counted = this.#toQuota(quota);
    if (counted !== undefined) return counted;
    const known =
      this.#options.counts === 'last_request'
        ? this.#calls === 0
        : !this.#options.resumed && this.#turns === 1;
    return known ? this.#toTurnTokens(fieldsOf(result['usage'])) : UNKNOWN_USAGE;
  }

  /** Gemini CLI says it in a place of its own, and counts all requests of the turn. */
  #toQuota(quota: Fields): Tokens | undefined {
    const counted = fieldsOf(quota['token_count']);
    const input_tokens = this.#figures.tokens(counted['input_tokens']);
    const output_tokens = this.#figures.tokens(counted['output_tokens']);
    if (input_tokens === undefined || output_tokens === undefined) return undefined;
    return { input_tokens, output_tokens, cached_tokens: null };
  }

  #toTurnTokens(usage: Fields): Tokens {
    const of = (name: string): number | undefined => this.#figures.tokens(usage[name]);
    const input = of('inputTokens');
    return {
      input_tokens: input === undefined ? null : input + findApart((name) => of(name) ?? 0),
      output_tokens: of('outputTokens') ?? null,
      cached_tokens: of('cachedReadTokens') ?? null,
    };
  }
}

/** What the cache gave or took, where the sum says that it is not part of the input. */
function findApart(of: (name: string) => number): number {
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

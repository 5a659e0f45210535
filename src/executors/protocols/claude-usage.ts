import type { SaidUsage } from '#domain/count-usage.ts';
import { growTotal, type SaidTotal } from '#domain/said-total.ts';
import { fieldsOf, listOf, textOf, type Fields } from './fields.ts';
import { SaidFigures } from './said-figures.ts';
import { toSaidCost } from './said-cost.ts';
import { addCounts, toLargest, toTokens, type Counts } from './token-counts.ts';

/** How many characters are about a token. */
const CHARACTERS = 4;

/** What a message says that its request used, and how much that is with a guess at what was written. */
interface Message {
  readonly said: Counts;
  readonly guessed: Counts;
}

/**
 * Claude tells at the end of a turn what that turn used, and what the whole session has cost, its earlier runs
 * included. In the middle of a turn each message says what its request read; what it wrote is not known by then and
 * is guessed from its length. A turn never counts for less than its messages said, and a cost that falls begins anew.
 */
export class ClaudeUsage {
  readonly #figures = new SaidFigures();
  /** Of the turns that have ended; undefined as long as none has said. */
  #ended: Counts | undefined;
  /** Of the turns that have ended since the cost was said. */
  #since_cost: Counts | undefined;
  /** Of turns whose result counts nothing, as that of an interrupted turn: no cost has them in it. */
  #unpaid: Counts | undefined;
  /** Of the turn at work, by message: each piece of one comes in a line of its own, with the same figures. */
  #working = new Map<string, Message>();
  #cost: SaidTotal | undefined;
  #model: string | null = null;

  noteModel(name: string | undefined): void {
    this.#model ??= name ?? null;
  }

  /** Whether it said something new. */
  noteMessage(message: Fields): boolean {
    const usage = fieldsOf(message['usage']);
    const id = textOf(message['id']);
    const read = this.#toCounts(usage);
    if (id === undefined || read === undefined) return false;
    this.noteModel(textOf(message['model']));
    const before = this.#working.get(id);
    const said = toLargest(before?.said, read) ?? read;
    const written = Math.ceil(JSON.stringify(listOf(message['content'])).length / CHARACTERS);
    const output = Math.max((before?.guessed.output ?? 0) + written, said.output);
    this.#working.set(id, { said, guessed: { ...said, output } });
    return true;
  }

  noteResult(result: Fields): void {
    const told =
      this.#sumModels(result['model_usage_since_last_result']) ?? this.#toCounts(fieldsOf(result['usage']));
    const messages = this.#sumMessages('said');
    const turn = toLargest(told, messages);
    this.#ended = addCounts(this.#ended, turn);
    this.#working = new Map();
    const usd = this.#figures.usd(result['total_cost_usd']);
    if (usd !== undefined) this.#cost = growTotal(this.#cost, usd);
    if (isNothing(told)) this.#unpaid = addCounts(this.#unpaid, messages);
    else if (usd === undefined) this.#since_cost = addCounts(this.#since_cost, turn);
    if (usd !== undefined) this.#since_cost = undefined;
  }

  total(): SaidUsage {
    const working = this.#sumMessages('guessed');
    const since_cost = addCounts(addCounts(this.#unpaid, this.#since_cost), working);
    return {
      ...toTokens(addCounts(this.#ended, working)),
      cost: toSaidCost(this.#cost, 'session'),
      since_cost: since_cost === undefined ? null : toTokens(since_cost),
      model: this.#model,
      ...(this.#figures.refused !== undefined && { refused: this.#figures.refused }),
    };
  }

  #sumMessages(of: keyof Message): Counts | undefined {
    return [...this.#working.values()].map((one) => one[of]).reduce<Counts | undefined>(addCounts, undefined);
  }

  /** Of every model that the turn asked, the helpers of the agent included. */
  #sumModels(models: unknown): Counts | undefined {
    const each = Object.values(fieldsOf(models)).map(fieldsOf);
    if (each.length === 0) return undefined;
    const sum = (name: string): number =>
      each.reduce((total, one) => total + (this.#figures.tokens(one[name]) ?? 0), 0);
    const cached = sum('cacheReadInputTokens');
    const input = sum('inputTokens') + cached + sum('cacheCreationInputTokens');
    return { input, output: sum('outputTokens'), cached };
  }

  /** Claude counts what it read from the cache apart from the input; we count it as part of it. */
  #toCounts(usage: Fields): Counts | undefined {
    const of = (name: string): number | undefined => this.#figures.tokens(usage[name]);
    const fresh = of('input_tokens');
    if (fresh === undefined) return undefined;
    const cached = of('cache_read_input_tokens') ?? 0;
    const written = of('cache_creation_input_tokens') ?? 0;
    return { input: fresh + cached + written, output: of('output_tokens') ?? 0, cached };
  }
}

function isNothing(counts: Counts | undefined): boolean {
  return counts?.input === 0 && counts.output === 0;
}

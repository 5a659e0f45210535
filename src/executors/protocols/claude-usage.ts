import type { SaidUsage, Tokens } from '#domain/count-usage.ts';
import { countOf, fieldsOf, listOf, numberOf, textOf, type Fields } from './fields.ts';

interface Counts {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

/** How many characters are about a token. */
const CHARACTERS = 4;

/**
 * Claude tells at the end of a turn what that turn used, and what the whole session has cost, its earlier runs
 * included. In the middle of a turn each message says what its request read; what it wrote is not known by then and
 * is guessed from its length.
 */
export class ClaudeUsage {
  /** Of the turns that have ended; undefined as long as none has said. */
  #ended: Counts | undefined;
  /** Of the turn at work, by message: each piece of one comes in a line of its own, with the same figures. */
  #working = new Map<string, Counts>();
  #cost: number | undefined;
  #model: string | null = null;

  noteModel(name: string | undefined): void {
    this.#model ??= name ?? null;
  }

  /** Whether it said something new. */
  noteMessage(message: Fields): boolean {
    const usage = fieldsOf(message['usage']);
    const id = textOf(message['id']);
    const read = toCounts(usage);
    if (id === undefined || read === undefined) return false;
    this.noteModel(textOf(message['model']));
    const before = this.#working.get(id);
    const written = Math.ceil(JSON.stringify(listOf(message['content'])).length / CHARACTERS);
    const output = (before?.output ?? 0) + written;
    this.#working.set(id, { ...read, output: Math.max(output, read.output) });
    return true;
  }

  noteResult(result: Fields): void {
    const turn = sumModels(result['model_usage_since_last_result']) ?? toCounts(fieldsOf(result['usage']));
    this.#ended = add(this.#ended, turn);
    this.#working = new Map();
    this.#cost = numberOf(result['total_cost_usd']) ?? this.#cost;
  }

  total(): SaidUsage {
    const working = [...this.#working.values()].reduce<Counts | undefined>(add, undefined);
    return {
      ...toTokens(add(this.#ended, working)),
      cost: this.#cost === undefined ? null : { usd: this.#cost, of: 'session' },
      since_cost: working === undefined ? null : toTokens(working),
      model: this.#model,
    };
  }
}

/** Of every model that the turn asked, the helpers of the agent included. */
function sumModels(models: unknown): Counts | undefined {
  const each = Object.values(fieldsOf(models)).map(fieldsOf);
  if (each.length === 0) return undefined;
  const sum = (name: string): number => each.reduce((total, one) => total + (countOf(one[name]) ?? 0), 0);
  const cached = sum('cacheReadInputTokens');
  const input = sum('inputTokens') + cached + sum('cacheCreationInputTokens');
  return { input, output: sum('outputTokens'), cached };
}

/** Claude counts what it read from the cache apart from the input; we count it as part of it. */
function toCounts(usage: Fields): Counts | undefined {
  const fresh = countOf(usage['input_tokens']);
  if (fresh === undefined) return undefined;
  const cached = countOf(usage['cache_read_input_tokens']) ?? 0;
  const written = countOf(usage['cache_creation_input_tokens']) ?? 0;
  return { input: fresh + cached + written, output: countOf(usage['output_tokens']) ?? 0, cached };
}

function add(sum: Counts | undefined, more: Counts | undefined): Counts | undefined {
  if (sum === undefined || more === undefined) return sum ?? more;
  return {
    input: sum.input + more.input,
    output: sum.output + more.output,
    cached: sum.cached + more.cached,
  };
}

function toTokens(counts: Counts | undefined): Tokens {
  return {
    input_tokens: counts?.input ?? null,
    output_tokens: counts?.output ?? null,
    cached_tokens: counts?.cached ?? null,
  };
}

import type { Run, RunUsage } from '#contract/attempt.ts';
import type { Price } from './price-table.ts';

export interface Tokens {
  /** What came from a cache is part of it. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
}

/** What a program says of what its run has used so far. Null where it does not say. */
export interface SaidUsage extends Tokens {
  /** Of this run alone, or of the whole session with all its earlier runs. */
  readonly cost: { readonly usd: number; readonly of: 'run' | 'session' } | null;
  /** Tokens that were used after the program said the cost; null where there are none. */
  readonly since_cost: Tokens | null;
  readonly model: string | null;
}

export const NO_USAGE: RunUsage = {
  input_tokens: null,
  output_tokens: null,
  cached_tokens: null,
  cost_usd: null,
  cost_source: null,
  session_cost_usd: null,
};

export interface CountingFacts {
  /** What the session had cost before this run. */
  readonly before_usd: number;
  readonly findPrice: (model: string) => Price | undefined;
}

/** What one run has used. A cost of the whole session counts once: what earlier runs of the session had is taken off. */
export function countUsage(said: SaidUsage, { before_usd, findPrice }: CountingFacts): RunUsage {
  const tokens = toTokens(said);
  const since_cost = said.since_cost === null ? null : toTokens(said.since_cost);
  const cost = said.cost !== null && isAmount(said.cost.usd) ? said.cost : null;
  const session_cost_usd = cost?.of === 'session' ? cost.usd : null;
  const price = said.model === null ? undefined : findPrice(said.model);
  if (cost === null) {
    const cost_usd = price === undefined ? null : priceTokens(tokens, price);
    return { ...tokens, cost_usd, cost_source: cost_usd === null ? null : 'estimated', session_cost_usd };
  }
  const own = cost.of === 'session' ? takeOff(cost.usd, before_usd) : cost.usd;
  const more = since_cost === null || price === undefined ? null : priceTokens(since_cost, price);
  return {
    ...tokens,
    cost_usd: round(own + (more ?? 0)),
    cost_source: more === null ? 'reported' : 'estimated',
    session_cost_usd,
  };
}

/** What is said below nothing would take off what others have used. */
function isAmount(count: number): boolean {
  return Number.isFinite(count) && count >= 0;
}

function toTokens({ input_tokens, output_tokens, cached_tokens }: Tokens): Tokens {
  const known = (count: number | null): number | null => (count !== null && isAmount(count) ? count : null);
  return {
    input_tokens: known(input_tokens),
    output_tokens: known(output_tokens),
    cached_tokens: known(cached_tokens),
  };
}

/** A total that is smaller than it was has begun anew. */
function takeOff(total: number, before: number): number {
  return total < before ? total : round(total - before);
}

/** What the session of a run had cost when its program last said so, by the runs before it, the oldest first. */
export function findSessionCost(
  runs: readonly Pick<Run, 'id' | 'session_id' | 'usage'>[],
  { id, session_id }: Pick<Run, 'id' | 'session_id'>,
): number {
  const own = runs.filter((run) => run.id !== id && session_id !== null && run.session_id === session_id);
  return own.map(({ usage }) => toSessionCost(usage)).findLast((usd) => usd !== null) ?? 0;
}

/** An older Forge kept the cost of the session as that of the run. */
function toSessionCost({ session_cost_usd, cost_usd, cost_source }: RunUsage): number | null {
  return session_cost_usd ?? (cost_source === null ? cost_usd : null);
}

/** Null where it is not known what was used. */
function priceTokens(
  { input_tokens, output_tokens, cached_tokens }: Tokens,
  { input, cached, output }: Price,
): number | null {
  if (input_tokens === null || output_tokens === null) return null;
  const read = Math.min(cached_tokens ?? 0, input_tokens);
  return round(((input_tokens - read) * input + read * cached + output_tokens * output) / 1_000_000);
}

/** Sums of prices are not exact in binary; a millionth of a cent is. */
function round(usd: number): number {
  return Number(usd.toFixed(8));
}

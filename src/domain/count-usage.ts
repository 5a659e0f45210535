import type { Run, RunUsage } from '#contract/attempt.ts';
import type { Price } from './price-table.ts';
import { isBelievable, sumTotal, toOwnPart, type SaidTotal } from './said-total.ts';

export interface Tokens {
  /** What came from a cache is part of it. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_tokens: number | null;
}

/** What a program says of what its run has used so far. Null where it does not say. */
export interface SaidUsage extends Tokens {
  readonly cost: SaidCost | null;
  /** Tokens that were used after the program said the cost; null where there are none. */
  readonly since_cost: Tokens | null;
  readonly model: string | null;
  /** What it said and what cannot be true: `1e+300 USD`. It counts for nothing. */
  readonly refused?: string | undefined;
}

export interface SaidCost {
  readonly usd: number;
  /** Of this run alone, or of the whole session with all its earlier runs. */
  readonly of: 'run' | 'session';
  /** What it had said in this run before a total that was smaller. */
  readonly fallen_usd?: number | undefined;
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
  const cost = said.cost !== null && isBelievable(said.cost.usd, 'usd') ? said.cost : null;
  const session_cost_usd = cost?.of === 'session' ? cost.usd : null;
  const price = said.model === null ? undefined : findPrice(said.model);
  if (cost === null) {
    const cost_usd = price === undefined ? null : priceTokens(tokens, price);
    return { ...tokens, cost_usd, cost_source: cost_usd === null ? null : 'estimated', session_cost_usd };
  }
  const own = toOwnPart(toTotal(cost), cost.of === 'session' ? before_usd : 0);
  const more = since_cost === null || price === undefined ? null : priceTokens(since_cost, price);
  return {
    ...tokens,
    cost_usd: round(own + (more ?? 0)),
    cost_source: more === null ? 'reported' : 'estimated',
    session_cost_usd,
  };
}

/**
 * What a run has used, by what was counted before and now. What was known stays known; only an estimate gives way to
 * a smaller cost, that which the program says.
 */
export function keepCounted(before: RunUsage, now: RunUsage): RunUsage {
  const isSaid = now.cost_source === 'reported' && before.cost_source !== 'reported';
  const keepsCost = before.cost_usd !== null && !isSaid && before.cost_usd > (now.cost_usd ?? -1);
  const { cost_usd, cost_source } = keepsCost ? before : now;
  return {
    input_tokens: now.input_tokens ?? before.input_tokens,
    output_tokens: now.output_tokens ?? before.output_tokens,
    cached_tokens: now.cached_tokens ?? before.cached_tokens,
    cost_usd,
    cost_source,
    session_cost_usd: now.session_cost_usd ?? before.session_cost_usd,
  };
}

/** Whether the total of the session is not the one that earlier runs were told. */
export function hasBegunAnew({ cost }: SaidUsage, before_usd: number): boolean {
  return cost?.of === 'session' && sumTotal(toTotal(cost)) < before_usd;
}

function toTotal({ usd, fallen_usd }: SaidCost): SaidTotal {
  return { last: usd, fallen: fallen_usd ?? 0 };
}

function toTokens({ input_tokens, output_tokens, cached_tokens }: Tokens): Tokens {
  const known = (count: number | null): number | null =>
    count !== null && Number.isFinite(count) && count >= 0 ? count : null;
  return {
    input_tokens: known(input_tokens),
    output_tokens: known(output_tokens),
    cached_tokens: known(cached_tokens),
  };
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

import type { RunUsage } from '#contract/attempt.ts';
import { PRICES_AS_OF } from './price-table.ts';

/** `1200 tokens in, 30 out, 0.0120 USD`; a cost that the program did not say is told apart, and one that is not known too. */
export function describeUsage(usage: RunUsage): string {
  if (!isCounted(usage)) return 'unknown';
  const { input_tokens, output_tokens } = usage;
  return `${input_tokens ?? '?'} tokens in, ${output_tokens ?? '?'} out, ${describeCost(usage)}`;
}

export function describeCost({ cost_usd, cost_source }: Pick<RunUsage, 'cost_usd' | 'cost_source'>): string {
  if (cost_usd === null) return 'cost unknown';
  const usd = `${cost_usd.toFixed(4)} USD`;
  return cost_source === 'estimated' ? `about ${usd} (estimated by list prices of ${PRICES_AS_OF})` : usd;
}

/** Whether its program said anything of what it used. */
export function isCounted({ input_tokens, output_tokens, cost_usd }: RunUsage): boolean {
  return [input_tokens, output_tokens, cost_usd].some((count) => count !== null);
}

import type { SaidCost } from '#domain/count-usage.ts';
import type { SaidTotal } from '#domain/said-total.ts';

export function toSaidCost(total: SaidTotal | undefined, of: SaidCost['of']): SaidCost | null {
  if (total === undefined) return null;
  return { usd: total.last, of, ...(total.fallen > 0 && { fallen_usd: total.fallen }) };
}

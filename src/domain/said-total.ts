import { LIMITS } from '#kernel/limits.ts';

/**
 * A total that a program says over and over. One that is smaller than it was has begun anew, so what was said before
 * the fall is added: within a run no report makes less of what was counted.
 */
export interface SaidTotal {
  readonly last: number;
  /** The sum of what was said last before each fall. */
  readonly fallen: number;
}

export function growTotal(total: SaidTotal | undefined, said: number): SaidTotal {
  if (total === undefined) return { last: said, fallen: 0 };
  return { last: said, fallen: said < total.last ? total.fallen + total.last : total.fallen };
}

export function sumTotal({ last, fallen }: SaidTotal): number {
  return last + fallen;
}

/** Without what the total had been before the run. One that is smaller than that has begun anew. */
export function toOwnPart(total: SaidTotal, before: number): number {
  const sum = sumTotal(total);
  return sum < before ? sum : sum - before;
}

/** A program that says less than nothing, or more than any run can use, does not know what it used. */
export function isBelievable(amount: number, unit: 'usd' | 'tokens'): boolean {
  const most = unit === 'usd' ? LIMITS.usage_usd : LIMITS.usage_tokens;
  return Number.isFinite(amount) && amount >= 0 && amount <= most;
}

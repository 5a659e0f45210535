import type { Tokens } from '#domain/count-usage.ts';
import { growTotal, toOwnPart, type SaidTotal } from '#domain/said-total.ts';

export interface Counts {
  /** What came from a cache is part of it. */
  readonly input: number;
  readonly output: number;
  readonly cached: number;
}

export function addCounts(sum: Counts | undefined, more: Counts | undefined): Counts | undefined {
  if (sum === undefined || more === undefined) return sum ?? more;
  return mapCounts((name) => sum[name] + more[name]);
}

export function toLargest(a: Counts | undefined, b: Counts | undefined): Counts | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return mapCounts((name) => Math.max(a[name], b[name]));
}

export function toTokens(counts: Counts | undefined): Tokens {
  return {
    input_tokens: counts?.input ?? null,
    output_tokens: counts?.output ?? null,
    cached_tokens: counts?.cached ?? null,
  };
}

/** Totals that a program says over and over; each falls by itself. */
export type TotalCounts = Readonly<Record<keyof Counts, SaidTotal>>;

export function growCounts(total: TotalCounts | undefined, said: Counts): TotalCounts {
  return mapCounts((name) => growTotal(total?.[name], said[name]));
}

export function toOwnCounts(total: TotalCounts, before: Counts): Counts {
  return mapCounts((name) => toOwnPart(total[name], before[name]));
}

function mapCounts<T>(to: (name: keyof Counts) => T): Readonly<Record<keyof Counts, T>> {
  return { input: to('input'), output: to('output'), cached: to('cached') };
}

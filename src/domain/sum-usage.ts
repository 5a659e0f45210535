import type { Run, RunUsage } from '#contract/attempt.ts';
import type { Cost } from '#contract/report-operations.ts';

type CountedRun = Pick<Run, 'usage' | 'started_at' | 'ended_at'>;

/** What runs have cost together. What a program did not say is counted as unknown, never as nothing. */
export function sumUsage(runs: readonly CountedRun[], now: number): Cost {
  const costs = runs.map(({ usage }) => readCost(usage));
  const sum = (counts: readonly (number | null)[]): number | null =>
    counts.every((count) => count === null)
      ? null
      : counts.reduce<number>((total, count) => total + (count ?? 0), 0);
  return {
    runs: runs.length,
    minutes: runs.reduce((total, run) => total + toMinutes(run, now), 0),
    input_tokens: sum(runs.map(({ usage }) => usage.input_tokens)),
    output_tokens: sum(runs.map(({ usage }) => usage.output_tokens)),
    usd: sum(costs.map(({ usd }) => usd)),
    estimated: costs.some(({ basis }) => basis === 'estimated'),
    unknown: costs.filter(({ basis }) => basis === 'unknown').length,
  };
}

/** The one place that says what a run has cost, and how that is known. */
function readCost({ cost_usd, cost_source }: RunUsage): {
  readonly usd: number | null;
  readonly basis: 'reported' | 'estimated' | 'unknown';
} {
  return { usd: cost_usd, basis: cost_usd === null ? 'unknown' : (cost_source ?? 'reported') };
}

export function toMinutes({ started_at, ended_at }: Omit<CountedRun, 'usage'>, now: number): number {
  if (started_at === null) return 0;
  return ((ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)) / 60_000;
}

import type { RunUsage } from '#contract/attempt.ts';
import { countOf, fieldsOf, numberOf, type Fields } from './fields.ts';

/** Of one result. Claude counts what it read from the cache apart from the input; we count it as part of it. */
export function toClaudeUsage(result: Fields): RunUsage {
  const usage = fieldsOf(result['usage']);
  const fresh = countOf(usage['input_tokens']);
  const cached = countOf(usage['cache_read_input_tokens']);
  const written = countOf(usage['cache_creation_input_tokens']);
  return {
    input_tokens: fresh === undefined ? null : fresh + (cached ?? 0) + (written ?? 0),
    output_tokens: countOf(usage['output_tokens']) ?? null,
    cached_tokens: cached ?? null,
    cost_usd: numberOf(result['total_cost_usd']) ?? null,
  };
}

/** Tokens are counted a turn and are added; the cost is that of the whole process and replaces what was known. */
export function addUsage(sum: RunUsage, turn: RunUsage): RunUsage {
  return {
    input_tokens: add(sum.input_tokens, turn.input_tokens),
    output_tokens: add(sum.output_tokens, turn.output_tokens),
    cached_tokens: add(sum.cached_tokens, turn.cached_tokens),
    cost_usd: turn.cost_usd ?? sum.cost_usd,
  };
}

function add(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : a + b;
}

import { describe, expect, it } from 'vitest';
import { findPrice, PRICES_AS_OF } from './price-table.ts';

describe('[A12] the price of a model', () => {
  it.each([
    ['gpt-5', 1.25],
    ['gpt-5-2025-08-07', 1.25],
    ['gpt-5-mini', 0.25],
    ['openai/gpt-5.5', 5],
    ['claude-opus-4-5-20251101', 5],
    ['claude-opus-4-5@20251101', 5],
    ['claude-sonnet-4-5[1m]', 3],
    ['anthropic/claude-sonnet-5', 2],
    ['gemini-2.5-flash', 0.3],
    ['gemini-2.5-flash-lite', 0.1],
  ])('%s is in the table', (model, input) => {
    expect(findPrice(model)?.input).toBe(input);
  });

  it.each([
    'gpt-5-pro',
    'gpt-5.7',
    'gpt-55',
    'claude-opus-5-6',
    'scripted/model',
    'opencode/x-free',
    '',
    'constructor',
  ])('%s is another model than any in the table', (model) => {
    expect(findPrice(model)).toBeUndefined();
  });

  it('is what a person says, by the whole name or its beginning', () => {
    const price = (input: number) => ({ input, cached: input, output: input });
    const own = new Map([
      ['gpt-5', price(1)],
      ['local/*', price(0)],
      ['local/big*', price(2)],
    ]);
    expect(findPrice('gpt-5', own)?.input).toBe(1);
    expect(findPrice('openai/gpt-5', own)?.input).toBe(1);
    expect(findPrice('local/small', own)?.input).toBe(0);
    expect(findPrice('local/big-one', own)?.input).toBe(2);
    expect(findPrice('gpt-5.5', own)?.input).toBe(5);
  });

  it('says of when it is', () => {
    expect(PRICES_AS_OF).toMatch(/^\d{4}-\d{2}$/);
  });
});

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

  // As the lists of Anthropic, OpenAI and Google have them: what a million of each kind of token cost together.
  it.each([
    ['claude-fable-5', 61],
    ['claude-fable-5-1', 60.25],
    ['claude-opus-5-5', 24.2],
    ['claude-opus-5', 30.5],
    ['claude-opus-4-8', 30.5],
    ['claude-opus-4-7', 30.5],
    ['claude-opus-4-6', 30.5],
    ['claude-opus-4-5', 30.5],
    ['claude-sonnet-5', 12.2],
    ['claude-sonnet-4-6', 18.3],
    ['claude-sonnet-4-5', 18.3],
    ['claude-haiku-4-5', 6.1],
    ['gpt-6-astra', 61],
    ['gpt-6-sol', 12.2],
    ['gpt-6-luna', 0.61],
    ['gpt-5.6', 24.4],
    ['gpt-5.6-sol', 24.4],
    ['gpt-5.6-terra', 14.2],
    ['gpt-5.6-luna', 1.42],
    ['gpt-5.5', 35.5],
    ['gpt-5.4', 17.75],
    ['gpt-5.4-mini', 5.325],
    ['gpt-5.4-nano', 1.47],
    ['gpt-5.3-codex', 15.925],
    ['gpt-5.2', 15.925],
    ['gpt-5.1', 11.375],
    ['gpt-5', 11.375],
    ['gpt-5-mini', 2.275],
    ['gpt-5-nano', 0.455],
    ['gemini-3.8-flash', 4.575],
    ['gemini-3.7-flash', 4.575],
    ['gemini-3.6-flash', 4.575],
    ['gemini-3.5-flash', 10.65],
    ['gemini-3.5-flash-lite', 2.83],
    ['gemini-3.1-pro-preview', 14.2],
    ['gemini-3.1-flash-lite', 1.775],
    ['gemini-3-flash-preview', 3.55],
    ['gemini-2.5-pro', 11.375],
    ['gemini-2.5-flash', 2.83],
    ['gemini-2.5-flash-lite', 0.51],
  ])('%s costs $%d', (model, usd) => {
    const { input = 0, cached = 0, output = 0 } = findPrice(model) ?? {};
    expect(input + cached + output).toBeCloseTo(usd, 6);
  });

  it('says of when it is', () => {
    expect(PRICES_AS_OF).toMatch(/^\d{4}-\d{2}$/);
  });
});

import { describe, expect, it } from 'vitest';
import type { Review, Verdict } from '#contract/attempt.ts';
import { findRepeat } from './audit-review.ts';

describe('an auditor that says no twice', () => {
  const found = (message: string): Verdict['findings'][number] => ({
    severity: 'major',
    file: 'a.ts',
    line: 3,
    message,
  });
  const review = (id: string, summary: string, ...messages: string[]): Review =>
    ({
      id,
      status: 'failed',
      verdict: { verdict: 'reject', summary, findings: messages.map(found) },
      verdict_by: 'agent:critic',
    }) as Review; // only what is looked at

  it.each([
    ['one finding, in other words', review('1', 'a', 'x'), review('2', 'b', 'x'), true],
    ['another finding', review('1', 'a', 'x'), review('2', 'a', 'y'), false],
    ['the same ones in another order', review('1', 'a', 'x', 'y'), review('2', 'b', 'y', 'x'), true],
    ['one more', review('1', 'a', 'x'), review('2', 'a', 'x', 'y'), false],
    ['no finding, the same words', review('1', 'a'), review('2', 'a'), true],
    ['no finding, other words', review('1', 'a'), review('2', 'b'), false],
    ['no verdict before', { ...review('1', 'a'), verdict: null }, review('2', 'a'), false],
    ['a person, now', review('1', 'a'), { ...review('2', 'a'), verdict_by: 'user:ann' }, false],
  ])('found the same again or not: %s', (_name, before, now, isRepeat) => {
    expect(findRepeat([before, now], now)?.code).toBe(isRepeat ? 'same_findings' : undefined);
  });
});

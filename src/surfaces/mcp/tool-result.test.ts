import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { checkQuoted, toTextResult, toToolResult } from './tool-result.ts';

describe('the result of a tool', () => {
  it('is the text of the answer, and an object beside it', async () => {
    expect(await toToolResult({ id: 'fg-1' })).toEqual({
      content: [{ type: 'text', text: '{"id":"fg-1"}' }],
      structuredContent: { id: 'fg-1' },
    });
    expect((await toToolResult(['a'])).structuredContent).toEqual({ result: ['a'] });
  });

  it('[B2] stands once where it is long', () => {
    const longest = JSON.stringify('x'.repeat(LIMITS.mcp_structured_length - 2));
    expect(toTextResult(longest, {})).toHaveProperty('structuredContent');
    expect(toTextResult(`${longest} `, {})).not.toHaveProperty('structuredContent');
  });

  it('[B2] counts what quoting it adds: the whole answer has the limit of any other', () => {
    const quotes = '"'.repeat(LIMITS.answer_bytes / 2);
    expect(() => checkQuoted(quotes)).not.toThrow();
    expect(() => checkQuoted(`${quotes}a`)).toThrow(/more than 16777216 bytes/);
    expect(() => toTextResult('\\'.repeat(LIMITS.answer_bytes), [])).toThrow(/more than/);
  });
});

import { describe, expect, it } from 'vitest';
import { askForJson, findJsonAnswer } from './structured-answer.ts';

describe('findJsonAnswer', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ['Here:\n```json\n{"a":1}\n```\n', { a: 1 }],
    ['```json\n{"a":1}\n```\nand, corrected:\n```json\n{"a":2}\n```', { a: 2 }],
    ['```json\n{"a":1}\n```\n```ts\nconst x = 1;\n```', { a: 1 }],
    ['```\n[1]\n```', [1]],
    ['```json\n{"a":\n```', undefined],
    ['no JSON at all', undefined],
    [undefined, undefined],
  ])('%j gives %j', (text, value) => {
    expect(findJsonAnswer(text)).toEqual(value);
  });

  it('is what the prompt asks for', () => {
    expect(askForJson({ type: 'object' })).toContain('```json');
    expect(askForJson({ type: 'object' })).toContain('{"type":"object"}');
  });
});

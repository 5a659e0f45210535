import { expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { LastWords } from './last-words.ts';

it('keeps the end, however much has come', () => {
  const all = Array.from({ length: 100 }, (_, at) => `line ${at}`);
  for (const length of [1, 7, 50, 10_000]) {
    const words = new LastWords(length);
    expect(String(words)).toBe('');
    let said = '';
    for (const line of all) {
      words.add(line);
      said += `${line}\n`;
      expect(String(words)).toBe(said.slice(-length).trimEnd());
    }
  }
  const wide = new LastWords(12);
  for (let at = 0; at < 100; at += 1) wide.add('äöü€');
  expect(String(wide)).toBe('\näöü€');
  const words = new LastWords();
  words.add('x'.repeat(LIMITS.last_message_length * 3));
  expect(String(words)).toHaveLength(LIMITS.last_message_length - 1);
});

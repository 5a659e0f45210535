import { describe, expect, it } from 'vitest';
import { style, stylePriority, styleStatus } from './style-text.ts';

const plain = { color: false };
const color = { color: true };

describe('style', () => {
  it('leaves text alone where there are no colours', () => {
    expect(style(plain, 'red', 'x')).toBe('x');
    expect(styleStatus(plain, 'open')).toBe('open');
    expect(stylePriority(plain, 0)).toBe('P0');
  });
  it('colours whatever Node thinks of the stream', () => {
    expect(style(color, 'red', 'x')).toBe('\u001b[31mx\u001b[39m');
  });
  it('takes several formats', () => {
    expect(style(color, ['bold', 'red'], 'x')).toBe('\u001b[1m\u001b[31mx\u001b[39m\u001b[22m');
  });
  it('puts no codes around nothing', () => {
    expect(style(color, 'red', '')).toBe('');
  });
});

describe('styleStatus and stylePriority', () => {
  it.each(['open', 'in_progress', 'closed'] as const)('gives %s a colour of its own', (status) => {
    expect(styleStatus(color, status)).toContain(status);
    expect(styleStatus(color, status)).not.toBe(status);
  });
  it('marks what is urgent, leaves the middle plain', () => {
    expect(stylePriority(color, 0)).toContain('\u001b[31m');
    expect(stylePriority(color, 2)).toBe('P2');
    expect(stylePriority(color, 4, 'backlog')).toContain('backlog');
  });
  it('does not mind a number it does not know', () => {
    expect(stylePriority(color, 9)).toBe('P9');
  });
});

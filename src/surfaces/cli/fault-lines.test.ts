import { describe, expect, it } from 'vitest';
import { faultLines } from './fault-lines.ts';

describe('faultLines', () => {
  it('shows place, path, message and hint, as far as they are there', () => {
    const faults = [
      { path: 'states[3].next[1]', message: 'no state is called "x"', line: 12, column: 7 },
      { path: '', message: 'is empty', hint: 'Add a state' },
    ];
    expect(faultLines(faults)).toBe(
      '  12:7  states[3].next[1]: no state is called "x"\n  is empty (Add a state)\n',
    );
  });

  it('keeps each to a line of its own, whatever a server sent', () => {
    const faults = ['text', null, 7, { message: { a: 1 } }, { path: 'a\nb', message: 'c\u001b[31m' }];
    expect(faultLines(faults)).toBe('  text\n  null\n  7\n  \n  a\\nb: c\\u001b[31m\n');
  });
});

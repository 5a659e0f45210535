import { describe, expect, it } from 'vitest';
import { encodeReplicaLine, splitReplicaLine, WriteEnds } from './replica-lines.ts';

/** `2` is a record that two lines must follow, `-` a line that is no record. */
function wholeAt(lines: string): string {
  const ends = new WriteEnds();
  return lines
    .split('')
    .map((mark) => {
      if (mark === '-') return ends.endsWith(undefined);
      const text = encodeReplicaLine('{"id":"fg-1"}', { version: 1, fence: 0 }, { follow: Number(mark) });
      return ends.endsWith(splitReplicaLine(text));
    })
    .map((isWhole) => (isWhole ? 'x' : '.'))
    .join('');
}

describe('where writes end in the replica', () => {
  it.each([
    ['0', 'x'],
    ['000', 'xxx'],
    ['10', '.x'],
    ['210', '..x'],
    ['1-', '.x'],
    ['2--', '..x'],
    ['2-0', '..x'],
    ['2-2-1-', '.....x'],
    ['-', 'x'],
    ['1--', '.xx'],
    // A number that is too large makes nothing doubtful behind the next record.
    ['90-0', '.xxx'],
    ['9-0', '..x'],
  ])('%s: %s', (lines, expected) => {
    expect(wholeAt(lines)).toBe(expected);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter, type OutputLine } from './line-splitter.ts';
import { OutputTail } from './output-tail.ts';

describe('lines of chunks', () => {
  it('are those of the text, however it was cut', () => {
    const part = fc.constantFrom('a', 'ü', '€', '😀', '\n', '\r\n', '\n\n', ' ', 'word', '\uFFFD');
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 60 }),
        fc.array(fc.nat({ max: 7 }), { maxLength: 60 }),
        (parts, cuts) => {
          const text = parts.join('');
          const lines = text.split(/\r?\n/);
          if (lines.at(-1) === '') lines.pop();
          expect(split(Buffer.from(text), cuts, 1_000).map((line) => line.text)).toEqual(lines);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('that are too long are cut between characters, and say how long they were', () => {
    for (const cuts of [[], [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [5]]) {
      expect(split(Buffer.from('12345678\n1234567€\n123456€\nend'), cuts, 8)).toEqual([
        { text: '12345678', cut: false, bytes: 8 },
        { text: '1234567', cut: true, bytes: 10 },
        { text: '123456', cut: true, bytes: 9 },
        { text: 'end', cut: false, bytes: 3 },
      ]);
    }
  });

  it('cost no more than the longest may, and nothing once it is over', () => {
    const splitter = new LineSplitter(1_000_000);
    const chunk = Buffer.alloc(65_536, 'x');
    for (let round = 0; round < 200; round += 1) expect([...splitter.push(chunk)]).toEqual([]);
    const [line] = splitter.push(Buffer.from('\n'));
    expect(line).toMatchObject({ cut: true, bytes: 200 * 65_536 });
    expect(line?.text.length).toBe(1_000_000);
    expect([...splitter.push(Buffer.from('next\n'))]).toEqual([{ text: 'next', cut: false, bytes: 4 }]);
    expect(splitter.flush()).toBeUndefined();
  });
});

describe('the tail of an output', () => {
  it('is its end, without half a character', () => {
    const tail = new OutputTail(8);
    tail.push(Buffer.from('abc'));
    expect(tail.toString()).toBe('abc');
    tail.push(Buffer.from('defgh€1234'));
    expect(tail.toString()).toBe('h€1234');
    tail.push(Buffer.from('5678'));
    expect(tail.toString()).toBe('12345678');
    const cut = new OutputTail(8);
    cut.push(Buffer.from('€1234567'));
    expect(cut.toString()).toBe('1234567');
  });
});

function split(bytes: Buffer, cuts: readonly number[], max: number): readonly OutputLine[] {
  const splitter = new LineSplitter(max);
  const lines: OutputLine[] = [];
  let rest = bytes;
  for (const cut of cuts) {
    lines.push(...splitter.push(rest.subarray(0, cut)));
    rest = rest.subarray(cut);
  }
  lines.push(...splitter.push(rest));
  const last = splitter.flush();
  return last === undefined ? lines : [...lines, last];
}

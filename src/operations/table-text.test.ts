import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type TableColumn, tableText } from './table-text.ts';
import { textWidth } from './text-width.ts';

interface Row {
  readonly id: string;
  readonly title: string;
  readonly count: number;
}
const columns: readonly TableColumn<Row>[] = [
  { header: 'ID', value: (row) => row.id },
  { header: 'N', value: (row) => String(row.count), align: 'right' },
  { header: 'Title', value: (row) => row.title, flexible: true },
];
const wide = { color: false, columns: 100_000, now: 0 };
const rows: readonly Row[] = [
  { id: 'fg-a3f8', title: 'Fix the parser', count: 7 },
  { id: 'fg-b', title: '修复', count: 120 },
];

describe('tableText', () => {
  it('aligns columns and leaves no blanks at the end', () => {
    expect(tableText(wide, columns, rows)).toBe(
      ['ID         N  Title', 'fg-a3f8    7  Fix the parser', 'fg-b     120  修复'].join('\n'),
    );
  });
  it('gives a pipe the bare cells, separated by tabs', () => {
    const pipe = { ...wide, columns: Number.POSITIVE_INFINITY };
    expect(tableText(pipe, columns, rows)).toBe('fg-a3f8\t7\tFix the parser\nfg-b\t120\t修复');
    expect(tableText(pipe, columns, [{ id: 'a', title: 'x\ty', count: 1 }])).toBe('a\t1\tx\\ty');
  });
  it('shows the header alone when there are no rows', () => {
    expect(tableText(wide, columns, [])).toBe('ID  N  Title');
  });
  it('counts cells, not characters', () => {
    const text = tableText(
      wide,
      [columns[2], columns[0]].filter((column) => column !== undefined),
      rows,
    );
    const [, first, second] = text.split('\n');
    expect(first?.indexOf('fg-a3f8')).toBe(16);
    expect(textWidth(second?.split('fg-b')[0] ?? '')).toBe(16);
  });
  it('cuts the flexible column to the terminal', () => {
    const text = tableText({ ...wide, columns: 24 }, columns, rows);
    expect(text.split('\n')[1]).toBe('fg-a3f8    7  Fix the p…');
  });
  it('cuts nothing without a limit', () => {
    const long = 'x'.repeat(5_000);
    expect(tableText(wide, columns, [{ id: 'a', title: long, count: 1 }])).toContain(long);
  });
  it('takes from the widest column first', () => {
    const two: readonly TableColumn<[string, string]>[] = [
      { header: 'A', value: ([a]) => a, flexible: true },
      { header: 'B', value: ([, b]) => b, flexible: true },
    ];
    const [, line] = tableText({ ...wide, columns: 32 }, two, [['a'.repeat(40), 'b'.repeat(10)]]).split('\n');
    expect(line).toBe(`${'a'.repeat(19)}…  ${'b'.repeat(10)}`);
  });
  it('escapes control characters, so that no title can move the cursor', () => {
    const text = tableText(wide, columns, [{ id: 'a', title: 'x\u001b[2J\ny', count: 1 }]);
    expect(text).toContain('x\\u001b[2J\\ny');
    expect(text.split('\n')).toHaveLength(2);
  });
  it('dims the header and colours cells only where there are colours', () => {
    const painted = [
      { ...columns[0], style: (text: string) => `\u001b[31m${text}\u001b[39m` },
      columns[2],
    ] as readonly TableColumn<Row>[];
    const text = tableText({ ...wide, color: true }, painted, rows);
    expect(text.startsWith('\u001b[2m')).toBe(true);
    expect(stripVTControlCharacters(text).split('\n')[1]).toBe('fg-a3f8  Fix the parser');
    expect(tableText(wide, columns, rows)).not.toContain('\u001b');
  });
  it('fits the terminal whenever the fixed columns leave room', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            id: fc.string({ maxLength: 8 }),
            title: fc.string({ unit: 'grapheme' }),
            count: fc.nat(999),
          }),
        ),
        fc.integer({ min: 70, max: 120 }),
        (some, limit) => {
          for (const line of tableText({ ...wide, columns: limit }, columns, some).split('\n')) {
            expect(textWidth(line)).toBeLessThanOrEqual(limit);
          }
        },
      ),
    );
  });
  it('holds many rows', () => {
    const many = Array.from({ length: 200_000 }, (_, at) => ({ id: `fg-${at}`, title: 'x', count: at }));
    expect(tableText(wide, columns, many).split('\n')).toHaveLength(200_001);
  });
});

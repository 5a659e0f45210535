import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { parseShellLine } from './shell-line.ts';

const nested = (levels: number): string => `${'echo $('.repeat(levels)}true${')'.repeat(levels)}`;
const hidden = (levels: number): string => `${"echo ')' $(".repeat(levels)}true${')'.repeat(levels)}`;
const pipe = (count: number): string => Array.from({ length: count }, () => 'cat').join(' | ');
const flat = (count: number): string => Array.from({ length: count }, () => 'echo $(pwd)').join('; ');
const long = (length: number): string => `echo ${'x'.repeat(length - 5)}`;

describe('a line of the shell', () => {
  it.each([
    ['levels', nested, LIMITS.shell_line_depth],
    ['commands in a pipe', pipe, LIMITS.shell_line_pipes],
    ['parentheses', flat, LIMITS.shell_line_openings],
    ['characters', long, LIMITS.shell_line_length],
  ] as const)('[A14-8] is read up to so many %s, and beyond that not at all', (_what, toText, most) => {
    const read = parseShellLine(toText(most));
    expect([read.unparsed, read.commands.length > 0]).toEqual([false, true]);
    const unread = parseShellLine(toText(most + 1));
    expect([unread.unparsed, unread.commands]).toEqual([true, []]);
  });

  it.each([
    ['nothing else', '$('.repeat(100_000)],
    ['closed again', nested(20_000)],
    ['hidden by quotes', hidden(5_000)],
    ['as processes', '<('.repeat(50_000)],
    ['as parameters', '${a:-'.repeat(19_000)],
    ['as pipes', pipe(15_000)],
  ])('[A14-8] of many levels is not read: %s', (_what, text) => {
    expect(parseShellLine(text)).toMatchObject({ unparsed: true, commands: [] });
  });

  it('knows every value that it gives a variable', () => {
    const { variables } = parseShellLine('a=1; a=2; for a in x y; do a=3; done');
    expect(variables.get('a')?.map(({ text }) => text)).toEqual(['1', '2', 'x', 'y', '3']);
  });
});

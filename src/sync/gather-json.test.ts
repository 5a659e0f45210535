import { describe, expect, it } from 'vitest';
import { splitText } from './read-file-lines.ts';

const A = { id: 'fg-a', title: 'a "quoted\\" {[', labels: ['x', 'y'], metadata: { k: [{ z: null }] } };
const B = { id: 'fg-b', title: 'b', labels: [], metadata: {} };
const [a, b] = [JSON.stringify(A), JSON.stringify(B)];
const pretty = (value: unknown, indent: number | string = 2): string => JSON.stringify(value, null, indent);
const read = (text: string): string[] => [...splitText(text)].map((line) => line.text);

describe('[T14-6] objects that are not a line each are read all the same', () => {
  it.for([
    ['two spaces', `${pretty(A)}\n${pretty(B)}\n`, [a, b]],
    [
      'tabs, carriage returns, blank lines',
      `${pretty(A, '\t')}\n\n${pretty(B)}`.replaceAll('\n', '\r\n'),
      [a, b],
    ],
    ['a list', pretty([A, B]), [a, b]],
    ['a list in one line', JSON.stringify([A, B]), [a, b]],
    ['a list of lines', `[\n${a},\n${b}\n]\n`, [a, b]],
    ['a list with the commas in front', `[${a}\n,${b}]\n`, [a, b]],
    ['two in one line', `${a}${b}\n${b}\n`, [a, b, b]],
    ['several in one line, with blanks between them', `${a} ${b}\t${a}\n`, [a, b, a]],
    ['two in one line, of which one is broken', `${a}{"id":}\n${b}\n`, [`${a}{"id":}`, b]],
    ['two in one line behind one without an end', `{"labels": [\n${a}${b}\n`, ['{"labels": [', a, b]],
    ['the same signs in a text', '{"title":"}{ } {"}\n', ['{"title":"}{ } {"}']],
    ['among lines', `${a}\n${pretty(B)}\n${a}\n`, [a, b, a]],
    [
      'one without an end before lines',
      `{\n  "id": "x",\n  "labels": [\n${a}\n${b}\n`,
      ['{', '  "id": "x",', '  "labels": [', a, b],
    ],
    ['one without an end before a whole one', `{\n  "id": "x",\n${pretty(B)}\n`, ['{', '  "id": "x",', b]],
    [
      'one that is no JSON in a list',
      `[\n${pretty(A)},\n{\n  "id": x,\n},\n${pretty(B)}\n]`,
      [a, '{', '  "id": x,', '},', b, ']'],
    ],
    ['no objects', '[\n1,\n2\n]\n[]\n[x]', ['[', '1,', '2', ']', '[]', '[x]']],
    ['brackets alone', '{\n{\n[\n[\n}\n]', ['{', '{', '[', '[', '}', ']']],
    ['one line with spaces stays as it is', ' { "id": "x" } \n{"id":"y"', [' { "id": "x" } ', '{"id":"y"']],
    ['a number torn in two', '{"n":[1,3\n2,3]}\n', ['{"n":[1,3', '2,3]}']],
    ['two values without a sign between', '{"n":\n1 2}\n', ['{"n":', '1 2}']],
    [
      'a space that JSON does not know',
      '[{"n":1\u00A0}\n{"n":\uFEFF1\n}',
      ['[{"n":1\u00A0}', '{"n":\uFEFF1', '}'],
    ],
    ['an open text', '{"id":"x\n{"a":"\\\\\\"\n', ['{"id":"x', '{"a":"\\\\\\"']],
  ] as const)('%s', ([, text, lines]) => {
    expect(read(text)).toEqual(lines);
  });

  it('tells the line that an object begins at, and its side of a conflict', () => {
    const text = `${a}\n<<<<<<< x\n${pretty(A)}\n=======\n${pretty(B)}\n>>>>>>> y\n`;
    const lines = [...splitText(text)].map(({ number, side }) => [number, side]);
    expect(lines).toEqual([
      [1, undefined],
      [3, 'ours'],
      [3 + pretty(A).split('\n').length + 1, 'theirs'],
    ]);
  });
});

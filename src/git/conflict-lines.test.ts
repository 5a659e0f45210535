import { describe, expect, it } from 'vitest';
import { hasConflictLines } from './conflict-lines.ts';

const LABEL = 'a'.repeat(40);
const BEGIN = `<<<<<<< ${LABEL}`;
const END = `>>>>>>> ${'b'.repeat(40)}`;
const BASE = '||||||| 1234567';

function toText(...lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

describe('lines of a conflict', () => {
  const conflict = {
    base: 'a\n',
    ours: 'mine\n',
    theirs: 'yours\n',
    written: { text: toText(BEGIN, 'mine', '=======', 'yours', END), label: LABEL },
  };
  const { written: _, ...sides } = conflict;

  it.each([BEGIN, BASE, '=======', END])('%s counts by itself', (line) => {
    for (const known of [conflict, sides]) {
      expect(hasConflictLines(toText('mine', line, 'yours'), known)).toBe(true);
      expect(hasConflictLines(`mine\r\n${line}\r\nyours\r\n`, known)).toBe(true);
      expect(hasConflictLines(`mine\n${line}`, known)).toBe(true);
      expect(hasConflictLines(toText('mine', 'yours'), known)).toBe(false);
    }
  });

  it.each(['========', '======', ' =======', '<<<<<<<x', '> >>>>>>> x', '|||||||||'])(
    '%s is none',
    (line) => {
      expect(hasConflictLines(toText('mine', line, 'yours'), conflict)).toBe(false);
    },
  );

  it('leaves what the sides have themselves', () => {
    const doc = toText('Heading', '=======', '<<<<<<< HEAD');
    const known = { base: doc, ours: `${doc}mine\n`, theirs: `${doc}yours\n` };
    const text = doc + conflict.written.text;
    for (const one of [known, { ...known, written: { text, label: LABEL } }]) {
      expect(hasConflictLines(`${doc}both\n`, one)).toBe(false);
      expect(hasConflictLines(`${doc}mine\n=======\nyours\n`, one)).toBe(true);
      expect(hasConflictLines(`${doc}<<<<<<< HEAD\nmine\n`, one)).toBe(true);
    }
  });

  it('leaves the underlines of both sides, and knows one more from them', () => {
    const [ours, theirs] = [toText('Subject', '======='), toText('Another', '=======')];
    const text = toText(BEGIN, 'Subject', '=======', 'Another', END, '=======');
    const known = { base: '', ours, theirs, written: { text, label: LABEL } };
    expect(hasConflictLines(ours, known)).toBe(false);
    expect(hasConflictLines(toText('Subject', '=======', 'Another', '======='), known)).toBe(true);
  });

  it('has the size that an attribute gives the markers', () => {
    const [begin, end] = [`<<<< ${LABEL}`, `>>>> ${'b'.repeat(40)}`];
    const text = toText(begin, 'mine', '====', 'yours', end);
    const known = { base: '', ours: 'mine\n', theirs: 'yours\n', written: { text, label: LABEL } };
    for (const line of [begin, '====', end]) expect(hasConflictLines(toText('mine', line), known)).toBe(true);
    expect(hasConflictLines(toText('mine', '======='), known)).toBe(false);
  });
});

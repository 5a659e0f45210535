import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listPlainViews } from './plain-view.ts';

/** What hides, and the letters that it stands for. */
const SIGNS: readonly (readonly [string, string])[] = [
  ['\u001b[31m', ''],
  ['\u001b(B', ''],
  ['\u200b', ''],
  ['\udb40\udc61', ''],
  ['\u0001', ''],
  ['%41', 'A'],
  ['\\u0042', 'B'],
  ['&#x43;', 'C'],
  ['&lowbar;', '_'],
  ['\\u{1f600}', '\u{1f600}'],
  ['xy', 'xy'],
  ['\n', '\n'],
];

describe('a plain view', () => {
  it('is there only where something is hidden', () => {
    for (const text of ['', 'plain\ttext\r\n', 'a & b = 5%, C:\\dir', 'été \u{1f600}'])
      expect(listPlainViews(text)).toEqual([]);
  });

  it('shows what looks like an escape as its letters too, where codes stand beside it', () => {
    const key = String.raw`keJ\M\ebe\x41%41o0w`;
    for (const sign of ['\u001b(B', '\u001b[31m', '\u200b', '\u0001', 'x\b'])
      expect(
        listPlainViews(`a ${key.slice(0, 9)}${sign}${key.slice(9)} b`).map(({ text }) => text),
      ).toContain(`a ${key} b`);
  });

  it('keeps a backslash before a code, where both stand in JSON', () => {
    const key = String.raw`ksl987T4\mVfzd9O5hvqK`;
    const text = JSON.stringify(`${key.slice(0, 9)}\u001b(B${key.slice(9)}`);
    expect(listPlainViews(text).map((view) => view.text)).toContain(`"${key}"`);
  });

  it('has the letters, and tells for each where it stands in the text as it came', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...SIGNS), { minLength: 1, maxLength: 40 }), (signs) => {
        const text = signs.map(([sign]) => sign).join('');
        const [view] = listPlainViews(text);
        const plain = signs.map(([, letter]) => letter).join('');
        expect(view?.text ?? text).toBe(plain);
        let from = 0;
        let at = 0;
        const places = signs.map(([sign, letter]) => {
          const place = {
            sign: { from, to: from + sign.length },
            letter: { from: at, to: at + letter.length },
          };
          from = place.sign.to;
          at = place.letter.to;
          return place;
        });
        const seen = places.filter(({ letter }) => letter.to > letter.from);
        expect(seen.map(({ letter }) => view?.toPlace(letter) ?? letter)).toEqual(
          seen.map(({ sign }) => sign),
        );
      }),
    );
  });

  it('has the letters behind a control character too, where they look like a code', () => {
    expect(listPlainViews('a\u001bcb').map((view) => view.text)).toEqual(['ab', 'acb']);
    expect(listPlainViews('a\u009b1mb').map((view) => view.text)).toEqual(['ab', 'a1mb']);
  });

  it.each([
    ['abX\bc\n\bd', 'abc\nd', 'abXc\nd'],
    ['abXYZ\b\b\bc', 'abc', 'abXYZc'],
    ['abX\u001b[0m\bc', 'abc', 'abXc'],
    ['ab\u200bXY\u001b[1m\b\u0001\bc', 'abc', 'abXYc'],
    ['abXYZ\u001b[3Dc', 'abc', 'abXYZc'],
    ['abXYZ\u009b3Dc', 'abc', 'abXYZc'],
    ['abX\u001b[Dc', 'abc', 'abXc'],
    ['a%62XY%5A\u001b[31m\u001b[3Dc', 'abc', 'abXYZc'],
    ['a\nX\u001b[9Dc', 'a\nc', 'a\nXc'],
    ['a%0AX\b\bc', 'a\nc', 'a\nXc'],
    ['\b\u001b[2Dab', 'ab', 'ab'],
  ])('has what is overwritten no more in one, and still in another: %j', (text, overwritten, whole) => {
    const seen = listPlainViews(text).map((view) => view.text);
    expect(seen[0]).toBe(overwritten);
    expect(seen).toContain(whole);
  });

  it('tells where letters stand behind those that are overwritten', () => {
    const text = 'a%62XY%5A\u001b[31m\u001b[3Dcd';
    const [view] = listPlainViews(text);
    const places = ['a', '%62', 'c', 'd'].map((part) => ({
      from: text.lastIndexOf(part),
      to: text.lastIndexOf(part) + part.length,
    }));
    expect([0, 1, 2, 3].map((at) => view?.toPlace({ from: at, to: at + 1 }))).toEqual(places);
  });
});

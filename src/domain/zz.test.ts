import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { test, expect } from 'vitest';
import { history, replay } from '../../tests/support/record-steps.ts';
import { decodeRecord, encodeRecord } from './record-codec.ts';
import { parseJson } from '#kernel/json.ts';
test('gen', () => {
  const t = performance.now();
  fc.assert(
    fc.property(history, () => {}),
    { numRuns: 20000 },
  );
  console.log('gen', performance.now() - t);
});
test('replay', () => {
  const t = performance.now();
  fc.assert(
    fc.property(history, (h) => {
      replay(h);
    }),
    { numRuns: 20000 },
  );
  console.log('replay', performance.now() - t);
});
test('codec', () => {
  const t = performance.now();
  fc.assert(
    fc.property(history, (h) => {
      const { last } = replay(h);
      const line = encodeRecord(last);
      const again = decodeRecord(parseJson(line, 'x') as never);
      if (!isDeepStrictEqual(again, last)) expect(again).toEqual(last);
      expect(encodeRecord(again)).toBe(line);
    }),
    { numRuns: 20000 },
  );
  console.log('codec', performance.now() - t);
});

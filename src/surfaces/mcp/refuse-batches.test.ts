import { describe, expect, it } from 'vitest';
import { RefuseBatches } from './refuse-batches.ts';

/** What is let through of a text that comes in pieces of this size, and how often was refused. */
async function pass(text: string, size: number): Promise<{ passed: string; refused: number }> {
  let refused = 0;
  const filter = new RefuseBatches(() => (refused += 1));
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) filter.write(bytes.subarray(at, at + size));
  filter.end();
  const pieces: Buffer[] = [];
  for await (const piece of filter) pieces.push(piece as Buffer);
  return { passed: Buffer.concat(pieces).toString(), refused };
}

describe('batches on standard input', () => {
  it.each([1, 2, 3, 7, 1_000])('[B2] are left out and counted, in pieces of %i bytes', async (size) => {
    const text = '{"a":[1]}\n[{"a":1},\n \t[]\r\n\n  {"b":"[\u00e4"}\n"["\n[1';
    expect(await pass(text, size)).toEqual({
      // Blanks before a batch may have gone through by then; no line is made of them.
      passed: expect.stringMatching(/^\{"a":\[1\]\}\n[ \t]*\n {2}\{"b":"\[ä"\}\n"\["\n$/) as string,
      refused: 3,
    });
  });

  it('[B2] pass everything else as it is', async () => {
    const text = '{"a":1}\nnot json\n\n{"b":[[2]]}';
    expect(await pass(text, 5)).toEqual({ passed: text, refused: 0 });
  });
});

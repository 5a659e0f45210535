import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { LineGate } from './line-gate.ts';

async function pass(
  ...chunks: readonly string[]
): Promise<{ readonly out: string; readonly refused: number }> {
  let refused = 0;
  const gate = new LineGate(() => (refused += 1));
  const out = text(gate);
  for (const chunk of chunks) gate.write(chunk);
  gate.end();
  return { out: await out, refused };
}

describe('the lines of a client', () => {
  it.each([
    [['{"a":1}\n{"b":2}\n'], '{"a":1}\n{"b":2}\n', 0],
    [['{"a"', ':1}', '\r\n'], '{"a":1}\r\n', 0],
    [['{"a":"ä'.slice(0, 6), 'ä"}\n'], '{"a":"ä"}\n', 0],
    [['hello\n{"a":1}\n'], '{"a":1}\n', 1],
    [['{"a":1\n', '}\n'], '', 2],
    [['\n  \n{"a":1}\n'], '{"a":1}\n', 0],
    [['{"a":1}'], '', 0],
  ])('%j become %j, with %i refused', async (chunks, out, refused) => {
    expect(await pass(...chunks)).toEqual({ out, refused });
  });

  it('goes on behind a line that is too long to look at', async () => {
    const long = 'x'.repeat(9 * 1024 * 1024);
    const { out, refused } = await pass(long, long, 'y\nhello\n{"a":1}\n');
    expect(refused).toBe(1);
    expect(out === `${long}${long}y\n{"a":1}\n`).toBe(true);
  });
});

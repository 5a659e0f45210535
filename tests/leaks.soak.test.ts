import { describe, expect, it } from 'vitest';
import { ENCODINGS, huntLeaks, SINKS } from './support/leak-hunt.ts';

const SECRETS = 50;

describe(`[H2] [H5] ${SECRETS} secrets x ${ENCODINGS.length} encodings x ${SINKS.length} sinks`, () => {
  it('are found in every sink and in every encoding where Forge is not told of them', async () => {
    const { leaks } = await huntLeaks({ secrets: 10, seed: 2, plant: true });
    const found = new Set(leaks.map(({ sink, form }) => `${sink}: ${form}`));
    // The rest is longer than what a picture shows of a title.
    const wanted = SINKS.filter((sink) => sink !== 'HTML and SVG' && sink !== 'write-ahead log');
    for (const sink of wanted)
      for (const form of ['plain', 'hex', 'URL', 'JSON', 'base64'])
        expect(found).toContain(`${sink}: ${form}`);
  });

  it('leave no trace', async ({ annotate }) => {
    const { leaks, seen, secrets } = await huntLeaks({ secrets: SECRETS, seed: 3 });
    expect(secrets).toBe(SECRETS);
    expect(seen).toEqual(expect.arrayContaining([...SINKS]));
    expect(leaks).toEqual([]);
    await annotate(`${secrets * ENCODINGS.length * SINKS.length} looks`);
  });
});

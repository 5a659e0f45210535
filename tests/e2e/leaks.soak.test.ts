import { describe, expect, it } from 'vitest';
import { huntLeaks, SINKS } from '../support/leak-hunt.ts';

describe('[H2] [H5] secrets that agents, set-ups, checks, teardowns and auditors print', () => {
  it('are nowhere, in none of their encodings, where other words of theirs are', async () => {
    const { leaks, seen } = await huntLeaks({ secrets: 5, seed: 1 });
    expect(seen).toEqual(expect.arrayContaining([...SINKS]));
    expect(leaks).toEqual([]);
  });
});

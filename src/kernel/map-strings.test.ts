import { describe, expect, it } from 'vitest';
import { mapStrings } from './map-strings.ts';

const loud = (text: string): string => text.toUpperCase();

describe('mapStrings', () => {
  it('replaces every string, keys too, and nothing else', () => {
    const value = { a: ['b', 1, null, { c: true }], d: undefined };
    expect(mapStrings(value, loud)).toEqual({ A: ['B', 1, null, { C: true }], D: undefined });
  });

  it('gives up on what is nested too deep', () => {
    let deep: unknown = 'x';
    for (let level = 0; level < 40; level += 1) deep = [deep];
    expect(JSON.stringify(mapStrings(deep, loud))).toContain('nested too deep');
  });
});

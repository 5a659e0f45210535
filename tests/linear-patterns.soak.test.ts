import { describe, expect, it } from 'vitest';
import { LIMITS } from '#kernel/limits.ts';
import { findOverflow, isBounded } from './support/find-overflow.ts';
import { findSteep } from './support/measure-growth.ts';
import { listSourcePatterns } from './support/source-patterns.ts';

const PATTERNS = listSourcePatterns().map((one) => [`${one.path}:${one.line}`, one] as const);

/** A part of the texts takes a minute, all of them an hour. */
const TEXTS = 8;

describe('[C2] every regular expression of the program', () => {
  it.each(PATTERNS)('%s takes twice as long for twice the text, up to 4 MiB', (_at, one) => {
    expect(findSteep(one, { most: isBounded(one) ? 1 << 20 : 1 << 22 })).toBeUndefined();
  });

  it.each(PATTERNS.filter(([, one]) => !isBounded(one)))('%s has stack for 8 MiB', (_at, one) => {
    expect(findOverflow(one, { length: LIMITS.run_line_bytes, texts: TEXTS })).toBeUndefined();
  });
});

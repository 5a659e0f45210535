import { expect, it } from 'vitest';
import { findSteep } from './support/measure-growth.ts';
import { listSourcePatterns } from './support/source-patterns.ts';

it.each(listSourcePatterns().map((one) => [`${one.path}:${one.line}`, one] as const))(
  '[C2] %s takes twice as long for twice the text, up to a mebibyte',
  (_at, one) => {
    expect(findSteep(one, { most: 1 << 20 })).toBeUndefined();
  },
);

import { expect, it } from 'vitest';
import { findGone, fuzzTaskFile } from './support/fuzz-task-file.ts';
import { toGoodLine } from './support/mutated-lines.ts';

const COUNT = 10_000;

it('a line that is lost is found', () => {
  const lines = [toGoodLine('fg-a'), '{"id":"fg-b', 'torn'];
  expect(findGone(lines, 'torn\n{"id":"fg-b\n')).toEqual([]);
  expect(findGone(lines, 'torn\n')).toEqual(['{"id":"fg-b']);
});

it.for(Array.from({ length: 100 }, (_, seed) => seed + 1))(
  '[F21] ten thousand spoiled lines between whole ones lose none of them (seed %i)',
  async (seed, { annotate }) => {
    await expect(fuzzTaskFile(seed, COUNT)).resolves.toBeUndefined();
    await annotate(`${COUNT} lines`);
  },
);

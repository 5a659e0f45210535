import { describe, expect, it } from 'vitest';
import { judgeSchema, raiseFloors } from './schema-floors.ts';

describe('judgeSchema', () => {
  it.each([
    ['nothing in it yet', 0, undefined, 'new'],
    ['one migration behind', 11, undefined, 'older'],
    ['many behind', 1, undefined, 'older'],
    ['the same', 12, undefined, 'current'],
    ['newer, without floors', 13, undefined, 'too_new'],
    ['newer, and nothing that matters here', 15, { min_reader: 11, min_writer: 12 }, 'usable'],
    ['newer, and older programs may read', 15, { min_reader: 12, min_writer: 13 }, 'readable'],
    ['newer, and older programs may not', 15, { min_reader: 13, min_writer: 15 }, 'too_new'],
    ['floors that contradict each other', 15, { min_reader: 13, min_writer: 12 }, 'too_new'],
  ] as const)('%s', (_name, found, floors, standing) => {
    expect(judgeSchema(found, 12, () => floors)).toBe(standing);
  });

  it('looks at the floors of a newer database alone', () => {
    const never = () => {
      throw new Error('looked');
    };
    for (const found of [0, 11, 12]) judgeSchema(found, 12, never);
    expect(() => judgeSchema(13, 12, never)).toThrow('looked');
  });
});

it.each([
  ['nothing', { min_reader: 11, min_writer: 12 }],
  ['min_writer', { min_reader: 11, min_writer: 14 }],
  ['min_reader', { min_reader: 14, min_writer: 14 }],
] as const)('a migration that raises %s', (raises, floors) => {
  expect(raiseFloors({ min_reader: 11, min_writer: 12 }, raises, 14)).toEqual(floors);
});

import { expect, it } from 'vitest';
import { hurtDatabases } from '../support/hurt-databases.ts';

const COUNT = 100;

it.for(Array.from({ length: 10 }, (_, at) => 1_000 + at * COUNT))(
  '[F18] a hundred databases that were hurt, from seed %i: found and made anew, or harmless',
  async (from, { annotate }) => {
    const told = await hurtDatabases({ from, count: COUNT });
    // As many as are found where nothing is wrong with the look at it; the rest hit pages that no list reads.
    expect(told.length).toBeGreaterThan(COUNT / 4);
    await annotate(`${COUNT} databases`);
  },
);

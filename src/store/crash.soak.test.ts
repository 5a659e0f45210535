import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../tests/support/random.ts';
import {
  countKillsSurvived,
  expectContinued,
  expectKillsSurvived,
  findLost,
} from './behaviour/crash-behaviour.ts';

it.for([1, 2, 3, 4, 5])(
  '[S130] killed thirty times, keeps every acknowledged write and leaves old or new, never between (%i)',
  async (_, { annotate }) => {
    await expect(expectKillsSurvived(30)).resolves.toBeUndefined();
    await annotate('30 kills');
  },
);

describe('writers that are killed while others write', () => {
  it('are missed where an acknowledged write is lost', () => {
    const heard = [{ created: 'a' }, { created: 'b' }, { deleted: 'c' }];
    expect(findLost(heard, new Set(['a', 'b']))).toEqual([]);
    expect(findLost(heard, new Set(['a', 'c']))).toEqual(['b', 'c']);
    expectContinued([[{ updated: 1 }, { updated: 2 }], [{ updated: 4 }]]);
    expect(() => expectContinued([[{ updated: 1 }, { updated: 2 }], [{ updated: 2 }]])).toThrow(
      'to include 2',
    );
  });

  // Sixteen rounds of eight writers with four lives each; another store for each seed.
  it.for(Array.from({ length: 20 }, (_, seed) => seed + 1))(
    '[S130] lose nothing that was acknowledged (seed %i)',
    async (seed, { annotate }) => {
      const kills = await countKillsSurvived(16, seededRandom(seed));
      expect(kills).toBe(16 * 8 * 4);
      await annotate(`${kills} kills`);
    },
  );
});

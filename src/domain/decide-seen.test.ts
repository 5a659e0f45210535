import { describe, expect, it } from 'vitest';
import { seenTask } from '../../tests/support/seen-task.ts';
import { decideSeen, type Seen } from './decide-seen.ts';

describe('decideSeen, the whole table: version 7, fence 3', () => {
  const values = {
    version: [undefined, 7, 6],
    fence: [undefined, 3, 2],
  };
  const all = values.version.flatMap((version) => values.fence.map((fence) => ({ version, fence })));

  /** The first that does not fit is told. */
  function expected({ version, fence }: Seen): unknown {
    if (version === 6) return { outcome: 'other_version', asked: 6 };
    return fence === 2 ? { outcome: 'other_claim', asked: 2 } : undefined;
  }

  it('has 9 rows', () => {
    expect(all).toHaveLength(9);
  });

  it.each(all)('version $version, fence $fence', (seen) => {
    expect(decideSeen(seenTask(), seen)).toEqual(expected(seen));
  });
});

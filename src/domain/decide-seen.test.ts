import { describe, expect, it } from 'vitest';
import { seenTask } from '../../tests/support/seen-task.ts';
import { decideSeen, type Seen } from './decide-seen.ts';

describe('decideSeen, the whole table: version 7, fence 3, in todo', () => {
  const values = {
    version: [undefined, 7, 6],
    fence: [undefined, 3, 2],
    from_state: [undefined, 'todo', 'review'],
  };
  const all = values.version.flatMap((version) =>
    values.fence.flatMap((fence) => values.from_state.map((from_state) => ({ version, fence, from_state }))),
  );

  /** The first that does not fit is told. */
  function expected({ version, fence, from_state }: Seen): unknown {
    if (version === 6) return { outcome: 'other_version', asked: 6 };
    if (fence === 2) return { outcome: 'other_claim', asked: 2 };
    return from_state === 'review' ? { outcome: 'moved', asked: 'review' } : undefined;
  }

  it('has 27 rows', () => {
    expect(all).toHaveLength(27);
  });

  it.each(all)('version $version, fence $fence, state $from_state', (seen) => {
    expect(decideSeen(seenTask(), seen)).toEqual(expected(seen));
  });
});

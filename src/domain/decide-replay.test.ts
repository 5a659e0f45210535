import { describe, expect, it } from 'vitest';
import { decideReplay, type ReplayDecision } from './decide-replay.ts';

describe('decideReplay, the whole table', () => {
  const all = [0, 1, 50, 100, 150].flatMap((size) =>
    [undefined, 0, 100].flatMap((held) =>
      [true, false].flatMap((is_same) =>
        [true, false].map((has_tasks) => ({ size, held, is_same, has_tasks })),
      ),
    ),
  );

  function expected({ size, held, is_same, has_tasks }: (typeof all)[number]): ReplayDecision {
    if (size === 0) {
      // None yet, as with a database that is new.
      if (held === 0 && !has_tasks) return { outcome: 'agreed', size };
      return { outcome: 'rewrite', joins: false };
    }
    if (held === undefined) return { outcome: 'rewrite', joins: true };
    if (!is_same) return { outcome: 'join', from: 0 };
    if (size < held) return { outcome: 'rewrite', joins: true };
    return size === held ? { outcome: 'agreed', size } : { outcome: 'join', from: held };
  }

  it('has 60 rows', () => {
    expect(all).toHaveLength(60);
  });

  it.each(all)('size $size, held $held, the same file: $is_same, tasks: $has_tasks', (facts) => {
    expect(decideReplay(facts)).toEqual(expected(facts));
  });
});

import { describe, expect, it } from 'vitest';
import { NEIGHBOUR_LIMITS } from '#kernel/neighbour-limits.ts';
import { decideRecount, decideRewrite, explainRewrite } from './decide-rewrite.ts';

const { rewritten, rewritten_bytes, rewritten_parts, recounted } = NEIGHBOUR_LIMITS;

describe('decideRewrite, the whole table', () => {
  const LIGHT = { bytes: rewritten_bytes, parts: rewritten_parts };
  it.each([
    ['one task of any size', 1, { bytes: Infinity, parts: Infinity }, undefined],
    ['as many as may be', rewritten, LIGHT, undefined],
    ['one more', rewritten + 1, LIGHT, 'too_many'],
    ['one byte more', 2, { ...LIGHT, bytes: rewritten_bytes + 1 }, 'too_heavy'],
    ['one comment more', 2, { ...LIGHT, parts: rewritten_parts + 1 }, 'too_heavy'],
  ])('%s', (_, tasks, weight, outcome) => {
    expect(decideRewrite({ what: 'map' }, { tasks, weigh: () => weight })?.outcome).toBe(outcome);
  });

  it('weighs nothing where they are too many or one', () => {
    const weigh = () => {
      throw new Error('weighed');
    };
    expect(decideRewrite({ what: 'map' }, { tasks: 1, weigh })).toBeUndefined();
    expect(decideRewrite({ what: 'map' }, { tasks: rewritten + 1, weigh })?.outcome).toBe('too_many');
  });
});

describe('what is told of it', () => {
  const map = { what: 'map' } as const;
  const remove = { what: 'delete', id: 'fg-1' } as const;
  const hint = 'forge workflow set <file> --map <from>=<to>, in the repository and without --server';
  it.each([
    [
      { outcome: 'too_many', rewrite: map, tasks: 800 },
      '800 tasks are too many to move in one request of a server',
      hint,
      { limit: rewritten },
    ],
    [
      { outcome: 'too_heavy', rewrite: map, tasks: 8 },
      '8 tasks are too large to move in one request of a server',
      hint,
      { limit_bytes: rewritten_bytes, limit_parts: rewritten_parts },
    ],
    [
      { outcome: 'too_many', rewrite: remove, tasks: 800 },
      'More than 700 children and dependents of fg-1 would be changed, which are too many for one request of a server',
      'In the repository, without --server: forge task delete fg-1',
      { id: 'fg-1', limit: rewritten },
    ],
    [
      { outcome: 'too_heavy', rewrite: { ...remove, what: 'restore' }, tasks: 8 },
      'The children and dependents of fg-1 that would be changed hold more than 8 MiB, or 25,000 comments and dependencies, which is too much for one request of a server',
      'In the repository, without --server: forge task restore fg-1',
      { id: 'fg-1', limit_bytes: rewritten_bytes, limit_parts: rewritten_parts },
    ],
  ] as const)('%j', (refusal, message, told, details) => {
    expect(explainRewrite(refusal)).toMatchObject({ code: 'too_large', message, hint: told, details });
  });

  it('of too many that would be counted anew', () => {
    expect(decideRecount('fg-1', recounted)).toBeUndefined();
    expect(decideRecount('fg-1', recounted + 1)).toMatchObject({
      code: 'too_large',
      message:
        'More than 25000 tasks wait for fg-1, which are too many to count anew in one request of a server',
      hint: 'Run the same command in the repository, without --server',
      details: { id: 'fg-1', limit: recounted },
    });
  });
});

import { describe, expect, it } from 'vitest';
import type { FoldReport } from '#store/replication.ts';
import { describeFold } from './describe-fold.ts';

const NOTHING: FoldReport = {
  created: 3,
  updated: 2,
  deleted: 1,
  unchanged: 9,
  unreadable: [],
  lost_claims: [],
  conflicts: [],
  renamed: [],
  edited_deleted: [],
};

function describeTasks(more: Partial<FoldReport>): string[] {
  return describeFold({ tasks: { ...NOTHING, ...more }, history: undefined });
}

describe('what somebody should hear of a fold', () => {
  it('nothing where all went as it should', () => {
    expect(describeFold({ tasks: undefined, history: undefined })).toEqual([]);
    expect(describeTasks({})).toEqual([]);
    expect(describeFold({ tasks: NOTHING, history: { added: 5, unreadable: [] } })).toEqual([]);
  });

  it('one line for each kind, with the next command', () => {
    expect(
      describeTasks({
        renamed: [{ from: 'fg-same', to: 'fg-same123abc' }],
        lost_claims: [{ id: 'fg-aaaa', was: 'late', now: 'early' }],
        conflicts: [
          { id: 'fg-aaaa', name: 'title' },
          { id: 'fg-bbbb', name: 'title' },
        ],
        edited_deleted: ['fg-gone'],
        unreadable: [{ number: 7, why: 'it is no JSON' }],
      }),
    ).toEqual([
      'Two tasks were both called fg-same; the one made here is fg-same123abc now',
      'late lost the claim of fg-aaaa: early had it first',
      '2 values lost against a change made elsewhere; see: forge conflicts',
      'fg-gone was deleted elsewhere and changed here; to have it back: forge task restore fg-gone',
      expect.stringMatching(
        /^\.forge\/tasks\.jsonl has 1 line that cannot be read \(line 7: it is no JSON\)/,
      ),
    ]);
    expect(describeTasks({ conflicts: [{ id: 'fg-aaaa', name: 'title' }] })).toEqual([
      '1 value lost against a change made elsewhere; see: forge conflicts',
    ]);
  });

  it('unreadable lines of either file, counted', () => {
    const unreadable = [
      { number: 0, why: 'it is not UTF-8' },
      { number: 2, why: 'x' },
    ];
    const [tasks, history] = describeFold({
      tasks: { ...NOTHING, unreadable },
      history: { added: 0, unreadable },
    });
    expect(tasks).toMatch(/^\.forge\/tasks\.jsonl has 2 lines that cannot be read;/);
    expect(history).toMatch(/^\.forge\/history\.jsonl has 2 lines that cannot be read;/);
  });

  it('text of others is escaped', () => {
    const said = describeTasks({
      lost_claims: [{ id: 'fg-aaaa', was: 'a\u001b[31m', now: 'b\u202e' }],
      unreadable: [{ number: 1, why: 'c\u0007' }],
    }).join('\n');
    expect(said).not.toMatch(/[\u0007\u001b\u202e]/);
    expect(said).toContain(String.raw`a\u001b[31m`);
  });
});

import { describe, expect, it } from 'vitest';
import { keptMerge } from '../../tests/support/kept-work.ts';
import { restoreMerge } from './restore-merge.ts';

const AT = '2026-02-10T09:00:00.000Z';
const MARK = { host: 'here', boot_id: 'b-1', pid_namespace: 'pid:[1]', pid: 7, start_time: 1 };
const LOST = { state: 'dropped', message: 'How it ended was lost with the database', finished_at: AT };

describe('restoreMerge', () => {
  const started = { ...keptMerge(), watcher: MARK, seq: 5 };
  const queued = { ...started, state: 'queued' } as const;
  it.each([
    ['one that was begun, alone', started, undefined, false, { merge: started }],
    ['one whose place is taken', queued, undefined, true, { merge: { ...queued, seq: null } }],
    ['one that waits behind another', queued, 3, false, { merge: queued }],
    ['a later one ends the earlier', started, 3, false, { merge: started, ended: LOST }],
    ['an earlier one has ended', started, 8, false, { merge: { ...started, ...LOST } }],
    ['one at the very place of the other', started, 5, true, { merge: { ...started, ...LOST, seq: null } }],
    ['an earlier one whose place is taken', started, 8, true, { merge: { ...started, ...LOST, seq: null } }],
  ] as const)('%s', (_, merge, seq, is_taken, expected) => {
    const rival = seq === undefined ? undefined : { id: 'm-0', seq };
    expect(restoreMerge(merge, { rival, is_taken }, AT)).toEqual(expected);
  });
});

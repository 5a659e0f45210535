import { describe, expect, it } from 'vitest';
import { findMembers, NO_MEMBERS, type Members } from './find-members.ts';
import type { ProcessRow } from './process-table.ts';

const ROOT = row({ pid: 100, ppid: 10 });
const OF_ROOT: Members = { rows: toTable(ROOT), sessions: new Set([100]) };

describe('the members of a run', () => {
  it('are descendants in whatever session, and all in a session of theirs', () => {
    const table = toTable(
      row({ pid: 10, ppid: 1, session: 10 }),
      ROOT,
      row({ pid: 101, ppid: 100 }),
      row({ pid: 102, ppid: 101, session: 102 }),
      row({ pid: 103, ppid: 1, session: 102 }),
      row({ pid: 104, ppid: 1, session: 100 }),
      row({ pid: 105, ppid: 104, session: 105 }),
      row({ pid: 200, ppid: 10, session: 10 }),
    );
    const { rows, sessions } = findMembers(table, OF_ROOT);
    expect(sorted(rows.keys())).toEqual([100, 101, 102, 103, 104, 105]);
    expect(sorted(sessions)).toEqual([100, 102, 105]);
  });

  it('are found in any order of the table', () => {
    const child = row({ pid: 101, ppid: 100, session: 101 });
    const grandchild = row({ pid: 50, ppid: 101, session: 101 });
    const orphan = row({ pid: 49, ppid: 1, session: 101 });
    const { rows } = findMembers(toTable(orphan, grandchild, child, ROOT), OF_ROOT);
    expect(sorted(rows.keys())).toEqual([49, 50, 100, 101]);
  });

  it('stay members when they were orphaned and left the session', () => {
    const before = findMembers(toTable(ROOT, row({ pid: 101, ppid: 100 })), OF_ROOT);
    const moved = row({ pid: 101, ppid: 1, session: 101 });
    const after = findMembers(toTable(moved, row({ pid: 102, ppid: 1, session: 101 })), before);
    expect([...after.rows.keys()]).toEqual([101, 102]);
    expect([...after.sessions]).toEqual([101]);
  });

  it('are none of those who have their numbers later', () => {
    const before = findMembers(toTable(ROOT, row({ pid: 101, ppid: 100 })), OF_ROOT);
    const reused = row({ pid: 101, ppid: 1, session: 7, start_time: 9 });
    const other = row({ pid: 100, ppid: 1, start_time: 9 });
    const its_child = row({ pid: 300, ppid: 100, start_time: 9 });
    expect(findMembers(toTable(reused, other, its_child), before).rows.size).toBe(0);
  });

  it('hold a session only while one of them is in it, or its leader has ended this moment', () => {
    const late = toTable(row({ pid: 300, ppid: 1, session: 100 }));
    expect(findMembers(late, OF_ROOT).rows.size).toBe(0);
    expect([...findMembers(late, OF_ROOT, { holds: 100 }).rows.keys()]).toEqual([300]);
    const zombie = toTable(row({ pid: 100, ppid: 10, dead: true }), row({ pid: 300, ppid: 1, session: 100 }));
    expect([...findMembers(zombie, OF_ROOT).rows.keys()]).toEqual([100, 300]);
  });

  it('that only carry the mark bring their descendants, but not the session they sit in', () => {
    const marked = row({ pid: 20, ppid: 10, session: 10 });
    const table = toTable(
      row({ pid: 10, ppid: 1, session: 10 }),
      marked,
      row({ pid: 21, ppid: 20, session: 10 }),
      row({ pid: 22, ppid: 20, session: 22 }),
      row({ pid: 23, ppid: 1, session: 22 }),
      row({ pid: 30, ppid: 10, session: 10 }),
    );
    const members = findMembers(table, NO_MEMBERS, { seeds: [marked] });
    expect(sorted(members.rows.keys())).toEqual([20, 21, 22, 23]);
    expect(sorted(findMembers(table, members).rows.keys())).toEqual([20, 21, 22, 23]);
    const leader = row({ pid: 10, ppid: 1, session: 10 });
    expect(findMembers(table, NO_MEMBERS, { seeds: [leader] }).rows.size).toBe(6);
  });
});

function row(given: Partial<ProcessRow> & { pid: number; ppid: number }): ProcessRow {
  const session = given.session ?? 100;
  return { group: session, session, start_time: 5, dead: false, cpu_ms: 0, ...given };
}

function toTable(...rows: readonly ProcessRow[]): ReadonlyMap<number, ProcessRow> {
  return new Map(rows.map((one) => [one.pid, one]));
}

function sorted(numbers: Iterable<number>): readonly number[] {
  return [...numbers].toSorted((a, b) => a - b);
}

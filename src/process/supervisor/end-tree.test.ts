import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { endTree } from './end-tree.ts';
import { openProcessTable, type ProcessRow } from './process-table.ts';
import type { ProcessTree } from './process-tree.ts';

const table = openProcessTable();

describe('ending', () => {
  it('never signals a process that only has the number of the one that is meant', async () => {
    const stranger = spawn('sleep', ['900'], { stdio: 'ignore', detached: true });
    const seen = getRow(stranger);
    try {
      const forged = { ...seen, start_time: seen.start_time - 1 };
      const left = await endTree({ table, tree: treeOf([forged]), grace_ms: 30, kill_ms: 60 });
      // The tree says it is there to the last, so it was meant at every step.
      expect(left).toBe(1);
      expect(table.find(seen.pid)).toMatchObject({ start_time: seen.start_time, dead: false });
      expect(stranger.signalCode).toBeNull();
    } finally {
      const ended = once(stranger, 'exit');
      expect(await endTree({ table, tree: treeOf([seen]), grace_ms: 10_000, kill_ms: 0 })).toBe(0);
      await ended;
    }
    expect(stranger.signalCode).toBe('SIGTERM');
  });

  it('kills a whole group at once when it is made of members alone', async () => {
    const script = `trap '' TERM; sleep 900 & echo up; sleep 900`;
    const shell = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    await once(shell.stdout, 'data');
    const leader = getRow(shell);
    const group = () => [...table.list(0).values()].filter((one) => one.group === leader.pid && !one.dead);
    expect(group().length).toBeGreaterThanOrEqual(2);
    const ended = once(shell, 'exit');
    const tree: ProcessTree = { ...treeOf([leader]), ownsGroup: () => true };
    await endTree({ table, tree, grace_ms: 0, kill_ms: 10_000 });
    await ended;
    // The kernel takes its time to end what was killed.
    await expect.poll(group).toEqual([]);
  });

  it('of nobody takes no time', async () => {
    expect(await endTree({ table, tree: treeOf([]), grace_ms: 1e9, kill_ms: 1e9 })).toBe(0);
  });
});

/** A tree whose members are given. A real one is gone once it has ended; a forged one is claimed for ever. */
function treeOf(rows: readonly ProcessRow[]): ProcessTree {
  const search = () =>
    rows.filter((row) => {
      const now = table.find(row.pid);
      return now !== undefined && (!now.dead || now.start_time !== row.start_time);
    });
  return { search, sample: search, noteRootEnded: () => {}, ownsGroup: () => false };
}

function getRow(child: ChildProcess): ProcessRow {
  const row = table.find(child.pid ?? 0);
  if (row === undefined) throw new Error('not started');
  return row;
}

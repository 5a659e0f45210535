import { setTimeout as sleep } from 'node:timers/promises';
import type { Cgroup } from './cgroup.ts';
import type { ProcessRow, ProcessTable } from './process-table.ts';
import type { ProcessTree } from './process-tree.ts';

const POLL_MS = 20;

export interface EndTreeOptions {
  readonly table: ProcessTable;
  readonly tree: ProcessTree;
  readonly cgroup?: Cgroup | undefined;
  /** How long they have between SIGTERM and SIGKILL. */
  readonly grace_ms: number;
  /** How long it may take until those that got SIGKILL are gone. */
  readonly kill_ms: number;
  /** These get no SIGTERM: what holds a run together would take it down without grace. */
  readonly spare?: (row: ProcessRow) => boolean;
}

/** SIGTERM to all, grace, SIGKILL, and again until a search finds nobody. Answers how many are left. */
export async function endTree(options: EndTreeOptions): Promise<number> {
  if (await endGently(options)) return 0;
  const { table, tree, cgroup } = options;
  const deadline = performance.now() + options.kill_ms;
  for (;;) {
    const left = tree.search();
    if (left.length === 0) return 0;
    if (performance.now() > deadline) return left.length;
    cgroup?.kill();
    for (const row of left) {
      // A whole group at once leaves no moment in which one that is not yet listed could start another.
      if (tree.ownsGroup(row)) signal(table, row, { group: true, name: 'SIGKILL' });
      signal(table, row, { name: 'SIGKILL' });
    }
    await sleep(POLL_MS);
  }
}

/** Whether all have gone within the grace. */
async function endGently({ table, tree, grace_ms, spare }: EndTreeOptions): Promise<boolean> {
  const deadline = performance.now() + grace_ms;
  const told = new Set<string>();
  for (;;) {
    const left = tree.search();
    if (left.length === 0) return true;
    for (const row of left.filter((one) => !spare?.(one))) {
      const key = `${row.pid} ${row.start_time}`;
      if (told.has(key)) continue;
      told.add(key);
      signal(table, row, { name: 'SIGTERM' });
      // One that was stopped does not hear it before it goes on.
      signal(table, row, { name: 'SIGCONT' });
    }
    do {
      if (performance.now() >= deadline) return false;
      await sleep(Math.min(POLL_MS, grace_ms));
    } while (left.some((row) => isSame(table.find(row.pid), row)));
  }
}

function signal(
  table: ProcessTable,
  row: ProcessRow,
  { name, group = false }: { readonly name: NodeJS.Signals; readonly group?: boolean },
): void {
  const now = table.find(row.pid);
  // The number may be somebody else's by now.
  if (now === undefined || !isSame(now, row)) return;
  try {
    process.kill(group ? -now.group : now.pid, name);
  } catch {
    // Gone since, or of another user: the next search shows which.
  }
}

function isSame(now: ProcessRow | undefined, row: ProcessRow): boolean {
  return now !== undefined && !now.dead && now.start_time === row.start_time;
}

import { LIMITS } from '#kernel/limits.ts';
import type { ProcessHost } from './process-host.ts';
import { toIdentity, type ProcessIdentity } from './process-identity.ts';
import { searchCgroup, type Cgroup } from './supervisor/cgroup.ts';
import { endTree } from './supervisor/end-tree.ts';
import type { Marker } from './supervisor/process-table.ts';
import { createProcessTree, type ProcessTree } from './supervisor/process-tree.ts';

/** The processes that carry the marker, and their descendants; never this one or those that started it. */
export function findMarked(marker: Marker, host: ProcessHost): readonly ProcessIdentity[] {
  return openRemains(marker, host).tree.search().map(toIdentity);
}

/**
 * Ends what a run left behind whose supervisor is gone: SIGTERM, grace, SIGKILL, until none is found. For the start
 * of a server; safe to call when there is nothing.
 */
export async function endMarked(
  marker: Marker,
  options: { readonly host: ProcessHost; readonly grace_ms?: number; readonly kill_ms?: number },
): Promise<{ readonly ended: number; readonly survivors: number }> {
  const { host, grace_ms = LIMITS.run_grace_ms, kill_ms = LIMITS.run_kill_ms } = options;
  const { tree, cgroup } = openRemains(marker, host);
  const found = tree.search().length;
  const survivors = await endTree({ table: host.table, tree, cgroup, grace_ms, kill_ms });
  if (survivors === 0) cgroup?.remove();
  return { ended: Math.max(0, found - survivors), survivors };
}

function openRemains(marker: Marker, host: ProcessHost): { tree: ProcessTree; cgroup: Cgroup | undefined } {
  const { table } = host;
  const cgroup = searchCgroup(marker);
  return { tree: createProcessTree({ table, marker, cgroup }), cgroup };
}

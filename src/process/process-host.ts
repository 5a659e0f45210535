import { ForgeError } from '#kernel/errors.ts';
import { openGuard, type Guard } from './supervisor/open-guard.ts';
import { probeBubblewrap, probeCgroup, probeUnshare, probeWalls } from './supervisor/probe-containment.ts';
import { openProcessTable, type ProcessTable } from './supervisor/process-table.ts';
import type { Namespace } from './supervisor/wrap-command.ts';

/**
 * How what a run starts is kept together, and ended when its watcher is gone.
 * - `pid_namespace`, `bubblewrap`: the kernel kills all of it when its first process ends, which ends with the watcher.
 *   Numbers of processes mean something else inside than outside.
 * - `cgroup`: the kernel lists and kills all of it; a guard does that when the watcher is gone. A program that may
 *   write to the folders of groups can leave its own.
 * - `marker`: by descent, session and a mark in the environment; a guard looks for them when the watcher is gone. One
 *   that leaves its parents and its session and clears its environment, all within a quarter of a second, is not found.
 */
export type ContainmentKind = 'pid_namespace' | 'bubblewrap' | 'cgroup' | 'marker';

export const CONTAINMENT_KINDS: readonly ContainmentKind[] = [
  'pid_namespace',
  'bubblewrap',
  'cgroup',
  'marker',
];

/** A run may be held in more than one way at once. */
export interface Containment {
  /** The strongest of them. */
  readonly kind: ContainmentKind;
  readonly namespace?: Namespace | undefined;
  /** Where groups are made. */
  readonly cgroup_folder?: string | undefined;
}

/** What supervising needs to know of this machine; one serves all runs. */
export interface ProcessHost {
  readonly containment: Containment;
  /** The program that builds walls; undefined where there are none. Found out when it is first asked for. */
  readonly bubblewrap: () => Promise<string | undefined>;
  readonly table: ProcessTable;
  /** Undefined where the kernel itself ends what a watcher leaves. */
  readonly guard: Guard | undefined;
  /** The programs that are at work, each with what kills all of it at once. */
  readonly live: Set<{ killNow(): void }>;
}

/**
 * Finds out by trying what the machine allows of `accept`, and takes the strongest; a control group besides, because
 * it counts what is used and reaches what is left from anywhere. `marker` always works. Costs some starts of small
 * programs, so it is done once.
 */
export async function openProcessHost(
  options: { readonly accept?: readonly ContainmentKind[] | undefined } = {},
): Promise<ProcessHost> {
  if (process.platform === 'win32') {
    throw new ForgeError('not_available', 'Agents cannot be supervised on Windows', {
      hint: 'Run Forge inside of WSL',
    });
  }
  const { accept = CONTAINMENT_KINDS } = options;
  const allows = (kind: ContainmentKind): boolean => accept.includes(kind);
  const [unshared, cgroup_folder] = await Promise.all([
    allows('pid_namespace') ? probeUnshare() : undefined,
    allows('cgroup') ? probeCgroup() : undefined,
  ]);
  const namespace = unshared ?? (allows('bubblewrap') ? await probeBubblewrap() : undefined);
  const kind = namespace?.kind ?? (cgroup_folder === undefined ? 'marker' : 'cgroup');
  let walls: Promise<string | undefined> | undefined;
  return {
    bubblewrap: () => (walls ??= allows('bubblewrap') ? probeWalls() : Promise.resolve(undefined)),
    containment: { kind, namespace, cgroup_folder },
    table: openProcessTable(),
    guard: namespace === undefined ? openGuard() : undefined,
    live: new Set(),
  };
}

/** Kills all that is at work here, at once and without a word: for a process that is about to leave. */
export function killLive({ live }: ProcessHost): void {
  for (const one of live) one.killNow();
}

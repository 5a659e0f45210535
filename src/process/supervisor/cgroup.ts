import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { Marker } from './process-table.ts';

/** A control group of the second version that holds one run: what starts in it cannot leave it unnoticed. */
export interface Cgroup {
  readonly folder: string;
  listPids(): readonly number[];
  kill(): void;
  readCpuMs(): number | undefined;
  remove(): void;
}

/** The folder of this process's own group, where groups could be made; undefined without the second version. */
export function findCgroupFolder(): string | undefined {
  const mount = findMount();
  if (mount === undefined) return undefined;
  const own = /^0::(.*)$/m.exec(readOrEmpty('/proc/self/cgroup'))?.[1];
  if (own === undefined) return undefined;
  const below = relative(mount.root, own);
  return below.startsWith('..') ? undefined : join(mount.point, below);
}

/** Where the groups of the second version are seen, and which of them is seen there. */
function findMount(): { readonly root: string; readonly point: string } | undefined {
  const mounts = readOrEmpty('/proc/self/mountinfo').split('\n');
  const mount = mounts.find((line) => / - cgroup2 /.test(line))?.split(' ');
  const [root, point] = [mount?.[3], mount?.[4]];
  return root === undefined || point === undefined ? undefined : { root, point };
}

/** The group of the run with this marker, made unless it is there. Undefined when that is not allowed. */
export function openCgroup(parent: string, marker: Marker): Cgroup | undefined {
  const folder = join(parent, toCgroupName(marker));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Left by a run of that marker that was killed together with whoever watched it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
  }
  return atFolder(folder);
}

/**
 * The group of a run that this process did not start. It lies below the group of the process that did, which may be a
 * terminal, a session or a service: all groups are looked through, the nearest to the root first.
 */
export function searchCgroup(marker: Marker): Cgroup | undefined {
  const mount = findMount();
  if (mount === undefined) return undefined;
  const name = toCgroupName(marker);
  let level = [mount.point];
  for (let looked = 0; level.length > 0 && looked < MOST_GROUPS; looked += level.length) {
    const below = level.flatMap((folder) => listFolders(folder));
    const found = below.find((folder) => basename(folder) === name);
    if (found !== undefined) return atFolder(found);
    level = below;
  }
  return undefined;
}

/**
 * Groups of runs whose watcher was killed stay, empty, until somebody settles these. Those that nobody did are removed
 * when they are old; one that holds something cannot be.
 */
export function sweepEmptyGroups(parent: string, { older_ms }: { readonly older_ms: number }): void {
  const before = performance.timeOrigin + performance.now() - older_ms;
  for (const folder of listFolders(parent)) {
    if (!basename(folder).startsWith(PREFIX)) continue;
    if ((statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? before) < before) atFolder(folder).remove();
  }
}

const PREFIX = 'forge-';

/** A machine has some hundred. */
const MOST_GROUPS = 100_000;

/** A marker may hold what no file name can. */
function toCgroupName({ name, value }: Marker): string {
  const digest = createHash('sha256').update(`${name}=${value}`).digest('hex');
  return `${PREFIX}${digest.slice(0, 20)}`;
}

function atFolder(folder: string): Cgroup {
  return {
    folder,
    listPids: () =>
      listGroups(folder).flatMap((group) =>
        readOrEmpty(join(group, 'cgroup.procs')).split('\n').filter(Boolean).map(Number),
      ),
    kill() {
      try {
        writeFileSync(join(folder, 'cgroup.kill'), '1');
      } catch {
        // Then each is killed by itself.
      }
    },
    readCpuMs() {
      const used = /^usage_usec (\d+)$/m.exec(readOrEmpty(join(folder, 'cpu.stat')))?.[1];
      return used === undefined ? undefined : Number(used) / 1_000;
    },
    remove() {
      for (const group of listGroups(folder).toReversed()) {
        try {
          rmdirSync(group);
        } catch {
          // Somebody is left in it, which the search has said already.
        }
      }
    },
  };
}

/** A run may have made groups of its own inside; parents come first. */
function listGroups(folder: string): readonly string[] {
  return [folder, ...listFolders(folder).flatMap(listGroups)];
}

function listFolders(folder: string): readonly string[] {
  try {
    const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return inside.map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

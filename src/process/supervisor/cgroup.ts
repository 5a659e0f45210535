import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
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
  try {
    const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
    const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
    const mount = mounts.find((line) => / - cgroup2 /.test(line))?.split(' ');
    const [root, point] = [mount?.[3], mount?.[4]];
    if (own === undefined || root === undefined || point === undefined) return undefined;
    const below = relative(root, own);
    return below.startsWith('..') ? undefined : join(point, below);
  } catch {
    return undefined;
  }
}

/** The group of the run with this marker, made unless it is there. Undefined when that is not allowed. */
export function openCgroup(parent: string, marker: Marker): Cgroup | undefined {
  const folder = toCgroupFolder(parent, marker);
  try {
    mkdirSync(folder);
  } catch (error) {
    // Left by a run of that marker that was killed together with whoever watched it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
  }
  return atFolder(folder);
}

/** The group of a run that this process did not start. */
export function findCgroup(parent: string, marker: Marker): Cgroup | undefined {
  const folder = toCgroupFolder(parent, marker);
  return readOrEmpty(join(folder, 'cgroup.type')) === '' ? undefined : atFolder(folder);
}

/** A marker may hold what no file name can. */
function toCgroupFolder(parent: string, { name, value }: Marker): string {
  const digest = createHash('sha256').update(`${name}=${value}`).digest('hex');
  return join(parent, `forge-${digest.slice(0, 20)}`);
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
  try {
    const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [folder, ...inside.flatMap(({ name }) => listGroups(join(folder, name)))];
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

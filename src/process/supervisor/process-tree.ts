import type { Cgroup } from './cgroup.ts';
import { findMembers, NO_MEMBERS, type Members } from './find-members.ts';
import type { Marker, ProcessRow, ProcessTable } from './process-table.ts';

/** The processes of one run. */
export interface ProcessTree {
  /** Those alive, by descent and session, as of at most `max_age_ms` ago; the cheap look while a run goes on. */
  sample(max_age_ms: number): readonly ProcessRow[];
  /** The process that was started has just been waited for; its session's number is its own for this moment. */
  noteRootEnded(): void;
  /** All alive now, also those that hid: by the marker and the cgroup. */
  search(): readonly ProcessRow[];
  /** Whether its process group has nobody but members. */
  ownsGroup(row: ProcessRow): boolean;
}

export function createProcessTree(options: {
  readonly table: ProcessTable;
  readonly marker: Marker;
  /** Undefined when the one who started it is gone: then the marker alone says what belongs to it. */
  readonly root?: ProcessRow | undefined;
  readonly cgroup?: Cgroup | undefined;
}): ProcessTree {
  const { table, marker, root, cgroup } = options;
  let members: Members =
    root === undefined ? NO_MEMBERS : { rows: new Map([[root.pid, root]]), sessions: new Set([root.pid]) };
  return {
    sample(max_age_ms) {
      members = findMembers(table.list(max_age_ms), members);
      return listAlive(members);
    },
    noteRootEnded() {
      if (root !== undefined) members = findMembers(table.list(0), members, { holds: root.pid });
    },
    search() {
      const all = table.list(0);
      members = findMembers(all, members);
      const hidden = [...all.values()].filter(
        ({ pid, start_time }) => !members.rows.has(pid) && start_time >= (root?.start_time ?? 0),
      );
      const caught = new Set(cgroup?.listPids());
      const seeds = [
        ...table.findMarked(marker, hidden),
        ...hidden.filter(({ pid, dead }) => caught.has(pid) && !dead),
      ].filter(({ pid }) => !isOwn(pid, all));
      if (seeds.length > 0) members = findMembers(all, members, { seeds });
      return listAlive(members);
    },
    ownsGroup: ({ session }) => members.sessions.has(session),
  };
}

function listAlive({ rows }: Members): readonly ProcessRow[] {
  return [...rows.values()].filter(({ dead }) => !dead);
}

/** This process and those that started it: a Forge inside of a run must not end itself. */
function isOwn(pid: number, all: ReadonlyMap<number, ProcessRow>): boolean {
  const seen = new Set<number>();
  for (let at = process.pid; at > 0 && !seen.has(at); at = all.get(at)?.ppid ?? 0) {
    if (at === pid) return true;
    seen.add(at);
  }
  return false;
}

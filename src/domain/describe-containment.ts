/** How the programs of runs are held on a machine. */
export interface ShownContainment {
  readonly kind: 'pid_namespace' | 'bubblewrap' | 'cgroup' | 'marker';
  /** It takes a namespace of users too. */
  readonly of_users: boolean;
  /** Each run has a control group besides. */
  readonly cgroup: boolean;
}

/** What ends a run whose watcher is gone, and what it cannot hold. */
export function describeContainment({ kind, of_users, cgroup }: ShownContainment): {
  readonly message: string;
  /** What would hold more, where something may outlive its watcher. */
  readonly hint: string | undefined;
} {
  switch (kind) {
    case 'pid_namespace':
    case 'bubblewrap': {
      const by = kind === 'bubblewrap' ? ' by bubblewrap' : '';
      const group = cgroup ? ' and a control group' : '';
      const users = of_users ? `. ${NOBODY}` : '';
      const message = `a process namespace${by}${group}: the kernel ends every run with its watcher${users}`;
      return { message, hint: undefined };
    }
    case 'cgroup':
      return {
        message: `a control group and a guard process end every run with its watcher. ${LEAVES}`,
        hint: undefined,
      };
    case 'marker':
      return { message: `a guard process alone ends runs with their watcher. ${ESCAPES}`, hint: STRONGER };
  }
}

const NOBODY =
  "Inside of it files of other users are nobody's: sudo does not work there, and ssh may refuse system-wide settings";
const LEAVES =
  'One that moves itself to another control group first is found by its session and its environment only';
const ESCAPES =
  'A program that forks, makes a session of its own and empties its environment is not found and outlives both';
const STRONGER =
  'Install bubblewrap, or allow user namespaces, or run Forge in a control group that is yours (systemd-run --user --scope)';

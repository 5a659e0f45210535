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
  /** Where something may outlive its watcher. */
  readonly weakness: string | undefined;
} {
  const group = cgroup ? ' and a control group' : '';
  const users = of_users
    ? '; inside, files of other users belong to nobody (sudo does not work, ssh may refuse its system settings)'
    : '';
  switch (kind) {
    case 'pid_namespace':
    case 'bubblewrap': {
      const by = kind === 'bubblewrap' ? ' by bubblewrap' : '';
      return {
        message: `a process namespace${by}${group}: the kernel ends every run with its watcher${users}`,
        weakness: undefined,
      };
    }
    case 'cgroup':
      return {
        message:
          'a control group and a guard process: it ends every run with its watcher. A program that moves itself to another control group first is found only by its session and its environment',
        weakness: undefined,
      };
    case 'marker':
      return {
        message: `a guard process alone. ${WEAK}`,
        weakness: `Runs are held by a guard process alone. ${WEAK}; \`forge doctor\` says what would help`,
      };
  }
}

const WEAK =
  'A program that forks, makes a session of its own and empties its environment outlives its run and its watcher';

/** A shell sets these for itself; the environment of a run is what the caller gave. */
const OF_THE_SHELL = ['PWD', 'OLDPWD', 'SHLVL'];

/** The file descriptor of a starting program by which it says that it is held, and by which it is told to go on. */
export const START_FD = 3;

/** What the starting program says when everything that holds it stands. */
export const HELD = 'r';

interface Command {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How a program is started in a namespace of process numbers that ends with the process that made it. */
export interface Namespace {
  readonly kind: 'pid_namespace' | 'bubblewrap';
  /** Put before the command. */
  readonly argv: readonly string[];
  /** Put before the program itself, where the first process has rights that the program must not have. */
  readonly drop: readonly string[];
  /** It took a namespace of users too: inside, files of other users belong to nobody. */
  readonly of_users: boolean;
  /**
   * A shell that can close any open file by its number. What this process was started with would lead around walls;
   * left out where there are none.
   */
  readonly closes_by?: string | undefined;
}

/**
 * The command that is started in place of the program. It enters the group, makes the namespace, says on START_FD
 * that it is held, waits there for a line, and becomes the program. At the end of that pipe it ends: so a watcher
 * that is killed at any moment of the start leaves nothing. Every step replaces the one before (`exec`): a process in
 * between would take the signal of the watcher's death for itself, and those below would live on.
 */
export function wrapCommand(
  { argv, env }: Command,
  held: { readonly cgroup?: string | undefined; readonly namespace?: Namespace | undefined },
): readonly string[] {
  const { cgroup, namespace } = held;
  const inner = namespace === undefined ? toStart(argv, env) : inNamespace(namespace, { argv, env });
  // The number of this process goes to the namespace, whose own numbers begin there.
  const script = `${cgroup === undefined ? '' : ENTER} shift; exec "$@"`;
  if (namespace?.kind === 'pid_namespace')
    return ['/bin/sh', '-c', numbered(cgroup), 'forge-enter', cgroup ?? '', ...inner];
  return cgroup === undefined ? inner : ['/bin/sh', '-c', script, 'forge-enter', cgroup, ...inner];
}

/** Done by the process itself: from outside it can take the kernel 20 ms, in which it would start others outside. */
const ENTER = '{ echo 0 > "$1/cgroup.procs"; } 2>/dev/null;';

function numbered(cgroup: string | undefined): string {
  return `${cgroup === undefined ? '' : ENTER} shift; FORGE_FIRST_PID=$$ exec "$@"`;
}

/** Says that it is held and waits for its go. Nothing of it is told on stderr: whoever has gone does not read it. */
const AWAIT_GO = `{ echo ${HELD} >&${START_FD} && read -r forge_go <&${START_FD}; } 2>/dev/null || exit 125; exec ${START_FD}>&-;`;

function toStart(argv: readonly string[], env: Command['env'], closes_by?: string): readonly string[] {
  const script = `${closes_by === undefined ? '' : CLOSE}${AWAIT_GO} unset forge_go; ${unset(env)} exec "$@"`;
  return [closes_by ?? '/bin/sh', '-c', script, 'forge-start', ...argv];
}

/** All but the standard ones and START_FD. */
const CLOSE = `for forge_fd in /proc/self/fd/*; do forge_fd=\${forge_fd##*/}; [ "$forge_fd" -le ${START_FD} ] || eval "exec $forge_fd>&-"; done 2>/dev/null; unset forge_fd; `;

/**
 * The first process of a namespace hears no SIGTERM unless it asked for it, and has to wait for the orphans, so the
 * program is the second: bubblewrap has a first of its own, else it is a shell.
 */
function inNamespace(
  { kind, argv: make, drop, closes_by }: Namespace,
  { argv, env }: Command,
): readonly string[] {
  if (kind === 'bubblewrap') return [...make, ...toStart([...drop, ...argv], env, closes_by)];
  const script = `${NUMBER} ${AWAIT_GO} unset forge_go FORGE_FIRST_PID; ${unset(env)} "$@"; exit $?`;
  return [...make, '/bin/sh', '-c', script, 'forge-init', ...drop, ...argv];
}

/**
 * Else numbers begin with 2 in every run, and two that name a file in /tmp by their number get the same name. Where
 * the kernel does not allow it they do.
 */
const NUMBER = '{ echo "$FORGE_FIRST_PID" > /proc/sys/kernel/ns_last_pid; } 2>/dev/null;';

function unset(env: Readonly<Record<string, string>>): string {
  const names = OF_THE_SHELL.filter((name) => !Object.hasOwn(env, name));
  return names.length === 0 ? '' : `unset ${names.join(' ')};`;
}

/** A shell sets these for itself; the environment of a run is what the caller gave. */
const OF_THE_SHELL = ['PWD', 'OLDPWD', 'SHLVL'];

interface Command {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Moves itself into the group and becomes the program. Not done from here: it can take the kernel 20 ms, in which a
 * program that already runs would start others outside of the group.
 */
export function inCgroup(folder: string, { argv, env }: Command): readonly string[] {
  const script = `{ echo 0 > "$1/cgroup.procs"; } 2>/dev/null; shift; ${unset(env)} exec "$@"`;
  return ['/bin/sh', '-c', script, 'forge-enter', folder, ...argv];
}

/**
 * The first process of a namespace hears no SIGTERM unless it asked for it, and has to wait for the orphans, so a
 * shell is the first and the program the second.
 */
export function inPidNamespace(unshare: readonly string[], { argv, env }: Command): readonly string[] {
  return [...unshare, '/bin/sh', '-c', `${unset(env)} "$@"; exit $?`, 'forge-init', ...argv];
}

function unset(env: Readonly<Record<string, string>>): string {
  const names = OF_THE_SHELL.filter((name) => !Object.hasOwn(env, name));
  return names.length === 0 ? '' : `unset ${names.join(' ')};`;
}

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Where a process number means something. */
export interface ProcessPlace {
  readonly host: string;
  /** Another one after every start of the machine; empty where there is none. */
  readonly boot_id: string;
  /** Inside of a container or a contained run the same pid is another process. Empty where there is none. */
  readonly pid_namespace: string;
  /** The namespaces around that one, from all of which its processes are seen; left out where none is known. */
  readonly around?: readonly string[] | undefined;
}

/** Given to a contained run: the namespaces around its own, the nearest first. */
export const OUTER_NAMESPACES = 'FORGE_PID_NAMESPACES';

/** The namespace of the machine itself, from which all others are seen. */
export const FIRST_PID_NAMESPACE = 'pid:[4026531836]';

export function readPlace(): ProcessPlace {
  const outer = process.env[OUTER_NAMESPACES];
  return {
    host: process.getBuiltinModule('node:os').hostname(),
    boot_id: readBootId(),
    pid_namespace: readNamespace('self'),
    ...(outer !== undefined && outer !== '' && { around: outer.split(',') }),
  };
}

export function readNamespace(pid: string): string {
  return orEmpty(() => readlinkSync(`/proc/${pid}/ns/pid`));
}

/** Of all processes that are seen from here. */
export function listPids(): readonly number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function readBootId(): string {
  if (process.platform === 'darwin') {
    // Where it is not needed it is not loaded: a lock of a file is part of small commands.
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    return spawnSync('sysctl', ['-n', 'kern.bootsessionuuid'], { encoding: 'utf8' }).stdout?.trim() ?? '';
  }
  return orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

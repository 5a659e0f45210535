import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Where a process number means something. */
export interface ProcessPlace {
  readonly host: string;
  /** Another one after every start of the machine; empty where there is none. */
  readonly boot_id: string;
  /** Inside of a container or a contained run the same pid is another process. Empty where there is none. */
  readonly pid_namespace: string;
}

export function readPlace(): ProcessPlace {
  return { host: hostname(), boot_id: readBootId(), pid_namespace: readNamespace('self') };
}

export function readNamespace(pid: string): string {
  return orEmpty(() => readlinkSync(`/proc/${pid}/ns/pid`));
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

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A process that something of a run left, and how it was found. */
export interface Leftover {
  readonly pid: number;
  readonly command: string;
}

/**
 * Everything that belongs to a run by its own look at /proc: the marker in the environment, a working folder or an
 * argument inside of the run's place, or the command that the script started.
 */
export function findLeftovers(run: {
  readonly run_id: string;
  readonly place: string;
  readonly command?: string;
}): readonly Leftover[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const command = read(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim();
      const marked = read(`/proc/${name}/environ`).includes(`FORGE_RUN_ID=${run.run_id}`);
      const inside = `${readLink(`/proc/${name}/cwd`)}/`.startsWith(`${run.place}/`);
      const named = command.includes(run.place) || command === run.command;
      return marked || inside || named ? [{ pid: Number(name), command }] : [];
    });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import type { Marker, ProcessRow, ProcessTable } from './process-table.ts';

/** Linux: everything is a small file under /proc. */
export function openProcTable(): Omit<ProcessTable, 'list'> & {
  readAll(): ReadonlyMap<number, ProcessRow>;
} {
  const units = readUnits();
  const buffer = Buffer.allocUnsafe(4_096);
  const find = (pid: number) => {
    const stat = readSmall(`/proc/${pid}/stat`, buffer);
    return stat === undefined ? undefined : parseStat(stat, units.tick_ms);
  };
  return {
    find,
    readAll() {
      const rows = new Map<number, ProcessRow>();
      for (const name of listFolder('/proc')) {
        if (!/^\d/.test(name)) continue;
        const row = find(Number(name));
        if (row !== undefined) rows.set(row.pid, row);
      }
      return rows;
    },
    findMarked(marker, rows) {
      return rows.filter(({ pid, dead }) => !dead && carries(pid, marker));
    },
    measureMemory(pid) {
      const [, resident = 0, shared = 0] =
        readSmall(`/proc/${pid}/statm`, buffer)?.split(' ').map(Number) ?? [];
      return (resident - shared) * units.page_bytes;
    },
  };
}

/** One line of /proc/<pid>/stat. The name in it may hold anything, also parentheses and spaces. */
export function parseStat(stat: string, tick_ms: number): ProcessRow | undefined {
  const open = stat.indexOf(' (');
  const close = stat.lastIndexOf(') ');
  if (open < 0 || close < 0) return undefined;
  const fields = stat.slice(close + 2).split(' ');
  // The third field of the file is the first here.
  const at = (field: number) => Number(fields[field - 3]);
  const cpu = at(14) + at(15) + at(16) + at(17);
  return {
    pid: Number(stat.slice(0, open)),
    ppid: at(4),
    group: at(5),
    session: at(6),
    start_time: at(22),
    // A process whose first thread has ended looks like a zombie while its other threads run.
    dead: /^[ZXx]$/.test(fields[0] ?? '') && at(20) <= 1,
    cpu_ms: cpu * tick_ms,
  };
}

/** As the program was started: what it does to its own environment later does not show here. */
function carries(pid: number, { name, value }: Marker): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    const wanted = Buffer.from(`${name}=${value}\0`);
    for (let at = environment.indexOf(wanted); at >= 0; at = environment.indexOf(wanted, at + 1)) {
      if (at === 0 || environment[at - 1] === 0) return true;
    }
    return false;
  } catch {
    // Gone, or somebody else's.
    return false;
  }
}

function readSmall(path: string, buffer: Buffer): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** The kernel tells each program its units in the auxiliary vector: pairs of words, the first of them the kind. */
function readUnits(): { page_bytes: number; tick_ms: number } {
  const units = new Map<number, number>();
  try {
    const words = readFileSync('/proc/self/auxv');
    for (let at = 0; at + 16 <= words.length; at += 16) {
      units.set(Number(words.readBigUInt64LE(at)), Number(words.readBigUInt64LE(at + 8)));
    }
  } catch {
    // Without it: what nearly every machine has.
  }
  return { page_bytes: units.get(AT_PAGESZ) ?? 4_096, tick_ms: 1_000 / (units.get(AT_CLKTCK) ?? 100) };
}

const AT_PAGESZ = 6;
const AT_CLKTCK = 17;

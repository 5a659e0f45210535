import { openProcTable } from './proc-table.ts';
import { openPsTable } from './ps-table.ts';

/** One process as the system lists it. */
export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  readonly group: number;
  readonly session: number;
  /** Ticks since boot, or seconds since 1970: with the pid it names one process, even when the pid is used again. */
  readonly start_time: number;
  /** It has ended and only waits for its parent to notice. */
  readonly dead: boolean;
  /** Its own time and that of the children it has waited for. */
  readonly cpu_ms: number;
}

/** `NAME=value` in the environment of a process and of all it starts. */
export interface Marker {
  readonly name: string;
  readonly value: string;
}

/** What runs on this machine. Reading it never throws: a process may end while it is looked at. */
export interface ProcessTable {
  /** All processes, read again unless they were read within `max_age_ms` (or reading is expensive here). */
  list(max_age_ms: number): ReadonlyMap<number, ProcessRow>;
  find(pid: number): ProcessRow | undefined;
  /** Those of `rows` that carry the marker. */
  findMarked(marker: Marker, rows: readonly ProcessRow[]): readonly ProcessRow[];
  /** Resident bytes without what is shared with files, so that a program that runs ten times counts once. */
  measureMemory(pid: number): number;
}

export function openProcessTable(platform: NodeJS.Platform = process.platform): ProcessTable {
  return withMemory(platform === 'linux' ? openProcTable() : openPsTable(platform));
}

/** At most a fiftieth of the time goes into looking, however many processes there are; but every second one looks. */
const COST_FACTOR = 50;
const OLDEST_MS = 1_000;

type Reader = Omit<ProcessTable, 'list'> & { readAll(): ReadonlyMap<number, ProcessRow> };

/** One look serves everybody who asks shortly after. */
function withMemory(reader: Reader): ProcessTable {
  let last: { rows: ReadonlyMap<number, ProcessRow>; at: number; cost: number } | undefined;
  return {
    list(max_age_ms) {
      const now = performance.now();
      const enough = Math.min(OLDEST_MS, (last?.cost ?? 0) * COST_FACTOR);
      const age = max_age_ms === 0 ? 0 : Math.max(max_age_ms, enough);
      if (last !== undefined && now - last.at < age) return last.rows;
      const { user, system } = process.threadCpuUsage();
      const rows = reader.readAll();
      const used = process.threadCpuUsage();
      last = { rows, at: performance.now(), cost: (used.user + used.system - user - system) / 1_000 };
      return rows;
    },
    find: reader.find,
    findMarked: reader.findMarked,
    measureMemory: reader.measureMemory,
  };
}

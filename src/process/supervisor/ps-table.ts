import type { Marker, ProcessRow, ProcessTable } from './process-table.ts';

const COLUMNS = 'pid=,ppid=,pgid=,stat=,time=,rss=,lstart=';
const ROW = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+(\d+)\s+(\S.*)$/;

/** Unix systems without /proc: `ps` is asked. Their sessions have no number, so a group stands for one. */
export function openPsTable(
  platform: NodeJS.Platform,
): Omit<ProcessTable, 'list'> & { readAll(): ReadonlyMap<number, ProcessRow> } {
  const ask = (args: readonly string[]) => readLines(args).flatMap((line) => parsePsLine(line) ?? []);
  return {
    readAll: () => new Map(ask(['-A', '-o', COLUMNS]).map(({ row }) => [row.pid, row])),
    find: (pid) => ask(['-o', COLUMNS, '-p', String(pid)])[0]?.row,
    findMarked(marker, rows) {
      const pids = findMarkedPids(marker, platform);
      return rows.filter(({ pid, dead }) => !dead && pids.has(pid));
    },
    measureMemory: (pid) => ask(['-o', COLUMNS, '-p', String(pid)])[0]?.memory ?? 0,
  };
}

export function parsePsLine(line: string): { row: ProcessRow; memory: number } | undefined {
  const [, pid, ppid, group, state, time, kilobytes, started] = ROW.exec(line.trimEnd()) ?? [];
  if (state === undefined || time === undefined) return undefined;
  const row = {
    pid: Number(pid),
    ppid: Number(ppid),
    group: Number(group),
    session: Number(group),
    start_time: Date.parse(`${started} UTC`) / 1_000,
    dead: state.startsWith('Z'),
    cpu_ms: parseCpuTime(time),
  };
  return { row, memory: Number(kilobytes) * 1_024 };
}

/** `[[dd-]hh:]mm:ss[.cc]` */
function parseCpuTime(text: string): number {
  const [days, rest] = text.includes('-') ? text.split('-') : ['0', text];
  const seconds = (rest ?? '0').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1_000;
}

/** The environment stands behind the arguments; both are the process's own text, so this is a search for words. */
function findMarkedPids({ name, value }: Marker, platform: NodeJS.Platform): ReadonlySet<number> {
  const showEnvironment = platform === 'darwin' ? ['-A', '-E'] : ['axe'];
  const lines = readLines([...showEnvironment, '-ww', '-o', 'pid=,command=']);
  const wanted = ` ${name}=${value} `;
  return new Set(
    lines.filter((line) => `${line} `.includes(wanted)).map((line) => Number.parseInt(line, 10)),
  );
}

function readLines(args: readonly string[]): readonly string[] {
  // Times in one language and zone: they are compared with those of another moment.
  const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' };
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const { stdout } = spawnSync('ps', args, { env, encoding: 'latin1', maxBuffer: 268_435_456 });
  return (stdout ?? '').split('\n').filter((line) => line !== '');
}

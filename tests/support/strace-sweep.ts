import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ForgePlace, ProgramResult } from './forge-cli.ts';
import { seededRandom } from './random.ts';
import {
  describePoint,
  findAgain,
  findKilled,
  injecting,
  readWritePoints,
  tracing,
  type WritePoint,
} from './strace-points.ts';

/** A command and what has to hold wherever it is killed. */
export interface KillScenario {
  readonly place: ForgePlace;
  /** A repository that is copied for every kill and never changed itself. */
  readonly template: string;
  /** Starts the command in a copy; `tracer` are the words to put before the program that is killed, or none. */
  start(copy: string, tracer: readonly string[]): Promise<ProgramResult>;
  /** Looks at a copy after the command ran to its end, before the first kill. */
  rehearse(copy: string): Promise<void>;
  /** Looks at a copy in which the command was killed: what is wrong there, a sentence each. */
  examine(copy: string): Promise<string[]>;
}

export interface Swept {
  /** All points that the command has. */
  readonly points: number;
  /** Points at which it was killed, or a call failed, in this run. */
  readonly killed: number;
  /** What each of them hit: where a kill came, or which error a call gave. */
  readonly hits: readonly string[];
  /** Points that no try hit. */
  readonly missed: readonly string[];
  readonly violations: readonly string[];
}

type Choice = (points: readonly WritePoint[]) => readonly WritePoint[];

/** Kills the command before every point that `choose` takes, each time in a fresh copy, two at a time. */
export function sweepKills(scenario: KillScenario, choose: Choice = (points) => points): Promise<Swept> {
  const strike: Strike = async (copy, log, point) => {
    await scenario.start(copy, injecting(log, point));
    const where = findKilled(log, copy);
    return { where, wrong: [] };
  };
  return sweep(scenario, (points) => choose(points).map((point) => ({ point, strike })));
}

/** Calls that fail with `error`. Where it is `fatal` the command must not go on. */
export interface CallFault {
  readonly choose: Choice;
  readonly error: string;
  readonly fatal: (point: WritePoint) => boolean;
}

/** The same with calls that fail, each fault at its own points: the command goes on or ends with a sentence. */
export function sweepErrors(scenario: KillScenario, faults: readonly CallFault[]): Promise<Swept> {
  return sweep(scenario, (points) =>
    faults.flatMap((fault) => {
      const strike = failing(scenario, fault);
      return fault.choose(points).map((point) => ({ point, strike }));
    }),
  );
}

function failing(scenario: KillScenario, { error, fatal }: CallFault): Strike {
  return async (copy, log, point) => {
    const { exit, stdout, stderr } = await scenario.start(copy, injecting(log, point, error));
    const [stable = ''] = point.path.split('.*', 1);
    // strace counts in each thread and each process, so that one fault may hit several calls.
    const isMeant = readFileSync(log, 'utf8')
      .split('\n')
      .some((line) => line.includes('(INJECTED)') && line.includes(`/${stable}`));
    // A fault elsewhere, in a pipe of Node's own for one, says nothing of the files.
    if (!isMeant) return { where: undefined, wrong: [] };
    const isClear = exit < 128 && /^forge: .+/m.test(stderr) && !/\n +at /.test(stderr);
    const isRight = exit === 0 ? !fatal(point) : isClear;
    const wrong = isRight ? [] : [`it ended with ${exit}: ${stdout}${stderr}`];
    return { where: error, wrong };
  };
}

type Strike = (
  copy: string,
  log: string,
  point: WritePoint,
) => Promise<{ readonly where: string | undefined; readonly wrong: readonly string[] }>;

interface Blow {
  readonly point: WritePoint;
  readonly strike: Strike;
}

/** So often a point is looked for: a command that starts others does not count its calls alike each time. */
const OFFSETS = [0, 0, 1, -2, 3, -1, 0, 1];
const TRIES = OFFSETS.length;

async function sweep(
  scenario: KillScenario,
  choose: (points: readonly WritePoint[]) => readonly Blow[],
): Promise<Swept> {
  const { template } = scenario;
  const parent = mkdtempSync(join(dirname(template), 'kills-'));
  const copyTo = (name: string): { copy: string; log: string } => {
    mkdirSync(join(parent, name));
    const copy = join(parent, name, 'project');
    cpSync(template, copy, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return { copy, log: join(parent, name, 'trace') };
  };
  try {
    // The first run fills the cache of compiled code, which would count as writes and shift the numbers.
    await scenario.start(copyTo('warm').copy, []);
    const whole = copyTo('whole');
    await scenario.start(whole.copy, tracing(whole.log));
    const points = readWritePoints(whole.log, whole.copy);
    await scenario.rehearse(whole.copy);
    const chosen = choose(points);
    const waiting = chosen.map((blow, at) => ({ ...blow, at, tries: 1 }));
    const violations: string[] = [];
    const hits: string[] = [];
    const missed: string[] = [];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { copy, log } = copyTo(`at-${next.at}-${next.tries}`);
        const struck = await next.strike(copy, log, next.point);
        if (struck.where !== undefined) hits.push(struck.where);
        else if (next.tries < TRIES) {
          const again = findAgain(log, copy, next.point) ?? next.point;
          // Next to where it was: alternately after and before it, further each time.
          const nth = Math.max(1, again.nth + (OFFSETS[next.tries] ?? 0));
          waiting.push({ ...next, point: { ...again, nth }, tries: next.tries + 1 });
        } else missed.push(describePoint(next.point));
        // A command that was not hit came to its end: it left nothing half done, and counts as no kill.
        const examined = struck.where === undefined ? [] : await scenario.examine(copy);
        const wrong = [...struck.wrong, ...examined];
        const place = `${describePoint(next.point)} (hit: ${struck.where ?? 'no'})`;
        violations.push(...wrong.map((sentence) => `${place}: ${sentence}`));
        rmSync(dirname(copy), { recursive: true, force: true });
      }
    };
    await Promise.all([work(), work()]);
    return { points: points.length, killed: hits.length, hits, missed, violations };
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** About so many of the points, spread evenly, and beginning anywhere among the first of them. */
export function some(count: number, seed: number): (points: readonly WritePoint[]) => readonly WritePoint[] {
  return (points) => {
    const step = Math.max(1, points.length / count);
    const start = (seededRandom(seed).below(1_000) / 1_000) * step;
    return Array.from({ length: Math.min(count, points.length) }, (_, at) =>
      points.at(Math.floor(start + at * step)),
    ).filter((point) => point !== undefined);
  };
}

/**
 * The program where no build can change it in the middle of a sweep, with its own numbers of calls. Removed with the
 * folder that it returns.
 */
export function copyProgram(): { readonly folder: string; readonly script: string } & Disposable {
  const source = resolve(import.meta.dirname, '../..');
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'forge-program-')));
  for (const name of ['bin', 'dist']) cpSync(join(source, name), join(folder, name), { recursive: true });
  cpSync(join(source, 'package.json'), join(folder, 'package.json'));
  return {
    folder,
    script: join(folder, 'bin', 'forge.cjs'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The two files that travel, as they are. */
export function readTaskFiles(root: string): { tasks: string; history: string } {
  const read = (name: string): string => readFileSync(join(root, '.forge', name), 'latin1');
  return { tasks: read('tasks.jsonl'), history: read('history.jsonl') };
}

const TABLES = [
  'tasks',
  'deleted_tasks',
  'dependencies',
  'unresolved_dependencies',
  'unresolved_parents',
  'comments',
];

/** What the database holds of tasks, read from a copy, so that the next command finds what the kill left. */
export function readTaskRows(root: string): string {
  const store = join(root, '.git', 'forge');
  const copy = mkdtempSync(join(dirname(root), 'rows-'));
  try {
    for (const name of readdirSync(store))
      if (/^forge\.db(-wal)?$/.test(name)) cpSync(join(store, name), join(copy, name));
    const db = new DatabaseSync(join(copy, 'forge.db'));
    try {
      const rows = TABLES.map((name) => {
        const found = db.prepare(`SELECT * FROM ${name}`).all();
        return found.map((row) => JSON.stringify(row)).sort();
      });
      const [sound] = db.prepare('PRAGMA integrity_check').all();
      return JSON.stringify([sound, rows]);
    } finally {
      db.close();
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Temporary files anywhere in these folders of a project. */
export function findLitter(root: string, folders: readonly string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter(({ name }) => name.endsWith('.tmp'))
      .map(({ parentPath, name }) => relative(root, join(parentPath, name))),
  );
}

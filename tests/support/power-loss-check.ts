import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { cutPower, writeTree, type Cut } from './power-loss-cut.ts';
import { REPLICA, type RecordedSession } from './power-loss-session.ts';
import { seededRandom } from './random.ts';
import type { Workshop } from './strace-scenarios.ts';

/** What is known of each task, a text each. */
type ByTask = ReadonlyMap<string, string>;

/** What a command answers, and what the rows of the database say. */
export interface Known {
  readonly answers: ByTask;
  readonly rows: ByTask;
}

export interface Examined {
  /** Sentences; none where all is as it should be. */
  readonly wrong: readonly string[];
  /** Whether the database itself was sound before any command of Forge. */
  readonly sound: boolean;
}

const LIST = ['task', 'list', '--all', '--sort', 'id', '--json', '--limit', '1000'];

/** What the store must know when each step has ended: the oracle. The first one is what it knew before all of them. */
export async function readAcknowledged(shop: Workshop, session: RecordedSession): Promise<Known[]> {
  const ends = [0, ...session.steps.map(({ end }) => end)];
  const known: Known[] = [];
  for (const at of ends) {
    using folder = placeCut(shop, session, { at, random: seededRandom(at), survives: 'all' });
    const answers = readAnswers(await shop.must(folder.path, ...LIST));
    known.push({ answers, rows: readRows(folder.path) });
  }
  return known;
}

/**
 * Cuts the power, starts again and looks: each task is as the last step that was acknowledged before the cut left it, or
 * as the step that was at work would have; a doctor can mend all that it finds; the next write works; and the replica
 * alone brings the same tasks.
 */
export async function examineCut(
  shop: Workshop,
  session: RecordedSession,
  known: readonly Known[],
  cut: Cut,
): Promise<Examined> {
  const wrong: string[] = [];
  const { forge } = shop;
  using folder = placeCut(shop, session, cut);
  const { path } = folder;
  const sound = isSound(path);
  const run = async (what: string, ...args: string[]): Promise<string> => {
    const { exit, stdout, stderr } = await forge(path, ...args);
    if (exit !== 0) wrong.push(`${what} fails: ${stdout}${stderr}`);
    return exit === 0 ? stdout : '[]';
  };
  const acknowledged = session.steps.filter(({ end }) => end <= cut.at).length;
  // An edit that no command has taken in was not acknowledged: the file before it may be back.
  const isTaken = session.steps[acknowledged - 1]?.unseen !== true;
  const allowed = known.slice(acknowledged - (isTaken ? 0 : 1), acknowledged + 2);
  const isUnseen = session.steps
    .slice(Math.max(0, acknowledged - 1), acknowledged + 1)
    .some(({ unseen }) => unseen);
  const expectSame = (found: ByTask, wanted: readonly ByTask[], where: string): void => {
    const timed = isUnseen ? withoutTimes : (one: ByTask) => one;
    const differences = compareTasks(timed(found), wanted.map(timed));
    wrong.push(...differences.map((sentence) => `${where}: ${sentence}`));
  };
  // The first command only reads, or it writes.
  const isReader = cut.random.oneIn(2);
  if (isReader) {
    const answers = readAnswers(await run('the first command', ...LIST));
    expectSame(
      answers,
      allowed.map((one) => one.answers),
      'the first answer',
    );
  }
  const made = readMade(await run('the next write', 'task', 'create', 'After the power was back', '--json'));
  const rows = readRows(path);
  expectSame(
    without(rows, made),
    allowed.map((one) => one.rows),
    'the rows',
  );
  wrong.push(...findBrokenMoves(path));
  const doctor = await forge(path, 'doctor', '--fix', '--json');
  if (doctor.exit !== 0)
    wrong.push(`doctor --fix cannot mend it: ${brokenOf(doctor.stdout)}${doctor.stderr}`);
  expectSame(readRows(path), [rows], 'after doctor --fix');
  await run('a comment', 'task', 'comment', made, 'It is back', '--json');
  await run('an export', 'export');
  const before = readRows(path);
  for (const suffix of ['', '-wal', '-shm'])
    rmSync(join(path, '.git/forge', `forge.db${suffix}`), { force: true });
  await run('a command without a database', 'task', 'update', made, '--title', 'Back', '--json');
  expectSame(without(readRows(path), made), [without(before, made)], 'from the replica alone');
  return { wrong, sound };
}

/** What the cut left, where the repository was; removed in the end. */
function placeCut(
  shop: Workshop,
  session: RecordedSession,
  cut: Cut,
): { readonly path: string } & Disposable {
  const { template: path } = shop;
  const tree = cutPower(session.disk, cut);
  writeTree(session.disk, tree, path);
  // On a disk of its own the replica keeps the number by which the database knows it; here it has another one. Half
  // of the cuts are as if it had been kept, the others as if the disk had been copied.
  if (cut.random.oneIn(2)) keepReplica(session, tree.find(REPLICA), path);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

function keepReplica({ replicas }: RecordedSession, file: number | undefined, root: string): void {
  const path = join(root, '.git/forge/forge.db');
  if (file === undefined || !existsSync(path) || !isSound(root)) return;
  const db = new DatabaseSync(path);
  try {
    const [fact] = db.prepare("SELECT value FROM store_facts WHERE name = 'replica_inode'").all();
    if (replicas.get(Number(fact?.['value'])) !== file) return;
    const { ino } = statSync(join(root, REPLICA));
    db.prepare("UPDATE store_facts SET value = ? WHERE name = 'replica_inode'").run(ino);
  } catch (error) {
    // A database that is just being made has no such table.
    if (!/no such table/.test((error as Error).message)) throw error;
  } finally {
    db.close();
  }
}

function readAnswers(stdout: string): ByTask {
  const tasks = JSON.parse(stdout) as { id: string }[];
  return new Map(tasks.map((task) => [task.id, JSON.stringify(task)]));
}

function readMade(stdout: string): string {
  return (JSON.parse(stdout) as { id?: string }).id ?? '';
}

function withoutTimes(tasks: ByTask): ByTask {
  const times = /"(updated_at|stamps)":"(?:[^"\\]|\\.)*"|"digest":\d+/g;
  return new Map([...tasks].map(([id, text]) => [id, text.replace(times, '')]));
}

function without(tasks: ByTask, id: string): ByTask {
  return new Map([...tasks].filter(([one]) => one !== id));
}

/** Looked at in a copy, so that the next command finds what the cut left. */
function isSound(root: string): boolean {
  return withCopy(
    root,
    (db) => db.prepare('PRAGMA integrity_check').all()[0]?.['integrity_check'] === 'ok',
    false,
  );
}

function withCopy<T>(root: string, work: (db: DatabaseSync) => T, otherwise: T): T {
  const store = join(root, '.git/forge');
  const copy = mkdtempSync(join(dirname(root), 'rows-'));
  try {
    for (const name of ['forge.db', 'forge.db-wal'])
      if (existsSync(join(store, name))) cpSync(join(store, name), join(copy, name));
    const db = new DatabaseSync(join(copy, 'forge.db'));
    try {
      return work(db);
    } finally {
      db.close();
    }
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_SQLITE_ERROR') return otherwise;
    throw error;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** What says something of a task, by the column with its id, and what a database made anew has otherwise. */
const TABLES = {
  tasks: { id: 'id', except: [] },
  dependencies: { id: 'from_id', except: [] },
  unresolved_dependencies: { id: 'from_id', except: [] },
  unresolved_parents: { id: 'task_id', except: [] },
  comments: { id: 'task_id', except: [] },
  deleted_tasks: { id: 'id', except: ['undo'] },
  transitions: { id: 'task_id', except: ['event_seq'] },
  // The lease of a claim that is over means nothing.
  "leases NATURAL JOIN (SELECT id AS task_id, fence FROM tasks WHERE status = 'in_progress')": {
    id: 'task_id',
    except: ['expires_at'],
  },
} as const;

function readRows(root: string): ByTask {
  const rows = withCopy(
    root,
    (db) =>
      Object.entries(TABLES).flatMap(([table, { id, except }]) =>
        db
          .prepare(`SELECT * FROM ${table}`)
          .all()
          .map((row) => {
            const columns = Object.entries(row).filter(([name]) => !except.some((one) => one === name));
            return { id: String(row[id]), text: `${table} ${JSON.stringify(Object.fromEntries(columns))}` };
          }),
      ),
    [],
  );
  const byTask = Map.groupBy(rows, (row) => row.id);
  return new Map(
    [...byTask].map(([id, of]) => [
      id,
      of
        .map(({ text }) => text)
        .sort()
        .join('\n'),
    ]),
  );
}

/** Each task has to be as one of those states has it. */
function compareTasks(found: ByTask, allowed: readonly ByTask[]): string[] {
  const ids = new Set([...found.keys(), ...allowed.flatMap((rows) => [...rows.keys()])]);
  return [...ids].flatMap((id) => {
    const rows = found.get(id);
    if (allowed.some((state) => state.get(id) === rows)) return [];
    const wanted = allowed[0]?.get(id)?.split('\n') ?? [];
    const there = rows?.split('\n') ?? [];
    const lines = [
      ...wanted.filter((line) => !there.includes(line)).map((line) => `- ${shorten(line)}`),
      ...there.filter((line) => !wanted.includes(line)).map((line) => `+ ${shorten(line)}`),
    ];
    return [`${id} is ${rows === undefined ? 'lost' : 'neither old nor new'}:\n${lines.join('\n')}`];
  });
}

function shorten(line: string): string {
  return line.replaceAll(/(Words \d+\. )+/g, '$1').slice(0, 1_500);
}

/** Moves of a task that do not follow from each other, or do not lead to where it is. */
function findBrokenMoves(root: string): string[] {
  return withCopy(
    root,
    (db) =>
      db
        .prepare(
          `SELECT t.id, t.state, (SELECT to_state FROM transitions m WHERE m.task_id = t.id
             ORDER BY m.created_at DESC LIMIT 1) AS last FROM tasks t`,
        )
        .all()
        .filter(({ state, last }) => last !== null && state !== last)
        .map(
          ({ id, state, last }) =>
            `${String(id)} is ${String(state)}, but its last move was to ${String(last)}`,
        ),
    [],
  );
}

function brokenOf(answer: string): string {
  try {
    const { findings } = JSON.parse(answer) as {
      findings: { state: string; name: string; message: string }[];
    };
    const broken = findings.filter(({ state }) => state !== 'ok' && state !== 'warning');
    return broken.map(({ name, message }) => `${name}: ${message}`).join('; ');
  } catch {
    return answer;
  }
}

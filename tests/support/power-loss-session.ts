import {
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { cutPower } from './power-loss-cut.ts';
import { RecordedDisk } from './power-loss-disk.ts';
import { readDiskCalls, recording } from './power-loss-trace.ts';
import { seededRandom } from './random.ts';
import type { Workshop } from './strace-scenarios.ts';

/** What happens in a session, one after the other. */
export type SessionStep =
  /** A command of the built program; it has to succeed, and is acknowledged when it ends. */
  | { readonly forge: readonly string[] }
  /** A command of git, with the hooks that it starts. */
  | { readonly git: readonly string[] }
  /** An editor saves a task file. */
  | { readonly write: string; readonly change: (text: string) => string };

/** One step that was carried out. */
export interface DoneStep {
  readonly what: string;
  /** So many changes of the disk had been recorded when its process had ended. */
  readonly end: number;
  /** An edit by hand that no command has seen yet: it gets its time from the command that sees it first. */
  readonly unseen: boolean;
}

export interface RecordedSession {
  readonly disk: RecordedDisk;
  readonly steps: readonly DoneStep[];
  /** The modelled file for each number that the file system gave to a replica: the database remembers that number. */
  readonly replicas: ReadonlyMap<number, number>;
}

export const REPLICA = '.git/forge/tasks.jsonl';

/**
 * Runs the steps in the repository of the workshop, each a process of its own, and records every write of theirs.
 * `held` keeps the database open meanwhile, as a server does, so that the log of SQLite stays between commands. The
 * folder is gone in the end: what a cut leaves is put there, because Forge knows working trees by their paths.
 */
export async function recordSession(
  shop: Workshop,
  script: string,
  steps: readonly SessionStep[],
  options: { readonly held?: boolean } = {},
): Promise<RecordedSession> {
  const { template: root, place } = shop;
  using _held = options.held === true ? holdDatabase(root) : undefined;
  const disk = new RecordedDisk(root);
  const done: DoneStep[] = [];
  const replicas = new Map<number, number>();
  const noteReplica = (): void => {
    const [file, stats] = [
      disk.find(join(root, REPLICA)),
      statSync(join(root, REPLICA), { throwIfNoEntry: false }),
    ];
    if (file !== undefined && stats !== undefined) replicas.set(stats.ino, file);
  };
  noteReplica();
  for (const [at, step] of steps.entries()) {
    const what = describeStep(step);
    if ('write' in step) {
      const path = join(root, step.write);
      const bytes = Buffer.from(step.change(readFileSync(path, 'utf8')));
      writeFileSync(`${path}~`, bytes);
      renameSync(`${path}~`, path);
      disk.place(path, bytes);
    } else {
      const log = join(dirname(root), `step-${at}.trace`);
      const words = 'forge' in step ? [process.execPath, script, ...step.forge] : ['git', ...step.git];
      const [strace = '', ...rest] = [...recording(log), ...words];
      const { exit, stdout, stderr } = await place.exec(strace, rest, { cwd: root });
      if (exit !== 0) throw new Error(`${what} ended with ${exit}: ${stdout}${stderr}`);
      disk.record(readDiskCalls(log, root));
    }
    noteReplica();
    done.push({ what, end: disk.length, unseen: 'write' in step });
  }
  const wrong = compareTrees(disk, root);
  if (wrong.length > 0) throw new Error(`the recording differs from the disk: ${wrong.join('; ')}`);
  rmSync(root, { recursive: true });
  return { disk, steps: done, replicas };
}

export function describeStep(step: SessionStep): string {
  if ('write' in step) return `${step.write} written by another program`;
  return 'forge' in step ? `forge ${step.forge.join(' ')}` : `git ${step.git.join(' ')}`;
}

/** A reader that stays: the last process that closes the database would move SQLite's log into it and remove it. */
function holdDatabase(root: string): Disposable {
  const db = new DatabaseSync(join(root, '.git/forge/forge.db'));
  db.prepare('SELECT count(*) FROM tasks').get();
  return { [Symbol.dispose]: () => db.close() };
}

/** Where the recorded tree is not the one that lies there: then a call was missed, and no cut of it means anything. */
function compareTrees(disk: RecordedDisk, root: string): string[] {
  const wrong: string[] = [];
  const recorded = cutPower(disk, { at: disk.length, random: seededRandom(0), survives: 'all' });
  const compare = (folder: number, path: string): void => {
    const there = readdirSync(path, { withFileTypes: true }).filter(({ name }) => !name.endsWith('-shm'));
    const known = recorded.names.get(folder) ?? new Map<string, number>();
    for (const name of known.keys())
      if (!there.some((entry) => entry.name === name)) wrong.push(`${join(path, name)} is not there`);
    for (const entry of there) {
      const at = join(path, entry.name);
      const id = known.get(entry.name);
      if (id === undefined) wrong.push(`${at} was not recorded`);
      else if (entry.isDirectory()) compare(id, at);
      else {
        const bytes = entry.isSymbolicLink() ? Buffer.from(readlinkSync(at)) : readFileSync(at);
        if (!bytes.equals(recorded.bytes(id))) wrong.push(`${at} has other bytes`);
      }
    }
  };
  compare(0, root);
  return wrong;
}

import {
  constants,
  copyFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { isAlive, type ProcessIdentity, readSelf } from './process-identity.ts';
import { isLeftBehind, toTemporaryPath } from './temporary-path.ts';

/** Who has a lock: a process, and what it is at. */
export interface LockHolder extends ProcessIdentity {
  readonly what: string;
  /** Of a process that says elsewhere that it is there. */
  readonly daemon_id?: string | undefined;
}

export interface LockWish {
  /** For the message of whoever waits too long. */
  readonly what: string;
  /** This process unless said. */
  readonly as?: (ProcessIdentity & Pick<LockHolder, 'daemon_id'>) | undefined;
  /** Whether a holder is gone of which the system here knows nothing. */
  readonly isGone?: ((holder: LockHolder) => Promise<boolean>) | undefined;
  readonly patience_ms?: number | undefined;
  /** What is thrown when the patience is over; the holder is undefined where the file cannot be read. */
  readonly refuse?: ((holder: LockHolder | undefined) => Error) | undefined;
}

/**
 * Two processes that work on the same files come one after the other. The lock is a file at `path` that names its
 * holder so that neither a kill nor another process with the same number keeps it: one whose holder is gone is
 * nobody's. What cannot be known (another machine, a namespace that is not seen from here) is waited for. Its folder
 * must be there.
 */
export async function holdFileLock<T>(path: string, wish: LockWish, work: () => T | Promise<T>): Promise<T> {
  const release = await takeFileLock(path, wish);
  try {
    return await work();
  } finally {
    release();
  }
}

/** Gives what frees it again. */
export async function takeFileLock(path: string, wish: LockWish): Promise<() => void> {
  const { what, as = readSelf(), patience_ms = LIMITS.file_lock_ms } = wish;
  const text = JSON.stringify({ ...as, what } satisfies LockHolder);
  sweepLeft(path);
  // Written before it is a lock: one without its holder could never be told to be nobody's.
  const ready = toTemporaryPath(path);
  writeFileSync(ready, text, { flag: 'wx', mode: 0o600 });
  try {
    for (let waited = 0; !tryTake(path, ready); waited += POLL_MS) {
      if (waited > patience_ms) throw (wish.refuse ?? toBusy(path, what))(readHolder(path));
      // Looking for a process may cost the start of a program.
      if (waited % LOOK_MS === 0) removeAbandonedLock(path, await findGone(path, wish));
      else await setTimeout(POLL_MS);
    }
  } finally {
    rmSync(ready, { force: true });
  }
  return () => {
    if (readText(path) === text) rmSync(path, { force: true });
  };
}

/** The text of the lock where a caller who knows says that its holder is gone. */
async function findGone(path: string, { isGone }: LockWish): Promise<string | undefined> {
  if (isGone === undefined) return undefined;
  const text = readText(path);
  const holder = parseHolder(text ?? '');
  return holder !== undefined && (await isGone(holder)) ? text : undefined;
}

const POLL_MS = 20;
const LOOK_MS = 200;

function toBusy(path: string, what: string) {
  return (holder: LockHolder | undefined): Error => {
    const who = holder === undefined ? '' : ` (process ${holder.pid} on ${holder.host})`;
    return new ForgeError('store_busy', `Another ${what} is at work here${who}, or left ${path} behind`, {
      hint: 'Wait for it, or remove that file',
    });
  };
}

function tryTake(path: string, ready: string): boolean {
  try {
    linkSync(ready, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
  }
  try {
    // A file system without hard links.
    copyFileSync(ready, path, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock if its holder is gone. Two that find the same one must not remove each other's new one, so that
 * whoever removes has a lock for that, and looks again. `gone`: the text of one whose holder is known to be gone.
 */
export function removeAbandonedLock(path: string, gone?: string): void {
  const isAbandoned = (): boolean => isLockAbandoned(path) || (gone !== undefined && readText(path) === gone);
  if (!isAbandoned()) return;
  const guard = `${path}.takeover`;
  const ready = toTemporaryPath(guard);
  writeFileSync(ready, JSON.stringify({ ...readSelf(), what: 'takeover' }), { flag: 'wx', mode: 0o600 });
  try {
    if (!tryTake(guard, ready)) {
      moveAway(guard);
      return;
    }
    try {
      if (isAbandoned()) rmSync(path, { force: true });
    } finally {
      rmSync(guard, { force: true });
    }
  } finally {
    rmSync(ready, { force: true });
  }
}

/** Whoever was killed between two calls of the system left it. Moved aside first: it may be somebody's by now. */
function moveAway(guard: string): void {
  if (!isLockAbandoned(guard)) return;
  const aside = toTemporaryPath(guard);
  try {
    renameSync(guard, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (isLockAbandoned(aside)) rmSync(aside, { force: true });
  else renameSync(aside, guard);
}

/** Whether the process that made the lock is gone. */
export function isLockAbandoned(path: string): boolean {
  const text = readText(path);
  if (text === undefined) return false;
  const holder = parseHolder(text);
  if (holder === undefined) return isBarePidGone(text);
  return holder.start_time === 0 ? isPidGone(holder) : !isAlive(holder);
}

/** Undefined where there is none, or it says nothing that is understood. */
export function readHolder(path: string): LockHolder | undefined {
  return parseHolder(readText(path) ?? '');
}

function parseHolder(text: string): LockHolder | undefined {
  let value: Partial<Record<keyof LockHolder, unknown>>;
  try {
    value = Object(JSON.parse(text));
  } catch {
    return undefined;
  }
  const { host, boot_id, pid_namespace, around, pid, start_time, what, daemon_id } = value;
  if (typeof pid !== 'number' || typeof start_time !== 'number' || typeof host !== 'string') return undefined;
  return {
    host,
    boot_id: toText(boot_id),
    pid_namespace: toText(pid_namespace),
    ...(Array.isArray(around) && { around: around.map(toText) }),
    pid,
    start_time,
    what: toText(what),
    ...(typeof daemon_id === 'string' && { daemon_id }),
  };
}

/** Once these had the number alone, or number and machine. */
function isBarePidGone(text: string): boolean {
  const [, pid, host = hostname()] = /^(\d+)(?: (\S+))?$/.exec(text) ?? [];
  return pid !== undefined && isPidGone({ pid: Number(pid), host });
}

/** Where processes cannot be listed (Windows, a sandbox without /proc) the number has to do. */
function isPidGone({ pid, host }: Pick<ProcessIdentity, 'pid' | 'host'>): boolean {
  if (host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** What processes that were killed had written and not made a lock of yet. */
function sweepLeft(path: string): void {
  const folder = dirname(path);
  const names = readdirSync(folder).filter(
    (name) => name.startsWith(`${basename(path)}.`) && name.endsWith('.tmp'),
  );
  for (const name of names)
    // One whose process was killed before it had written anything says it by its name alone.
    if (isLeftBehind(name) || isLockAbandoned(join(folder, name)))
      rmSync(join(folder, name), { force: true });
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function readText(path: string): string | undefined {
  try {
    // A pipe in its place would be waited for without end: it is a lock that says nothing.
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  } catch {
    return undefined;
  }
}

import { once } from 'node:events';
import { statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { LIMITS } from '#kernel/limits.ts';

const LOOK_MS = 1_000;
/** A thread costs as much to start as many logs cost to move, and memory while it waits. */
const LOOKS_BEFORE_REST = 10;
const PAGE_BYTES = 4_096;
/**
 * While writes follow each other, a log that others may add to is never moved whole, and only grows. From this size on its
 * end is moved by the one connection that writes, between two commits.
 */
const END_BYTES = 2 * LIMITS.wal_bytes;
/** In a thread of its own, on a connection of its own: moving a large log takes longer than a server may stand still. */
const MOVE_LOG = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  parentPort.on('message', () => {
    // Opened each time: the file may have been replaced. Where it is gone, none is made beside the log of the old one.
    const db = new DatabaseSync(new URL(workerData));
    try {
      db.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } finally {
      db.close();
    }
    parentPort.postMessage('moved');
  });
`;

/**
 * Keeps SQLite's log small for a store whose own commits do not. `moveEnd` moves, by the connection that writes, what was
 * added while the rest was moved, so that the next commit begins the log anew.
 */
export function checkpointAside(
  database: string,
  moveEnd: () => void,
): { [Symbol.asyncDispose](): Promise<void> } {
  let moving: Promise<void> | undefined;
  let worker: Worker | undefined;
  let idle = 0;
  /** A log that was moved keeps its size and is written over: only the time says that there is something new. */
  let moved_at = 0;
  const rest = async (): Promise<void> => {
    const ending = worker;
    worker = undefined;
    await ending?.terminate();
  };
  const move = async (bytes: number): Promise<void> => {
    worker ??= startWorker(database);
    // A log that could not be moved now is moved later, and loses nothing by waiting.
    if (!(await moveLog(worker))) await rest();
    else if (bytes > END_BYTES) moveEnd();
  };
  const timer = setInterval(() => {
    if (moving !== undefined) return;
    const log = statSync(`${database}-wal`, { throwIfNoEntry: false });
    const isLarge = (log?.size ?? 0) > LIMITS.checkpoint_pages * PAGE_BYTES;
    const isDue = isLarge && log?.mtimeMs !== moved_at;
    idle = isDue ? 0 : idle + 1;
    if (isDue) {
      moved_at = log?.mtimeMs ?? 0;
      moving = move(log?.size ?? 0).finally(() => (moving = undefined));
    } else if (worker !== undefined && idle >= LOOKS_BEFORE_REST) {
      moving = rest().finally(() => (moving = undefined));
    }
  }, LOOK_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await moving;
      await rest();
    },
  };
}

function startWorker(database: string): Worker {
  const worker = new Worker(MOVE_LOG, { eval: true, workerData: `${pathToFileURL(database).href}?mode=rw` });
  worker.unref();
  return worker;
}

/** Whether it was moved; never rejects. */
async function moveLog(worker: Worker): Promise<boolean> {
  const ended = new AbortController();
  const abort = (): void => ended.abort();
  worker.once('exit', abort);
  worker.postMessage('move');
  try {
    await once(worker, 'message', { signal: ended.signal });
    return true;
  } catch {
    return false;
  } finally {
    worker.off('exit', abort);
  }
}

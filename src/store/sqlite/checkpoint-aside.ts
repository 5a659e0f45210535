import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { LIMITS } from '#kernel/limits.ts';

const LOOK_MS = 1_000;
const PAGE_BYTES = 4_096;
/** In a thread of its own, on a connection of its own: moving a large log takes longer than a server may stand still. */
const MOVE_LOG = `
  const { workerData } = require('node:worker_threads');
  const { DatabaseSync } = require('node:sqlite');
  const db = new DatabaseSync(workerData);
  db.exec('PRAGMA wal_checkpoint(PASSIVE)');
  db.close();
`;

/** Keeps SQLite's log small for a store whose own commits do not. */
export function checkpointAside(database: string): { [Symbol.asyncDispose](): Promise<void> } {
  let moving: Promise<void> | undefined;
  const timer = setInterval(() => {
    const size = statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    if (size > LIMITS.checkpoint_pages * PAGE_BYTES)
      moving ??= moveLog(database).finally(() => (moving = undefined));
  }, LOOK_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await moving;
    },
  };
}

/** Never rejects: a log that could not be moved now is moved later, and loses nothing by waiting. */
function moveLog(database: string): Promise<void> {
  return new Promise((resolve) => {
    const worker = new Worker(MOVE_LOG, { eval: true, workerData: database });
    worker.once('error', () => resolve());
    worker.once('exit', () => resolve());
  });
}

import { setMaxListeners } from 'node:events';
import { isForgeError } from '#kernel/errors.ts';
import { WATCH_LIMITS } from '#kernel/watch-limits.ts';
import type { EventWait } from '../event-store.ts';
import { monotonicNow } from '../monotonic-time.ts';
import { onCommit } from './commit-channel.ts';
import type { Database } from './database.ts';
import { newestEvent } from './log-rows.ts';

interface Waiter {
  readonly after: number;
  readonly since: number;
  readonly end: (newest: number) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Those who wait for events of one open store. A commit of this process is looked at in the same turn of the event
 * loop. For those of other processes there is one timer for all of them, none while there are none: its look is a
 * counter in shared memory (PRAGMA data_version), and events are asked for only where that has moved.
 */
export class EventWaits {
  readonly #db: Database;
  readonly #waiters = new Set<Waiter>();
  #timer: NodeJS.Timeout | undefined;
  #pause_ms: number = WATCH_LIMITS.event_look_first_ms;
  #version: unknown;
  /** There while a caller waits. */
  #stopListening: (() => void) | undefined;
  #isWoken = false;
  #isClosed = false;

  /** `db` only reads, or no write of it awaits anything before its commit. */
  constructor(db: Database) {
    this.#db = db;
  }

  waitFor(after: number, { signal, timeout_ms }: EventWait): Promise<number> {
    if (this.#isClosed || signal?.aborted === true) return Promise.resolve(after);
    return new Promise((resolve, reject) => {
      let limit: NodeJS.Timeout | undefined;
      const leave = (): void => {
        clearTimeout(limit);
        signal?.removeEventListener('abort', giveUp);
        this.#waiters.delete(waiter);
        if (this.#waiters.size === 0) this.#rest();
      };
      const waiter: Waiter = {
        after,
        since: monotonicNow(),
        end(newest) {
          leave();
          resolve(newest);
        },
        fail(error) {
          leave();
          reject(error as Error);
        },
      };
      const giveUp = (): void => waiter.end(after);
      if (timeout_ms !== undefined) limit = setTimeout(giveUp, timeout_ms);
      // As many may wait by one signal as there are merges in a queue, or projects of a server.
      if (signal !== undefined) setMaxListeners(0, signal);
      signal?.addEventListener('abort', giveUp, { once: true });
      this.#waiters.add(waiter);
      this.#begin();
    });
  }

  /** Everybody looks again, and learns that the store is closed. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#waiters) waiter.end(waiter.after);
  }

  /** The counter is read before the events: a commit in between is seen at the next look. */
  #begin(): void {
    this.#stopListening ??= onCommit(this.#db.path, () => this.#wake());
    if (this.#timer === undefined) {
      this.#version = undefined;
      this.#goOn();
    }
    this.#wake();
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** A commit may be one of many in this turn, and is not to be kept waiting by those who want to know of it. */
  #wake(): void {
    if (this.#isWoken) return;
    this.#isWoken = true;
    setImmediate(() => {
      this.#isWoken = false;
      this.#look({ wasTold: true });
    });
  }

  #goOn(): void {
    this.#timer = setTimeout(() => {
      this.#pause_ms = Math.min(this.#pause_ms * 2, WATCH_LIMITS.event_delay_ms);
      this.#goOn();
      this.#look({ wasTold: false });
    }, this.#pause_ms);
  }

  #look({ wasTold }: { readonly wasTold: boolean }): void {
    // In the middle of a write its events are there and may be taken back; its commit comes to be told.
    if (this.#waiters.size === 0 || this.#db.isInTransaction()) return;
    try {
      const version = this.#db.get('PRAGMA data_version')?.data_version;
      const isMoved = version !== this.#version;
      this.#version = version;
      if (isMoved || wasTold) this.#tell(newestEvent(this.#db));
    } catch (error) {
      // Another process makes the log's shared memory in this moment.
      const isBusy = isForgeError(error) && error.code === 'store_busy';
      if (!isBusy && !this.#db.isReplaced()) for (const waiter of this.#waiters) waiter.fail(error);
    }
    this.#endReplaced();
  }

  #tell(newest: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.after === newest) continue;
      this.#pause_ms = WATCH_LIMITS.event_look_first_ms;
      waiter.end(newest);
    }
  }

  /** In a file that was moved away nothing happens any more. */
  #endReplaced(): void {
    const before = monotonicNow() - WATCH_LIMITS.replaced_ms;
    const old = [...this.#waiters].filter(({ since }) => since <= before);
    if (old.length === 0 || !this.#db.isReplaced()) return;
    for (const waiter of old) waiter.end(waiter.after);
  }
}

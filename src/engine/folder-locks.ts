import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Attempt } from '#contract/attempt.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { takeFileLock, type LockHolder } from '#process/hold-file-lock.ts';
import type { ProcessMark } from '#store/attempt-store.ts';
import type { DaemonStore } from '#store/daemon-store.ts';
import { changeFolderNote, readFolderNote } from './folder-note.ts';
import { isThere } from './is-there.ts';
import type { WorkPlace } from './work.ts';

/** Beside the attempt's logs: in its folder it would show, and whoever works there could remove it. */
export const LOCK_FILE = '.forge.lock';

type Folder = Pick<Attempt, 'id' | 'name' | 'task_id'>;

/** One who works in a folder, with all that is called on the way. */
interface Holder {
  readonly folder: string;
  readonly what: string;
  /** Resolves when it is over. */
  readonly over: Promise<void>;
  isOver: boolean;
}

/**
 * One at a time works in an attempt's folder, whether it is another process or another part of this one: the next waits
 * for a while and is then refused. What the holder calls on the way holds with it.
 */
export class FolderLocks {
  readonly #records: string;
  readonly #watcher: ProcessMark;
  readonly #store: Pick<DaemonStore, 'isDaemonOver'>;
  readonly #patience_ms: number;
  readonly #holders = new Map<string, Holder>();
  readonly #held = new AsyncLocalStorage<readonly Holder[]>();

  constructor(
    {
      records,
      watcher,
      store,
    }: Pick<WorkPlace, 'records' | 'watcher'> & { readonly store: Pick<DaemonStore, 'isDaemonOver'> },
    patience_ms: number = LIMITS.folder_lock_ms,
  ) {
    this.#records = records;
    this.#watcher = watcher;
    this.#store = store;
    this.#patience_ms = patience_ms;
  }

  /** Throws state_invalid with the name of whoever has it. `what` is for those who are refused meanwhile. */
  async hold<T>(folder: Folder, what: string, work: () => Promise<T>): Promise<T> {
    const above = this.#held.getStore() ?? [];
    if (above.some((holder) => holder.folder === folder.id && !holder.isOver)) return work();
    await this.#waitForOthers(folder);
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const holder: Holder = { folder: folder.id, what, over, isOver: false };
    // In the same turn as the last look: nobody of this process comes in between.
    this.#holders.set(folder.id, holder);
    try {
      const release = await this.#take(folder, what);
      try {
        return await this.#held.run([...above, holder], work);
      } finally {
        this.#leave(folder, release);
      }
    } finally {
      holder.isOver = true;
      this.#holders.delete(folder.id);
      resolve();
    }
  }

  async #waitForOthers(folder: Folder): Promise<void> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), this.#patience_ms);
    const tired = once(patience.signal, 'abort');
    try {
      for (;;) {
        const holder = this.#holders.get(folder.id);
        if (holder === undefined) return;
        await Promise.race([holder.over, tired]);
        if (patience.signal.aborted)
          throw toRefusal(
            folder,
            { ...this.#watcher, what: holder.what },
            join(this.#records, folder.id, LOCK_FILE),
          );
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** What was worked in may have another size now. */
  #leave({ id }: Folder, release: () => void): void {
    const place = { records: this.#records };
    const { size } = readFolderNote(place, id);
    if (size !== null && size.at > 0) changeFolderNote(place, id, { size: { ...size, at: 0 } });
    release();
  }

  async #take(folder: Folder, what: string): Promise<() => void> {
    const place = join(this.#records, folder.id);
    mkdirSync(place, { recursive: true, mode: 0o700 });
    return takeFileLock(join(place, LOCK_FILE), {
      what,
      as: this.#watcher,
      isGone: async (holder) => !(await isThere(this.#store, holder)),
      patience_ms: this.#patience_ms,
      refuse: (holder) => toRefusal(folder, holder, join(place, LOCK_FILE)),
    });
  }
}

function toRefusal({ id, name, task_id }: Folder, holder: LockHolder | undefined, path: string): ForgeError {
  const who = holder === undefined ? 'Somebody' : `Process ${holder.pid} on ${holder.host}`;
  const what = holder === undefined || holder.what === '' ? '' : ` (${holder.what})`;
  return new ForgeError('state_invalid', `${who} is at work in ${name}${what}`, {
    hint:
      holder === undefined
        ? `Remove ${path} if nobody is`
        : `Wait for it, or see forge runs list --open --task ${task_id}`,
    details: {
      attempt: id,
      busy: 'folder',
      ...(holder !== undefined && { pid: holder.pid, host: holder.host }),
    },
  });
}

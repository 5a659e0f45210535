import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Attempt } from '#contract/attempt.ts';
import { ForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { takeFileLock, type LockHolder } from '#process/hold-file-lock.ts';
import type { ProcessIdentity } from '#process/process-identity.ts';
import { changeFolderNote, readFolderNote } from './folder-note.ts';

/** Beside the attempt's logs: in its folder it would show, and whoever works there could remove it. */
export const LOCK_FILE = '.forge.lock';

type Folder = Pick<Attempt, 'id' | 'name' | 'task_id'>;

interface Held {
  count: number;
  readonly taken: Promise<() => void>;
}

/**
 * One process at a time works in an attempt's folder. Those of this process that come at once, or inside of one
 * another, share the lock; another process waits for a while and is then refused.
 */
export class FolderLocks {
  readonly #records: string;
  readonly #watcher: ProcessIdentity;
  readonly #patience_ms: number;
  readonly #held = new Map<string, Held>();

  constructor(
    { records, watcher }: { readonly records: string; readonly watcher: ProcessIdentity },
    patience_ms: number = LIMITS.folder_lock_ms,
  ) {
    this.#records = records;
    this.#watcher = watcher;
    this.#patience_ms = patience_ms;
  }

  /** Throws state_invalid with the name of whoever has it. `what` is for those who are refused meanwhile. */
  async hold<T>(folder: Folder, what: string, work: () => Promise<T>): Promise<T> {
    const held = this.#held.get(folder.id) ?? { count: 0, taken: this.#take(folder, what) };
    this.#held.set(folder.id, held);
    held.count += 1;
    try {
      await held.taken;
      return await work();
    } finally {
      held.count -= 1;
      if (held.count === 0) {
        this.#held.delete(folder.id);
        await held.taken.then(
          (release) => this.#leave(folder, release),
          () => undefined,
        );
      }
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
    details: { attempt: id, ...(holder !== undefined && { pid: holder.pid, host: holder.host }) },
  });
}

import { existsSync, renameSync } from 'node:fs';
import { closeParts, openOnce, type SqliteStoreOptions } from './open-parts.ts';
import { Replica } from './replica.ts';
import { rescueRows } from './rescue-rows.ts';
import { freeName } from './set-aside-database.ts';

export interface Rebuilt {
  /** Where the database is now that was there; undefined where there was none. */
  readonly aside: string | undefined;
  readonly tasks: number;
  /** Ids of tasks whose rows said something that the replica did not know; they are as the rows had them. */
  readonly kept: readonly string[];
  /** Why not all rows could be compared; what of them cannot be read is as the replica has it. */
  readonly unread: string | undefined;
  /** What can be read nowhere, in words; it is only in the file that was moved. */
  readonly lost: readonly string[];
}

/** The end of the name of a file that holds what can be read nowhere. */
const UNREAD = '-unread';

/**
 * Moves the database out of the way, in any state, and makes it anew from the replica. What only its rows say goes to
 * the replica first. Nothing is deleted.
 */
export async function rebuildDatabase(options: SqliteStoreOptions): Promise<Rebuilt> {
  const { database, hold, clock } = options;
  const replica = new Replica(options.replica, options.modes);
  try {
    const work = (): Omit<Rebuilt, 'tasks'> => {
      if (!existsSync(database)) return { aside: undefined, kept: [], unread: undefined, lost: [] };
      const rescued = rescueRows(database, replica);
      const now = new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-');
      const aside = freeName(`${database}.replaced-${now}${rescued.lost.length > 0 ? UNREAD : ''}`);
      for (const suffix of ['-wal', '-shm', '']) {
        if (existsSync(`${database}${suffix}`)) renameSync(`${database}${suffix}`, `${aside}${suffix}`);
      }
      return { aside, ...rescued };
    };
    const rescued = await (hold === undefined ? work() : hold(`${database}.healing`, work));
    const parts = await openOnce(options, 'healed');
    try {
      return { ...rescued, tasks: Number(parts.db.get('SELECT count(*) AS n FROM tasks')?.n ?? 0) };
    } finally {
      closeParts(parts);
    }
  } finally {
    replica.close();
  }
}

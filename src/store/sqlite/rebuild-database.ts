import { existsSync, renameSync } from 'node:fs';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { nameFirst } from '#kernel/text.ts';
import { compareWithReplica } from './compare-replica.ts';
import { compareSchema } from './compare-schema.ts';
import { Database } from './database.ts';
import { closeParts, openOnce, type SqliteStoreOptions } from './open-parts.ts';
import { replayReplica } from './replay.ts';
import { Replica } from './replica.ts';
import { readStanding } from './schema-version.ts';
import { freeName } from './set-aside-database.ts';

export interface Rebuilt {
  /** Where the database is now that was there; undefined where there was none. */
  readonly aside: string | undefined;
  readonly tasks: number;
  /** Ids of tasks whose rows said something that the replica did not know; they are as the rows had them. */
  readonly kept: readonly string[];
  /** Why not all rows could be compared; their tasks are as the replica has them. */
  readonly unread: string | undefined;
}

/**
 * Moves the database out of the way, whatever it is, and makes it anew from the replica. What only its rows say goes to
 * the replica first. Nothing is deleted.
 */
export async function rebuildDatabase(options: SqliteStoreOptions): Promise<Rebuilt> {
  const { database, hold, clock } = options;
  const replica = new Replica(options.replica, options.modes);
  try {
    const work = (): Pick<Rebuilt, 'aside' | 'kept' | 'unread'> => {
      if (!existsSync(database)) return { aside: undefined, kept: [], unread: undefined };
      const rescued = rescueRows(database, replica, clock.now());
      const now = new Date(clock.now()).toISOString().replaceAll(/[:.]/g, '-');
      const aside = freeName(`${database}.replaced-${now}`);
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

/** Under the writer's lock, so that no write of another process falls between database and replica. */
function rescueRows(database: string, replica: Replica, now: number): Pick<Rebuilt, 'kept' | 'unread'> {
  let db: Database | undefined;
  try {
    db = new Database(database, { lock_timeout_ms: LIMITS.lock_timeout_ms });
    const opened = db;
    return opened.write(() => {
      // A replica that was cut or removed is made whole from a database that can be trusted with that.
      if (readStanding(opened) === 'current' && compareSchema(opened).length === 0)
        replayReplica(opened, replica, { now });
      const { lines, changed, unreadable, end } = compareWithReplica(opened, replica);
      if (lines.length > 0) replica.append(end, lines);
      const unread =
        unreadable.length === 0 ? undefined : `rows that cannot be read: ${nameFirst(unreadable)}`;
      return { kept: changed, unread };
    });
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return { kept: [], unread: error.message };
  } finally {
    db?.close();
  }
}

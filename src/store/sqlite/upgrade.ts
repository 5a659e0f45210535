import { readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Clock } from '#kernel/clock.ts';
import { makeFile } from '../file-modes.ts';
import { chooseJournal, type ReadFileSystem } from './choose-journal.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.generated.ts';
import { NEWEST_SCHEMA, readSchemaVersion } from './schema-version.ts';
import type { HoldLock } from './set-aside-database.ts';
import { translateStoreError } from './translate-error.ts';

export interface UpgradeOptions {
  readonly clock: Clock;
  readonly written_by?: string | undefined;
  readonly notice?: ((line: string) => void) | undefined;
  readonly hold?: HoldLock | undefined;
  /** Of the folder that a new database lies in. Left out: the system is asked. */
  readonly readFileSystem?: ReadFileSystem | undefined;
  /** Rejects where the database must stay as it is, because a program that knows only this schema is at work on it. */
  readonly mayUpgrade?: ((from: number) => Promise<void>) | undefined;
}

/** Makes the tables of a new database, or brings those of an older one up to date. True where there was nothing. */
export async function upgrade(db: Database, options: UpgradeOptions): Promise<boolean> {
  const { clock, written_by, hold, notice } = options;
  const from = readSchemaVersion(db);
  const steps = { migrations: MIGRATIONS, now: () => clock.now(), written_by };
  if (from === 0) {
    migrate(db, { ...steps, begin: () => chooseJournal(db, options) });
    return true;
  }
  await options.mayUpgrade?.(from);
  const work = (): void => {
    // Another process may have done it, and its copy is the one to keep.
    if (readSchemaVersion(db) >= NEWEST_SCHEMA) return;
    // One without a task is one that was being made when its process was killed.
    const copy = db.get('SELECT 1 AS one FROM tasks LIMIT 1') === undefined ? undefined : keepCopy(db, from);
    migrate(db, steps);
    if (copy === undefined) return;
    notice?.(
      `The task database was brought from schema ${from} to ${NEWEST_SCHEMA}; the one before is kept: ${copy}`,
    );
  };
  await (hold === undefined ? work() : hold(`${db.path}.healing`, work));
  return false;
}

/** The database as it is beside itself, under a name that tells its schema; copies of older upgrades go. */
function keepCopy(db: Database, schema: number): string {
  const copy = `${db.path}.schema-${schema}`;
  const temporary = `${copy}.tmp`;
  try {
    rmSync(temporary, { force: true });
    makeFile(temporary, db.modes());
    copyDatabase(db, temporary);
    renameSync(temporary, copy);
    const folder = dirname(copy);
    for (const name of readdirSync(folder)) {
      const isOlder = name.startsWith(`${basename(db.path)}.schema-`) && join(folder, name) !== copy;
      if (isOlder) rmSync(join(folder, name), { force: true });
    }
  } catch (error) {
    rmSync(temporary, { force: true });
    throw translateStoreError(error, db.path);
  }
  return copy;
}

/** As others may be writing at this moment, it is one consistent state. The file must be empty or not there. */
export function copyDatabase(db: Database, path: string): void {
  db.execute(`VACUUM INTO '${path.replaceAll("'", "''")}'`);
}

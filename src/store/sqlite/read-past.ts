import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '#kernel/clock.ts';
import { ForgeError } from '#kernel/errors.ts';
import type { Database } from './database.ts';
import { migrate } from './migrate.ts';
import { MIGRATIONS } from './migrations.generated.ts';
import { Replica } from './replica.ts';
import { newerSchema, OLDEST_READ, readSchemaVersion } from './schema-version.ts';
import { copyDatabase } from './upgrade.ts';

/**
 * Reads a database of an older schema without changing it. Where all that queries name is there, they are put to it as
 * it is; what has to be joined in first (a newer task file, the end of a replica) goes into a copy that is brought up to
 * date for this process alone. So does everything where the schema is too old.
 */
export function readPast(db: Database, { clock }: { readonly clock: Clock }): void {
  const copy = (): void => {
    db.beforeWrite = undefined;
    const folder = mkdtempSync(join(tmpdir(), 'forge-read-'));
    const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    // An open file needs no name where the system lets it go, so that a kill leaves nothing behind.
    if (process.platform === 'win32') process.once('exit', remove);
    try {
      const path = join(folder, 'forge.db');
      copyDatabase(db, path);
      db.continueWith(path);
      migrate(db, { migrations: MIGRATIONS, now: () => clock.now() });
    } finally {
      if (process.platform !== 'win32') remove();
    }
  };
  db.pastSchema = readSchemaVersion(db);
  if (db.pastSchema < OLDEST_READ) copy();
  else db.beforeWrite = copy;
}

/** A database of a newer program, which this one may read. */
export function refuseWrites(db: Database): void {
  db.beforeWrite = () => {
    const { message, hint = '', details } = newerSchema(db);
    throw new ForgeError('read_only', message, { hint, details });
  };
}

/** The replica to a reader that must not change it: what is added to it is only counted. */
export class UnchangedReplica extends Replica {
  protected override readonly flags = 'r';
  #counted: number | undefined;

  override size(): number {
    const there = super.size();
    return this.#counted ?? there;
  }

  override append(offset: number, lines: readonly string[]): number {
    this.#counted = offset + Buffer.byteLength(`${lines.join('\n')}\n`);
    return this.#counted;
  }

  override sync(): void {}

  override async syncAside(): Promise<void> {}

  override truncate(size: number): void {
    this.#counted = size;
  }

  override rewrite(): number {
    this.#counted = super.size();
    return this.#counted;
  }
}

import { copyFileSync, existsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Where the tasks of a project are kept. What lies there, and under which names, only this room knows. */
export interface StoreLocation {
  /** A folder of this machine, which is the project's alone. */
  readonly folder: string;
}

const DATABASE = 'forge.db';
/** The local replica, complete and append-only. */
const REPLICA = 'tasks.jsonl';

/** A database with what SQLite keeps beside it, for the lines that tell git to track none of them. */
export const DATABASE_NAMES = [DATABASE, `${DATABASE}-shm`, `${DATABASE}-wal`] as const;

/** The database with what SQLite keeps beside it, those that were set aside or kept by an upgrade, and the replica. */
const HOLDS_TASKS = /^(?:forge\.db(?:\.(?:damaged|replaced|schema)-.*)?(?:-wal|-shm)?|tasks\.jsonl)$/;

export interface StoreFiles {
  readonly database: string;
  readonly replica: string;
}

export function toStoreFiles({ folder }: StoreLocation): StoreFiles {
  return { database: join(folder, DATABASE), replica: join(folder, REPLICA) };
}

/** The location of the database that a store_corrupt names. */
export function locationOf(database: string): StoreLocation {
  return { folder: dirname(database) };
}

/** False also where it cannot be looked at: opening it says why. */
export function isStoreThere(location: StoreLocation): boolean {
  return existsSync(toStoreFiles(location).database);
}

/** Another number as soon as another database stands in the place; 0 where there is none. */
export function readGeneration(location: StoreLocation): number {
  return statSync(toStoreFiles(location).database, { throwIfNoEntry: false })?.ino ?? 0;
}

/** Whether a file of that name in the folder of a store holds tasks. */
export function holdsTasks(name: string): boolean {
  return HOLDS_TASKS.test(name);
}

/** Every task with all that is known of it, as lines; false where there is nothing yet. */
export function copyTasks(location: StoreLocation, target: string): boolean {
  const { replica } = toStoreFiles(location);
  const found = statSync(replica, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.size === 0) return false;
  copyFileSync(replica, target);
  return true;
}

/** What a person types to have a database back that was set aside. */
export function explainPutBack({ folder }: StoreLocation, aside: string): string {
  const [database, ...beside] = DATABASE_NAMES;
  return `stop every forge, then in ${folder}: rm -f ${beside.toReversed().join(' ')}; mv ${basename(aside)} ${database}`;
}

/** Held by a process that sets the database aside or makes it. */
export function toHealingLock(location: StoreLocation): string {
  return `${toStoreFiles(location).database}.healing`;
}

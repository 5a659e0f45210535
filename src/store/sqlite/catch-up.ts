import type { Clock } from '#kernel/clock.ts';
import type { Database } from './database.ts';
import type { ReplayMeter } from './join-replica.ts';
import type { Replica } from './replica.ts';
import { isNumber, writeFact } from './store-facts.ts';

export interface CatchUpOptions {
  readonly clock: Clock;
  /** Told in one line what had to be mended. */
  readonly notice?: ((line: string) => void) | undefined;
  /** Told how far the work is while the database is filled from the replica. */
  readonly meter?: ReplayMeter | undefined;
  /** Whether somebody wants to hear that the database was made anew. */
  readonly tells_rebuild: boolean;
}

/** Brings a database that was just opened up to what lies beside it: the replica and the records of attempts. */
export async function catchUp(db: Database, replica: Replica, options: CatchUpOptions): Promise<void> {
  const { held, file, restored } = readFacts(db);
  const wasBehind = await catchUpReplica(db, replica, { ...options, held, file });
  if (restored !== 0 && !wasBehind) return;
  const { restoreOnce } = await import('./restore-attempts.ts');
  await restoreOnce(db, { now: options.clock.now(), notice: options.notice });
}

/**
 * A replica of another size means a crash, or a writer at work right now: then it is the writer's business. True where
 * the database lacked something: an older copy, or what a power cut took from it, lacks changes of attempts too.
 */
async function catchUpReplica(
  db: Database,
  replica: Replica,
  { held, file, clock, notice, meter, tells_rebuild }: CatchUpOptions & Omit<Facts, 'restored'>,
): Promise<boolean> {
  const size = replica.size();
  const known = file === 0 || file === replica.inode();
  if (size === 0 || (held !== undefined && size <= held && known)) return false;
  const { heldBytes, replayReplica } = await import('./replay.ts');
  let wasBehind = false;
  const replay = (): void => {
    const before = heldBytes(db);
    wasBehind = (before ?? -1) < replayReplica(db, replica, { now: clock.now(), meter });
    // In the same transaction, or nobody would know of it after a crash.
    if (wasBehind) writeFact(db, 'attempts_restored', 0);
  };
  // A database that holds nothing yet has nothing to answer with; whoever is filling it is waited for.
  if (held !== 0) return db.tryWrite(replay) && wasBehind;
  db.write(replay);
  if (!tells_rebuild) return wasBehind;
  const tasks = Number(db.get('SELECT count(*) AS n FROM tasks')?.n ?? 0);
  const counted = `${tasks} task${tasks === 1 ? '' : 's'}`;
  notice?.(`The task database was made anew from the local replica: ${counted}`);
  return wasBehind;
}

/** Undefined where the row is missing or says nothing that makes sense. */
interface Facts {
  readonly held: number | undefined;
  readonly file: number | undefined;
  readonly restored: number;
}

/** One query: every command asks. */
function readFacts(db: Database): Facts {
  const fact = (name: string): string =>
    `(SELECT value FROM store_facts WHERE name = '${name}' AND ${isNumber('value')} AND value >= 0)`;
  const row = db.get(`SELECT ${fact('replica_bytes')} AS held, ${fact('replica_inode')} AS file,
    ${fact('attempts_restored')} AS restored`);
  const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
  return { held: number(row?.held), file: number(row?.file), restored: number(row?.restored) ?? 0 };
}

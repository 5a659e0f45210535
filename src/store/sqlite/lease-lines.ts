import { ForgeError } from '#kernel/errors.ts';
import { parseJson, type JsonObject } from '#kernel/json.ts';
import type { Database } from './database.ts';
import { writeFact } from './store-facts.ts';

/** A lease as a line of the local replica. When it ends is not in it: after a rebuild nobody could have renewed it. */
export interface LeaseLine {
  readonly task: string;
  readonly fence: number;
  readonly ttl_ms: number;
}

/** The clock that every store begins with, which the times of writers stand for; and one that no time is of. */
export const WALL = 0;
export const NO_CLOCK = -1;
const LEASE = '{"lease":';

export function encodeLease({ task, fence, ttl_ms }: LeaseLine): string {
  return `${LEASE}${JSON.stringify(task)},"fence":${fence},"ttl_ms":${ttl_ms}}`;
}

/** Undefined for a line that is no lease. */
export function decodeLease(line: string): LeaseLine | undefined {
  if (!line.startsWith(LEASE)) return undefined;
  const { lease, fence, ttl_ms } = parseJson(line, 'A line of the local replica') as JsonObject; // it begins as one
  if (typeof lease === 'string' && typeof fence === 'number' && typeof ttl_ms === 'number')
    return { task: lease, fence, ttl_ms };
  throw new ForgeError('invalid_input', 'A line of the local replica is no lease');
}

export function* leaseLines(db: Database): Generator<string> {
  for (const { task_id, fence, ttl_ms } of db.all(
    'SELECT task_id, fence, ttl_ms FROM leases ORDER BY task_id',
  ))
    yield encodeLease({ task: task_id as string, fence: fence as number, ttl_ms: ttl_ms as number });
}

/**
 * After the tasks: a lease counts only for the claim it was given with. When it ends is settled by the next who looks:
 * by no clock that anybody knows, so that all begin anew.
 */
export function restoreLeases(db: Database, leases: readonly LeaseLine[]): void {
  if (leases.length > 0) writeFact(db, 'leases_clock', NO_CLOCK);
  for (const { task, fence, ttl_ms } of leases) {
    db.run(
      `INSERT INTO leases (task_id, fence, ttl_ms, expires_at)
        SELECT id, ?2, ?3, ?4 FROM tasks WHERE id = ?1 AND fence = ?2 AND status = 'in_progress'
        ON CONFLICT DO UPDATE SET fence = excluded.fence, ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at`,
      task,
      fence,
      ttl_ms,
      0,
    );
  }
}

import { lineDigest } from '#kernel/checksum.ts';
import type { Database } from './database.ts';
import { readFact, writeFact } from './store-facts.ts';

/**
 * The workflow says which states park a task, and it may have changed since the column was written, here or by a pull.
 * Costs one look where it has not; waits for nobody: whoever comes next finds it still to do.
 */
export function applyParkedStates(db: Database, states: ReadonlySet<string>): void {
  const digest = digestOf(states);
  if (readFact(db, 'parked_states') === digest) return;
  db.tryWrite(() => {
    const names = JSON.stringify([...states]);
    const parked = '(state IN (SELECT value FROM json_each(?1)) OR archived_at IS NOT NULL)';
    db.run(`UPDATE tasks SET parked = ${parked} WHERE parked <> ${parked}`, names);
    writeFact(db, 'parked_states', digest);
  });
}

/** 0 for the built-in workflow, as every store begins. */
function digestOf(states: ReadonlySet<string>): number {
  const names = [...states].sort().join('\n');
  return names === 'backlog' ? 0 : lineDigest(names);
}

import { toTriggeredBy } from '#domain/actor.ts';
import { decideWorkflow, isNews } from '#domain/decide-workflow.ts';
import { DEFAULT_RESOLVED, resolveWorkflow } from '#domain/workflow.ts';
import { toIso } from '#kernel/clock.ts';
import type { WorkflowChange } from '../kept-workflow.ts';
import type { Database } from './database.ts';
import { ARCHIVED } from './task-rows.ts';
import { readKeptWorkflow } from './workflow-row.ts';
import type { WriteTransaction } from './write-transaction.ts';

/** Writes it where it is the next version. */
export function setWorkflow(tx: WriteTransaction, change: WorkflowChange): void {
  const { db, by } = tx;
  const { definition, digest } = change;
  const before = readKeptWorkflow(db);
  if (decideWorkflow(before.digest, change) !== 'take') return;
  db.run(
    `INSERT INTO workflow (only_row, version, digest, definition, written_at, written_by) VALUES (1, 1, ?1, ?2, ?3, ?4)
      ON CONFLICT DO UPDATE SET version = version + 1, digest = ?1, definition = ?2, written_at = ?3, written_by = ?4`,
    digest,
    definition === undefined ? '' : JSON.stringify(definition),
    toIso(by.now),
    toTriggeredBy(by.actor),
  );
  const { parked_states } = definition === undefined ? DEFAULT_RESOLVED : resolveWorkflow(definition);
  parkTasks(db, parked_states);
  // Writes that are made together with this one are decided by it.
  readKeptWorkflow(db);
  if (isNews(before.digest, definition)) tx.emitProject({ changed: ['workflow'] });
}

/** `parked` is a copy of what the workflow says, for the queries of what is ready. */
function parkTasks(db: Database, states: ReadonlySet<string>): void {
  const parked = `(t.state IN (SELECT value FROM json_each(?1)) OR ${ARCHIVED})`;
  db.run(`UPDATE tasks AS t SET parked = ${parked} WHERE t.parked <> ${parked}`, JSON.stringify([...states]));
}

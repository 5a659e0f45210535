import { systemActor } from '#domain/actor.ts';
import { DEFAULT_RESOLVED } from '#domain/workflow.ts';
import { NO_WORKFLOW } from '../kept-workflow.ts';
import { healSqliteStore, type SqliteStoreOptions, type StoreParts } from './open-parts.ts';
import { setWorkflow } from './set-workflow.ts';
import { readKeptWorkflow } from './workflow-row.ts';
import { writeInTransaction } from './write-transaction.ts';

/**
 * Sets the database aside where it is damaged, and opens the one that stands there then. The workflow by which this
 * process works comes with it: the replica, of which a database is made anew, does not have it.
 */
export async function reopenParts(
  { db: { kept_workflow }, changes_nothing }: StoreParts,
  options: SqliteStoreOptions,
  open: () => Promise<StoreParts>,
): Promise<StoreParts> {
  await healSqliteStore(options);
  const parts = await open();
  const { db, replica } = parts;
  const { digest, workflow } = kept_workflow ?? NO_WORKFLOW;
  if (digest === undefined || changes_nothing === true || readKeptWorkflow(db).version > 0) return parts;
  const definition = workflow === DEFAULT_RESOLVED ? undefined : workflow.definition;
  const by = { actor: systemActor('store'), now: options.clock.now() };
  writeInTransaction({ db, replica }, by, (tx) => setWorkflow(tx, { digest, definition }));
  return parts;
}

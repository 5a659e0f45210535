import type { Workflow } from '#contract/workflow.ts';
import { DEFAULT_RESOLVED, resolveWorkflow, type ResolvedWorkflow } from '#domain/workflow.ts';
import { NO_WORKFLOW, type KeptWorkflow, type WorkflowChange } from '../kept-workflow.ts';
import type { Database } from './database.ts';

/** Databases before this schema have no such row. */
const FIRST_SCHEMA = 13;

/**
 * The workflow that counts, and from now on the one by which this connection reads. A row that Forge did not write
 * counts as none: the next look at the file writes it anew.
 */
export function readKeptWorkflow(db: Database): KeptWorkflow {
  const row = isOlder(db) ? undefined : db.get('SELECT version, digest FROM workflow');
  const before = db.kept_workflow;
  if (row === undefined) db.kept_workflow = NO_WORKFLOW;
  else if (before === undefined || row.version !== before.version || row.digest !== before.digest)
    db.kept_workflow = readDefinition(db, { version: Number(row.version), digest: String(row.digest) });
  return db.kept_workflow ?? NO_WORKFLOW;
}

/** For a connection that cannot write it: it counts there until the row is read again. */
export function useWorkflow(db: Database, { definition, digest }: WorkflowChange): KeptWorkflow {
  const workflow = definition === undefined ? DEFAULT_RESOLVED : resolveWorkflow(definition);
  db.kept_workflow = { version: 0, digest, workflow };
  return db.kept_workflow;
}

function isOlder({ pastSchema }: Database): boolean {
  return pastSchema !== undefined && pastSchema < FIRST_SCHEMA;
}

function readDefinition(db: Database, row: { version: number; digest: string }): KeptWorkflow {
  const text = db.get('SELECT definition FROM workflow')?.definition;
  const workflow = typeof text === 'string' ? resolveText(text) : undefined;
  return workflow === undefined ? NO_WORKFLOW : { ...row, workflow };
}

function resolveText(text: string): ResolvedWorkflow | undefined {
  if (text === '') return DEFAULT_RESOLVED;
  try {
    return resolveWorkflow(JSON.parse(text) as Workflow); // it passed validation before it was written
  } catch {
    return undefined;
  }
}

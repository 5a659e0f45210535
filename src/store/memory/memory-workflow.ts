import { decideWorkflow, isNews } from '#domain/decide-workflow.ts';
import { DEFAULT_RESOLVED, resolveWorkflow, type ResolvedWorkflow } from '#domain/workflow.ts';
import { NO_WORKFLOW, type KeptWorkflow, type WorkflowChange } from '../kept-workflow.ts';
import type { MemoryTables } from './memory-tables.ts';
import type { MemoryTransaction } from './memory-transaction.ts';

/** The key of its one row; decideWorkflow says what the next one is. */
const ONLY_ROW = 1;

export function readKeptWorkflow({ workflow }: Pick<MemoryTables, 'workflow'>): KeptWorkflow {
  return workflow.get(ONLY_ROW) ?? NO_WORKFLOW;
}

/** Keeps it where it is the next version; gives the one that counts. */
export function setWorkflow(tx: MemoryTransaction, change: WorkflowChange): KeptWorkflow {
  const { tables } = tx;
  const { definition, digest } = change;
  const before = readKeptWorkflow(tables);
  if (decideWorkflow(before.digest, change) !== 'take') return before;
  const workflow = definition === undefined ? DEFAULT_RESOLVED : resolveWorkflow(definition);
  const kept = { version: before.version + 1, digest, workflow };
  tables.workflow.set(ONLY_ROW, kept);
  if (isNews(before.digest, definition))
    tx.tell({ type: 'project.changed', task_id: null, data: { changed: ['workflow'] } });
  return kept;
}

/** By which every write is decided. */
export function workflowOf(tables: Pick<MemoryTables, 'workflow'>): ResolvedWorkflow {
  return readKeptWorkflow(tables).workflow;
}

import type { ResolvedWorkflow } from '#domain/workflow.ts';
import { NO_WORKFLOW, type KeptWorkflow } from '../kept-workflow.ts';
import type { MemoryTables } from './memory-tables.ts';

/** The key of its one row; decideWorkflow says what the next one is. */
const ONLY_ROW = 1;

export function readKeptWorkflow({ workflow }: Pick<MemoryTables, 'workflow'>): KeptWorkflow {
  return workflow.get(ONLY_ROW) ?? NO_WORKFLOW;
}

/** By which every write is decided. */
export function workflowOf(tables: Pick<MemoryTables, 'workflow'>): ResolvedWorkflow {
  return readKeptWorkflow(tables).workflow;
}

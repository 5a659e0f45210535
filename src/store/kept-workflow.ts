import type { Workflow } from '#contract/workflow.ts';
import type { ToldWorkflow } from '#domain/decide-workflow.ts';
import { DEFAULT_RESOLVED, type ResolvedWorkflow } from '#domain/workflow.ts';

/** The project's workflow as the store has it: by this one every write is decided. */
export interface KeptWorkflow {
  /** Grows by one with each change; 0 where none was told, and where this process could not write the one it uses. */
  readonly version: number;
  /** Of the text that it came from; undefined where none was told. */
  readonly digest: string | undefined;
  readonly workflow: ResolvedWorkflow;
}

export interface WorkflowChange extends ToldWorkflow {
  /** Validated; undefined for the built-in one. */
  readonly definition: Workflow | undefined;
}

export const NO_WORKFLOW: KeptWorkflow = { version: 0, digest: undefined, workflow: DEFAULT_RESOLVED };

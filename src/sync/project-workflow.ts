import type { ResolvedWorkflow } from '#domain/workflow.ts';
import { isForgeError } from '#kernel/errors.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import type { TaskStore } from '#store/store.ts';
import { GateFiles } from './gate-files.ts';
import type { Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { findWorkflow, openWorkflowReader, type WorkflowCheck } from './workflow-file.ts';

/** The workflow of a project that stays open, and the check of it that remembers the last one. */
export interface ProjectWorkflow {
  /** As it is now. Throws invalid_input for a definition with faults. */
  readonly read: () => ResolvedWorkflow;
  readonly check: WorkflowCheck;
}

/** A definition with faults is no hindrance: an operation that needs the workflow says what is wrong with it. */
export async function openProjectWorkflow(
  { paths, store }: { readonly paths: ProjectPaths; readonly store: TaskStore & AttemptStore },
  machine: Pick<Machine, 'env'>,
): Promise<ProjectWorkflow> {
  const gates = new GateFiles({ paths, store }, machine);
  await gates.look();
  const check = openWorkflowReader();
  const find = (): ResolvedWorkflow => check(findWorkflow(gates.placesOf('workflow.json')));
  try {
    await store.setWorkflow(find());
  } catch (error) {
    if (!isForgeError(error) || error.code !== 'invalid_input') throw error;
  }
  const read = (): ResolvedWorkflow => {
    const workflow = find();
    // What cannot be written now is tried with the next look.
    store.setWorkflow(workflow).catch(() => undefined);
    return workflow;
  };
  return { read, check };
}

import type { ResolvedWorkflow } from '#domain/workflow.ts';
import { findGatePaths } from '#sync/gate-files.ts';
import { findWorkflow, resolveFound, sharedWorkflowPath, workflowDigest } from '#sync/workflow-file.ts';
import type { OperationContext } from './operation.ts';

export interface CountingWorkflow {
  readonly source: 'default' | 'file' | 'shared';
  readonly path: string | null;
  readonly digest: string;
  readonly workflow: ResolvedWorkflow;
}

/**
 * The workflow that counts in this project, and where it is from: a checkout of an older commit shows another one.
 * Throws invalid_input for a file with faults.
 */
export async function findCountingWorkflow({
  project,
  machine,
}: OperationContext): Promise<CountingWorkflow> {
  const { workflow: paths } = await findGatePaths(project, machine);
  const found = findWorkflow(paths);
  const workflow = (project.checkWorkflow ?? resolveFound)(found);
  const { source, path } = found;
  const shown = { source, path, digest: workflowDigest(found.text), workflow };
  const kept = await project.store.readKeptWorkflow();
  if (kept.version === 0 || kept.digest === undefined || kept.digest === shown.digest) return shown;
  const { digest } = kept;
  return { source: 'shared', path: sharedWorkflowPath(paths), digest, workflow: kept.workflow };
}

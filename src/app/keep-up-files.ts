import { statSync } from 'node:fs';
import { join } from 'node:path';
import { refreshDatabaseLink } from '#sync/link-database.ts';
import type { Machine } from '#sync/machine.ts';
import { areEntriesKnown, rememberProgram } from '#sync/program-memory.ts';
import type { ProjectPaths } from '#sync/project-paths.ts';
import { refreshSharedConfig } from '#sync/shared-config.ts';
import { sweepTemporaryFiles } from '#sync/sweep-temporary-files.ts';

/** A command that writes also keeps up what others rely on: shared copies, the link, and entries that start this program. */
export async function keepUpFiles(
  paths: ProjectPaths,
  machine: Machine,
  notice: (line: string) => void,
): Promise<void> {
  refreshSharedConfig(paths);
  if (hasWorkflow(paths.forge_dir)) {
    const { refreshSharedWorkflow } = await import('#sync/workflow-file.ts');
    refreshSharedWorkflow(paths);
  }
  refreshDatabaseLink(paths);
  // Of shared copies, memories of hooks and of programs: a process that was killed leaves what it was writing.
  sweepTemporaryFiles(paths.store_dir);
  if (areEntriesKnown(paths, machine.program)) return;
  const { healMcpEntries } = await import('#sync/heal-mcp.ts');
  await healMcpEntries(paths.root, machine, notice);
  rememberProgram(paths, machine.program);
}

export function hasWorkflow(folder: string): boolean {
  return statSync(join(folder, 'workflow.json'), { throwIfNoEntry: false }) !== undefined;
}

import { readCommittedFiles } from './committed-files.ts';
import type { ExportSource } from './export-files.ts';
import { type AttemptLister, findHeldAt, findHeldHere } from './held-lines.ts';
import { type Machine, toGitRepo } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

/** For an export of the files of the working tree. */
export function toExportSource(
  { store, paths }: { readonly store: AttemptLister; readonly paths: Pick<ProjectPaths, 'root'> },
  machine: Pick<Machine, 'env'>,
): ExportSource {
  const repo = toGitRepo(paths.root, machine);
  return {
    repo,
    findHeld: (commit) =>
      commit === undefined ? findHeldHere(store, repo) : findHeldAt(store, repo, commit),
    readCommitted: () => readCommittedFiles(repo),
  };
}

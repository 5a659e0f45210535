import { systemActor } from '#domain/actor.ts';
import type { Replication } from '#store/replication.ts';
import { toExportSource } from './export-source.ts';
import { foldCommitted, type FoldedCommits } from './fold-committed.ts';
import type { AttemptLister } from './held-lines.ts';
import { type Machine, toGitRepo } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { toTaskFiles } from './task-files.ts';

/** Joins in what HEAD has of the task files, where the working tree lacks them. */
export async function foldHeadFiles(
  project: { readonly store: Replication & AttemptLister; readonly paths: ProjectPaths },
  { env, now }: Pick<Machine, 'env'> & { readonly now: number },
): Promise<FoldedCommits> {
  const { store, paths } = project;
  const source = toExportSource(project, { env });
  return foldCommitted(store, toTaskFiles(paths), {
    repo: toGitRepo(paths.root, { env }),
    commits: await source.readCommitted(),
    by: { actor: systemActor('fold'), now },
    findHeld: source.findHeld,
  });
}

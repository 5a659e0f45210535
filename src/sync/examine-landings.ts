import { healLandings } from '#git/heal-landings.ts';
import { listLandings } from '#git/landing-journal.ts';
import { processWitness } from '#process/process-witness.ts';
import type { Finding } from './examine-project.ts';
import { toGitRepo, type Machine } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';

/** Merges that are on their way into a checkout, or were cut short there and could not be put right. */
export async function examineLandings(
  paths: Pick<ProjectPaths, 'root'>,
  machine: Machine,
): Promise<readonly Finding[]> {
  const repo = toGitRepo(paths.root, machine);
  const healed = await healLandings(repo, processWitness);
  const left = healed.filter((one) => one.kind === 'left');
  const mended = healed.filter((one) => one.kind === 'healed');
  return [
    ...left.map(({ worktree, branch, why }) => ({
      name: 'merge',
      state: 'failed' as const,
      message: `a merge into ${branch} was cut short in ${worktree}: ${why}`,
      hint: 'Wait for that git, or remove its lock; then any command puts it right',
    })),
    ...mended.map(({ worktree, branch, side }) => ({
      name: 'merge',
      state: 'fixed' as const,
      message: `a merge into ${branch} was cut short in ${worktree}, and was ${side === 'new' ? 'finished' : 'taken back'}`,
      hint: null,
    })),
    ...listLandings(repo).flatMap(({ journal }) =>
      journal === undefined || left.some(({ worktree }) => worktree === journal.worktree)
        ? []
        : [describeAtWork(journal.worktree, journal.holder)],
    ),
  ];
}

function describeAtWork(worktree: string, { pid, host }: { pid: number; host: string }): Finding {
  return {
    name: 'merge',
    state: 'ok',
    message: `one is on its way into ${worktree} (process ${pid} on ${host})`,
    hint: null,
  };
}

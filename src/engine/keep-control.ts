import { openControlDirectory, type ControlGit } from '#git/control-directory.ts';
import { refuseOldGit } from '#git/read-git-version.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { WorkPlace } from './work.ts';

export type OpenControl = (copied: readonly string[]) => Promise<ControlGit>;

/**
 * Opens the control directory, and for a moment gives the same again: each step of a task needs it, several tasks are
 * at work at once, and the user's configuration seldom changes in between.
 */
export function keepControl(
  { repo, project, clock }: Pick<WorkPlace, 'repo' | 'project' | 'clock'>,
  { fresh_ms = LIMITS.control_fresh_ms }: { readonly fresh_ms?: number } = {},
): OpenControl {
  let kept:
    | { readonly key: string; readonly until: number; readonly control: Promise<ControlGit> }
    | undefined;
  return (copied) => {
    const key = JSON.stringify(copied);
    const now = clock.now();
    if (kept?.key === key && now < kept.until) return kept.control;
    // Here begins all work on attempts: it must not come as far as the merge with a git that cannot merge.
    const control = refuseOldGit(repo.worktree, repo.env ?? process.env).then(() =>
      openControlDirectory(repo, { copied, project: project.root }),
    );
    const opened = { key, until: now + fresh_ms, control };
    kept = opened;
    control.catch(() => {
      if (kept === opened) kept = undefined;
    });
    return control;
  };
}

import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getFromGit, type GitRepo } from './ask-git.ts';
import { type BranchCheckout, listCheckouts } from './branches.ts';
import { findOperationInProgress } from './operation-in-progress.ts';
import { findLastEntry, parseGitConfig } from './parse-git-config.ts';
import { readTextIfThere } from './replace-file.ts';

export interface Place {
  readonly repo: GitRepo;
  readonly checkout: BranchCheckout;
}

/** Working trees of the branch that really are there; a bare repository's HEAD is no checkout. */
export async function listPlaces(repo: GitRepo, branch: string): Promise<readonly Place[]> {
  const found: Place[] = [];
  for (const checkout of await listCheckouts(repo, branch)) {
    const { git_dir, worktree } = checkout;
    if (git_dir === repo.common_dir && (await isBare(repo))) continue;
    const place = { checkout, repo: { ...repo, git_dir, worktree } };
    if (!hasVanished(place.repo) || isLocked(place.repo)) found.push(place);
  }
  return found;
}

/** Every working tree of the repository. */
export async function listOthers(repo: GitRepo): Promise<readonly GitRepo[]> {
  const linked = listNames(join(repo.common_dir, 'worktrees')).flatMap((name) => {
    const git_dir = join(repo.common_dir, 'worktrees', name);
    const dotGit = readTextIfThere(join(git_dir, 'gitdir'))?.trimEnd();
    return dotGit === undefined ? [] : [{ ...repo, git_dir, worktree: dirname(dotGit) }];
  });
  const top = basename(repo.common_dir) === '.git' ? dirname(repo.common_dir) : repo.common_dir;
  const worktree = repo.git_dir === repo.common_dir ? repo.worktree : top;
  const main = { ...repo, git_dir: repo.common_dir, worktree };
  const own = (await isBare(repo)) ? [] : [main];
  return [...own, ...linked].filter((one) => existsSync(one.worktree) && one.worktree !== one.git_dir);
}

function listNames(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

async function isBare(repo: GitRepo): Promise<boolean> {
  if (isPlainlyNotBare(repo)) return false;
  const args = [`--git-dir=${repo.common_dir}`, 'rev-parse', '--is-bare-repository'];
  return (await getFromGit(repo, args)) === 'true';
}

/** Its own configuration says so, and names nothing that could say otherwise. */
function isPlainlyNotBare(repo: GitRepo): boolean {
  const entries = parseGitConfig(readTextIfThere(join(repo.common_dir, 'config')) ?? '') ?? [];
  const isAlone = !entries.some(({ key }) => /^(?:include|includeif\.|extensions\.worktreeconfig)/.test(key));
  return isAlone && findLastEntry(entries, 'core.bare')?.value === 'false';
}

/** A linked working tree that was removed, or is about to be: git takes its link away before its entry. */
export function hasVanished({ git_dir, common_dir, worktree }: GitRepo): boolean {
  if (git_dir === common_dir) return false;
  return !existsSync(join(git_dir, 'HEAD')) || !existsSync(join(worktree, '.git'));
}

/** The user says that it comes back: a disk that is not there now. */
function isLocked({ git_dir }: GitRepo): boolean {
  return existsSync(join(git_dir, 'locked'));
}

/** `git worktree add` locks it until it has written the first index. */
export function isBeingMade(repo: GitRepo): boolean {
  return repo.git_dir !== repo.common_dir && isLocked(repo) && !existsSync(join(repo.git_dir, 'index'));
}

/** What git is in the middle of there, so that no landing may touch it; `locked` where it is not there. */
export function findBlock({ repo, checkout }: Place): string | undefined {
  const operation = findOperationInProgress(repo.git_dir)?.name;
  // The end of a rebase would put the branch back, a merge would get another parent.
  if (operation !== undefined) return operation;
  if (checkout.on_hold) return 'rebase';
  if (hasVanished(repo) && !isLocked(repo)) return undefined;
  // A main working tree that is elsewhere (a submodule's) is only known to itself.
  return existsSync(repo.worktree) && repo.git_dir !== repo.worktree ? undefined : 'locked';
}

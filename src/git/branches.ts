import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { askGit, getFromGit, type GitRepo } from './ask-git.ts';
import { readPlainFile } from './read-plain-file.ts';
import { readRef, readSymbolicRef, resolveRef } from './read-ref.ts';

const HEADS = 'refs/heads/';

/** The branch that HEAD is on, with or without commits; undefined when HEAD is detached. No process. */
export async function findCurrentBranch(repo: GitRepo): Promise<string | undefined> {
  return toBranch(await readSymbolicRef(repo, 'HEAD'));
}

/**
 * The branch that others start from: what the remote `origin` (or the only remote) calls its HEAD, else
 * `init.defaultBranch`, `main`, `master` or another usual name, whichever is there first, else the branch that the main checkout is on,
 * whatever its name, else the only branch there is. Undefined where that leaves several, or none.
 */
export async function findDefaultBranch(
  repo: GitRepo,
  /** `init.defaultBranch`, by whoever has read it already. */
  known?: { readonly initial_branch: string | undefined },
): Promise<string | undefined> {
  const tracked = await findRemoteHead(repo);
  if (tracked !== undefined) return tracked;
  for await (const name of listUsualNames(repo, known)) {
    if ((await readRef(repo, HEADS + name)) !== undefined) return name;
  }
  return findBranchInUse(repo);
}

/** A branch that was renamed on the server leaves a name here that leads nowhere. */
async function findRemoteHead(repo: GitRepo): Promise<string | undefined> {
  const folders = listFolders(join(repo.common_dir, 'refs', 'remotes')).map((path) => basename(path));
  // Of several remotes only the one with the usual name is known to be the one to start from.
  const remotes = folders.length === 1 && folders[0] !== 'origin' ? ['origin', ...folders] : ['origin'];
  for (const remote of remotes) {
    const prefix = `refs/remotes/${remote}/`;
    const tracked = await readSymbolicRef(repo, `${prefix}HEAD`);
    if (tracked?.startsWith(prefix) !== true) continue;
    if ((await readRef(repo, tracked)) !== undefined) return tracked.slice(prefix.length);
  }
  return undefined;
}

/**
 * HEAD of the main checkout (or of a bare repository) before HEAD of the linked one that is asked, because linked ones
 * are where side branches are worked on. A branch without commits is one to be, and counts where nothing has any.
 */
async function findBranchInUse(repo: GitRepo): Promise<string | undefined> {
  const main: GitRepo = { ...repo, git_dir: repo.common_dir };
  const heads = [await findCurrentBranch(main), await findCurrentBranch(repo)];
  const named = heads.filter((name) => name !== undefined && !isAttemptBranch(name));
  for (const name of named) if ((await readRef(repo, HEADS + name)) !== undefined) return name;
  const branches = await listOwnBranches(repo);
  if (branches.length > 0) return branches.length === 1 ? branches[0] : undefined;
  return named[0];
}

/** The user's branches: those of attempts are left out. */
export async function listOwnBranches(repo: GitRepo): Promise<readonly string[]> {
  const text = await getFromGit(repo, ['for-each-ref', '--format=%(refname)', HEADS]);
  const names = text.split('\n').flatMap((ref) => toBranch(ref) ?? []);
  return names.filter((name) => !isAttemptBranch(name));
}

function isAttemptBranch(name: string): boolean {
  return name.startsWith('forge/');
}

/** One after the other, so that git is asked for its setting only by those who get here. */
async function* listUsualNames(
  repo: GitRepo,
  known: { readonly initial_branch: string | undefined } | undefined,
): AsyncGenerator<string> {
  const initial = known === undefined ? await readInitialBranch(repo) : known.initial_branch;
  if (initial !== undefined) yield initial;
  yield* USUAL_NAMES;
}

/** Before what HEAD is on: that may be a side branch just now. */
const USUAL_NAMES = ['main', 'master', 'trunk', 'develop', 'mainline'] as const;

async function readInitialBranch(repo: GitRepo): Promise<string | undefined> {
  const result = await askGit(repo, ['config', '--get', 'init.defaultBranch']);
  return result.exit === 0 ? result.stdout.trim() : undefined;
}

/** Whether a remote of this name is configured, or any at all. */
export async function hasRemote(repo: GitRepo, name?: string): Promise<boolean> {
  const remotes = (await getFromGit(repo, ['remote'])).split('\n').filter((remote) => remote !== '');
  return name === undefined ? remotes.length > 0 : remotes.includes(name);
}

/** A commit to such a branch from outside would show up as a reversal in the working tree that has it. */
export async function isBranchCheckedOut(repo: GitRepo, branch: string): Promise<boolean> {
  return (await findCheckout(repo, branch)) !== undefined;
}

/**
 * The working tree that has the branch checked out, of all that share the repository. One in the middle of a rebase
 * or bisect counts: it comes back to the branch when that ends.
 */
export async function findCheckout(repo: GitRepo, branch: string): Promise<string | undefined> {
  const [first] = await listCheckouts(repo, branch);
  return first?.worktree;
}

export interface BranchCheckout {
  readonly git_dir: string;
  readonly worktree: string;
  /** HEAD is elsewhere for the time of a rebase or bisect. */
  readonly on_hold: boolean;
}

/** All of them: with force several can have the same branch, by its name or by a symbolic ref that leads to it. */
export async function listCheckouts(repo: GitRepo, branch: string): Promise<readonly BranchCheckout[]> {
  const found: BranchCheckout[] = [];
  const wanted = await resolveRef(repo, HEADS + branch);
  for (const { git_dir, worktree, asked_in } of listGitDirs(repo)) {
    const head = await resolveRef({ ...repo, git_dir, worktree: asked_in }, 'HEAD');
    const held = listBranchesOnHold(git_dir).map((name) => resolveRef(repo, HEADS + name));
    const on_hold = (await Promise.all(held)).includes(wanted);
    if (head === wanted || on_hold) found.push({ git_dir, worktree, on_hold });
  }
  return found;
}

interface Checkout {
  readonly git_dir: string;
  readonly worktree: string;
  /** Where git can be asked: its own working tree, or ours where that is gone. */
  readonly asked_in: string;
}

function listGitDirs(repo: GitRepo): readonly Checkout[] {
  const own = { git_dir: repo.git_dir, worktree: repo.worktree, asked_in: repo.worktree };
  // The main one last: its folder is `.git`'s parent except for submodules and bare hubs, and only the message needs it.
  const main = {
    git_dir: repo.common_dir,
    worktree: toMainWorktree(repo.common_dir),
    asked_in: repo.worktree,
  };
  const linked = listFolders(join(repo.common_dir, 'worktrees')).map((gitDir) => {
    const dotGit = readLine(join(gitDir, 'gitdir'));
    const worktree = dotGit === undefined ? gitDir : dirname(dotGit);
    return { git_dir: gitDir, worktree, asked_in: repo.worktree };
  });
  const others = [...linked, main].filter(({ git_dir }) => git_dir !== repo.git_dir);
  return [own, ...others];
}

function toMainWorktree(commonDir: string): string {
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}

function listBranchesOnHold(gitDir: string): readonly string[] {
  const names = ['rebase-merge/head-name', 'rebase-apply/head-name', 'BISECT_START'];
  return names.flatMap((name) => {
    const line = readLine(join(gitDir, name));
    return line === undefined ? [] : [toBranch(line) ?? line];
  });
}

function toBranch(ref: string | undefined): string | undefined {
  return ref?.startsWith(HEADS) === true ? ref.slice(HEADS.length) : undefined;
}

function listFolders(path: string): readonly string[] {
  try {
    return readdirSync(path).map((name) => join(path, name));
  } catch {
    return [];
  }
}

function readLine(path: string): string | undefined {
  return readPlainFile(path)
    ?.toString('utf8')
    .replace(/\r?\n[^]*$/, '');
}

import { askGit, askGitApart, type GitRepo } from '#git/ask-git.ts';
import { listBranchFiles } from '#git/branch-files.ts';
import { findDefaultBranch, hasRemote } from '#git/branches.ts';
import { fetchBranch } from '#git/exchange-remote.ts';
import { openBlobReader } from '#git/read-blob.ts';
import { isForgeError } from '#kernel/errors.ts';
import { LIMITS } from '#kernel/limits.ts';
import { findHeldFilesAt, NO_ATTEMPTS } from './held-files.ts';
import type { AttemptLister } from './held-lines.ts';
import { isAttemptBranch, parseProjectConfig, type ProjectConfig } from './project-config.ts';
import { CONFIG_PATH } from './task-files.ts';

/** A project that a branch of this repository holds, also where the working tree does not show it. */
export interface SharedProject {
  /** Without the remote: `forge-data`. */
  readonly branch: string;
  /** In full: `refs/remotes/origin/forge-data`. */
  readonly ref: string;
  readonly text: string;
  readonly config: ProjectConfig;
}

export interface SharedProjects {
  /** Those whose tasks have a branch of their own, one entry a branch. */
  readonly data: readonly SharedProject[];
  /** The one of the default branch, in standard mode. */
  readonly main: SharedProject | undefined;
  /** Branches of the remote that this clone does not have, and that were not looked into. */
  readonly unseen?: readonly string[];
}

/** Looks at the branches that are here, those of remotes too. Nothing is fetched; without git there is nothing. */
export async function findSharedProjects(
  repo: GitRepo,
  store: AttemptLister = NO_ATTEMPTS,
): Promise<SharedProjects> {
  try {
    return await search(repo, store);
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return NONE; // what needs git later says what is wrong with it
  }
}

/**
 * The same for branches of the remote that were never fetched: a clone of a single branch, or one that is older than
 * the project. Only those are fetched whose name says so; the others are found by `forge init --branch <name>`.
 */
export async function fetchSharedProjects(repo: GitRepo, remote: string): Promise<SharedProjects> {
  try {
    if (!(await hasRemote(repo, remote))) return NONE;
    // Without a terminal: a person who only starts a project must not be asked for a key or a password.
    const limit = { timeout_ms: LIMITS.remote_look_ms };
    const { stdout, exit } = await askGitApart(repo, ['ls-remote', '--quiet', '--heads', remote], limit);
    if (exit !== 0) return NONE;
    const names = [...stdout.matchAll(/\trefs\/heads\/(.+)$/gm)].flatMap(([, name]) => name ?? []);
    const wanted = names.filter((name) => /forge/i.test(name) && !isAttemptBranch(name));
    const bounded = { ...repo, timeout_ms: LIMITS.git_ms };
    for (const branch of wanted.slice(0, LIMITS.branches_fetched))
      await fetchBranch({ repo: bounded, remote, branch });
    const found = wanted.length === 0 ? NONE : await search(repo, NO_ATTEMPTS);
    return { ...found, unseen: await listUnseen(repo, remote, names) };
  } catch (error) {
    if (!isForgeError(error)) throw error;
    return NONE; // a remote that does not answer holds no command up
  }
}

async function listUnseen(repo: GitRepo, remote: string, names: readonly string[]): Promise<string[]> {
  const args = ['for-each-ref', '--format=%(refname)', `refs/remotes/${remote}/`];
  const here = new Set((await askGit(repo, args)).stdout.split('\n'));
  return names.filter((name) => !isAttemptBranch(name) && !here.has(`refs/remotes/${remote}/${name}`));
}

const NONE: SharedProjects = { data: [], main: undefined };

/** Branches of attempts hold no project, nor does one whose config an attempt wrote that nobody has merged. */
async function search(repo: GitRepo, store: AttemptLister): Promise<SharedProjects> {
  const files = await listBranchFiles(repo, ['refs/heads', 'refs/remotes'], CONFIG_PATH);
  if (files.length === 0) return NONE;
  const usual = await findDefaultBranch(repo);
  const configs = new Map<string, { text: string; config: ProjectConfig } | undefined>();
  const data = new Map<string, SharedProject>();
  let main: SharedProject | undefined;
  await using reader = openBlobReader(repo);
  for (const { ref, blob } of files) {
    const branch = toBranchName(ref);
    if (isAttemptBranch(branch)) continue;
    if (!configs.has(blob)) configs.set(blob, parse((await reader.readObject(blob))?.toString('utf8')));
    const found = configs.get(blob);
    if (found === undefined) continue;
    const { initMode, branchName } = found.config;
    if (
      initMode === 'branch' &&
      branchName === branch &&
      !data.has(branch) &&
      !(await isHeld(store, repo, ref))
    )
      data.set(branch, { branch, ref, ...found });
    if (initMode === 'standard' && branch === usual) main ??= { branch, ref, ...found };
  }
  return { data: [...data.values()], main };
}

/** `forge-data`, of a branch here or at a remote. */
export function toBranchName(ref: string): string {
  return ref.replace(/^refs\/(?:heads|remotes\/[^/]+)\//, '');
}

async function isHeld(store: AttemptLister, repo: GitRepo, ref: string): Promise<boolean> {
  return (await findHeldFilesAt(store, repo, ref, [CONFIG_PATH])).has(CONFIG_PATH);
}

/** What is no config of a project is none. */
function parse(text: string | undefined): { text: string; config: ProjectConfig } | undefined {
  try {
    return text === undefined ? undefined : { text, config: parseProjectConfig(text, CONFIG_PATH) };
  } catch (error) {
    if (isForgeError(error)) return undefined;
    throw error;
  }
}

import { join } from 'node:path';
import { readPlainFile } from '#git/read-plain-file.ts';
import { isSealed } from '#domain/record-seal.ts';
import { BRANCH_FOLDER } from '#domain/attempt-names.ts';
import { askGit, type GitRepo } from '#git/ask-git.ts';
import { findCurrentBranch } from '#git/branches.ts';
import { type FileCommit, type FileCommitQuery, listFileCommits } from '#git/file-commits.ts';
import { findOperationInProgress } from '#git/operation-in-progress.ts';
import { readRef, readSymbolicRef } from '#git/read-ref.ts';
import { checksum } from '#kernel/checksum.ts';
import { LIMITS } from '#kernel/limits.ts';
import type { AttemptStore } from '#store/attempt-store.ts';
import {
  type LinesByPath,
  listTargets,
  listTips,
  readLinesOf,
  readTargetLines,
  TRACED_PATHS,
} from './attempt-targets.ts';
import { type Machine, toGitRepo } from './machine.ts';
import type { ProjectPaths } from './project-paths.ts';
import { TASKS_PATH } from './task-files.ts';
import { idOfLine, toLineKey, type TracedLines, traceLines } from './trace-lines.ts';

/**
 * Lines of task files that an agent wrote into the files of its attempt, and that no person has merged. An agent has
 * Forge to write tasks with, which judges what it may; its files are its proposal, and a fold would make it the user's
 * word: checks and reviewers of other tasks would be gone because a person looked at a branch.
 */
export interface HeldLines {
  /** Of the commits that wrote them. */
  readonly key: string;
  /** Where HEAD is; empty where no working tree is meant. */
  readonly place: string;
  /** The branches of the attempts; ids of those that this clone does not know. */
  readonly attempts: readonly string[];
  has(path: string, text: string): boolean;
  /** Whether a target has the line: a person has taken it. */
  readonly isTaken: (path: string, text: string) => boolean;
  /** With more commits than these not every line can be told apart; left out where all were looked at. */
  readonly over?: number | undefined;
}

/** How many commits are looked at, of attempts and of those that build on them. */
export interface HeldLimit {
  readonly limit?: number;
}

export type AttemptLister = Pick<AttemptStore, 'listAttempts'>;

/** What the files of the working tree may be made of: HEAD, what is being merged, and branches of attempts. */
export async function findHeldHere(
  store: AttemptLister,
  repo: GitRepo,
  { limit = LIMITS.attempt_file_commits }: HeldLimit = {},
): Promise<HeldLines | undefined> {
  const head = await readRef(repo, 'HEAD');
  if (head === undefined) return undefined;
  const tips = [head, ...readOperationHeads(repo)];
  // A file may be taken from such a branch without a switch (`git checkout forge/… -- .forge`).
  const globs = [`refs/heads/${BRANCH_FOLDER}*`, `refs/remotes/*/${BRANCH_FOLDER}*`, `${RESCUES}*`];
  return findHeld(store, repo, { tips, globs, head, limit });
}

/** For a fold of the working tree's files. */
export function heldFinder(
  { store, paths }: { readonly store: AttemptLister; readonly paths: Pick<ProjectPaths, 'root'> },
  machine: Pick<Machine, 'env'>,
): () => Promise<HeldLines | undefined> {
  return () => findHeldHere(store, toGitRepo(paths.root, machine));
}

/** Whether work is merged into the branch that is checked out: what a person commits there is theirs. */
export async function isOnTarget(store: AttemptLister, repo: GitRepo): Promise<boolean> {
  const branch = await findCurrentBranch(repo);
  const attempts = await store.listAttempts({});
  const { names } = await listTargets(repo, attempts);
  return branch !== undefined && names.includes(branch);
}

/** Of one revision. */
export function findHeldAt(store: AttemptLister, repo: GitRepo, rev: string): Promise<HeldLines | undefined> {
  const limit = LIMITS.attempt_file_commits;
  return findHeld(store, repo, { tips: [rev], globs: [], head: undefined, limit });
}

/** Where HEAD is, by file reads alone: while it stays, what is held stays. */
export async function readHeadPlace(repo: GitRepo): Promise<string> {
  return checksum(`${await readSymbolicRef(repo, 'HEAD')} ${await readRef(repo, 'HEAD')}`);
}

export const RESCUES = 'refs/forge/rescue/';

interface Sources {
  readonly tips: readonly string[];
  readonly globs: readonly string[];
  /** Of the working tree, where its files are meant. */
  readonly head: string | undefined;
  readonly limit: number;
}

async function findHeld(
  store: AttemptLister,
  repo: GitRepo,
  sources: Sources,
): Promise<HeldLines | undefined> {
  const attempts = await store.listAttempts({});
  const targets = await listTargets(repo, attempts);
  const query: FileCommitQuery = {
    tips: sources.tips,
    globs: sources.globs,
    without: targets.commits,
    without_globs: targets.globs,
    paths: TRACED_PATHS,
  };
  const bases = attempts.map(({ base_commit }) => base_commit);
  const [rescued, named] = await Promise.all([
    listRescuedCommits(repo, query, bases),
    listFileCommits(repo, { ...query, limit: 1, of_attempts: true }),
  ]);
  // Most repositories have none, however many commits a branch is ahead.
  if (rescued.size + named.length === 0) return undefined;
  const commits = await listFileCommits(repo, query);
  const merged = new Set(attempts.flatMap(({ id, state }) => (state === 'merged' ? [id] : [])));
  const own = commits.filter(
    ({ commit, attempts: ids }) => ids.some((id) => !merged.has(id)) || rescued.has(commit),
  );
  if (own.length === 0) return undefined;
  const names = new Map(attempts.map(({ id, branch }) => [id, branch]));
  const taken = await readTargetLines(repo, targets);
  const isTaken: HeldLines['isTaken'] = (path, text) => taken.get(path)?.has(text) === true;
  const chosen = chooseCommits(commits, own, sources.limit);
  const traced = await traceLines(repo, { commits: chosen.looked_at, own: new Set(own), taken });
  const over = await holdUnsure(repo, traced, { ...sources, chosen, query, isTaken });
  const isEdited = await findEdited(repo, traced, sources);
  return {
    key: checksum(own.map(({ commit }) => commit).join(' ')),
    place: sources.head === undefined ? '' : await readHeadPlace(repo),
    attempts: [...new Set(own.flatMap(({ attempts: ids }) => ids.map((id) => names.get(id) ?? id)))],
    isTaken,
    has: (path, text) =>
      !isTaken(path, text) &&
      (traced.held.has(toLineKey(path, text)) || (path === TASKS_PATH && isEdited(text))),
    ...(over && { over: sources.limit }),
  };
}

interface ChosenCommits {
  readonly looked_at: readonly FileCommit[];
  /** Of attempts, and of others that build on them: those that were not looked at. */
  readonly own_left: readonly FileCommit[];
  readonly others_left: readonly FileCommit[];
}

/**
 * Only commits of attempts, and those that build on them, can have lines of agents. Of each sort the newest ones are
 * looked at: each costs the reading of a whole file and of the one before it.
 */
function chooseCommits(
  commits: readonly FileCommit[],
  own: readonly FileCommit[],
  limit: number,
): ChosenCommits {
  const isOwn = new Set(own);
  const related = new Set<string>();
  const others: FileCommit[] = [];
  for (const one of commits) {
    if (!isOwn.has(one) && !one.parents.some((parent) => related.has(parent))) continue;
    related.add(one.commit);
    if (!isOwn.has(one)) others.push(one);
  }
  const looked_at = new Set([...own.slice(-limit), ...others.slice(-limit)]);
  return {
    looked_at: commits.filter((one) => looked_at.has(one)),
    own_left: own.slice(0, -limit),
    others_left: others.slice(0, -limit),
  };
}

/**
 * Adds the lines of which the commits that were not looked at may be the source, unless a person is known to have written
 * them. Such a line is neither joined nor erased. What a person writes into the working tree is none of them. Returns
 * whether there are any.
 */
async function holdUnsure(
  repo: GitRepo,
  { held, free, tasks }: TracedLines,
  {
    tips,
    globs,
    chosen: { own_left, others_left },
    query,
    isTaken,
  }: Sources & {
    readonly chosen: ChosenCommits;
    readonly query: FileCommitQuery;
    readonly isTaken: HeldLines['isTaken'];
  },
): Promise<boolean> {
  if (own_left.length + others_left.length === 0) return false;
  const before = held.size;
  const hold = (lines: LinesByPath, isMeant: (path: string, text: string) => boolean): void => {
    for (const [path, texts] of lines)
      for (const text of texts) {
        if (isTaken(path, text) || free.has(toLineKey(path, text)) || !isMeant(path, text)) continue;
        held.add(toLineKey(path, text));
        const id = idOfLine(text);
        if (id !== undefined) tasks.add(id);
      }
  };
  const here = await readLinesOf(repo, tips);
  const reached = own_left.length === 0 ? [] : await listFileCommits(repo, { ...query, globs: [] });
  const inTips = new Set(reached.map(({ commit }) => commit));
  if (own_left.some(({ commit }) => inTips.has(commit))) hold(here, () => true);
  else hold(here, (_, text) => others_left.length > 0 && tasks.has(idOfLine(text) ?? ''));
  if (own_left.some(({ commit }) => !inTips.has(commit)))
    hold(
      await readLinesOf(repo, await listTips(repo, globs)),
      (path, text) => here.get(path)?.has(text) !== true,
    );
  return held.size > before;
}

/** Whether a line of the working tree that is in no commit was made of an agent's: by a merge, or by hand. */
async function findEdited(
  repo: GitRepo,
  { held, tasks }: TracedLines,
  { head, tips }: Sources,
): Promise<(text: string) => boolean> {
  if (head === undefined || tasks.size === 0) return () => false;
  const atHead = byTask(await readTaskLines(repo, [head]));
  const operation = findOperationInProgress(repo.git_dir);
  const isMerging = operation !== undefined && operation.name !== 'bisect';
  const heads = tips.filter((tip) => tip !== head);
  const brought = (await readTaskLines(repo, heads)).filter((text) => held.has(toLineKey(TASKS_PATH, text)));
  // A rebase does not always tell which commit it is at.
  const merging = heads.length === 0 ? tasks : new Set(brought.flatMap((text) => idOfLine(text) ?? []));
  return (text) => {
    const id = idOfLine(text);
    if (id === undefined || !tasks.has(id)) return false;
    const there = atHead.get(id) ?? [];
    if (there.includes(text)) return false;
    if (isMerging && merging.has(id)) return true;
    return !isSealed(text) && there.some((line) => held.has(toLineKey(TASKS_PATH, line)));
  };
}

async function readTaskLines(repo: GitRepo, commits: readonly string[]): Promise<string[]> {
  return commits.length === 0 ? [] : [...((await readLinesOf(repo, commits)).get(TASKS_PATH) ?? [])];
}

/** Commits of an agent that lay beside its branch when its folder went: Forge has written no trailers into those. */
async function listRescuedCommits(
  repo: GitRepo,
  query: FileCommitQuery,
  bases: readonly string[],
): Promise<ReadonlySet<string>> {
  const there = await askGit(repo, ['for-each-ref', '--count=1', RESCUES]);
  if (there.stdout === '') return new Set();
  const without = [...query.without, ...(await listKnown(repo, bases))];
  const commits = await listFileCommits(repo, { ...query, tips: [], globs: [`${RESCUES}*`], without });
  return new Set(commits.map(({ commit }) => commit));
}

/** Git refuses a whole list for one commit that is gone. */
export async function listKnown(repo: GitRepo, commits: readonly string[]): Promise<string[]> {
  const input = [...new Set(commits)].map((commit) => `${commit}\n`).join('');
  const { stdout } = await askGit(repo, ['cat-file', '--batch-check=%(objecttype) %(objectname)'], { input });
  return stdout.split('\n').flatMap((line) => /^commit ([0-9a-f]+)$/.exec(line)?.[1] ?? []);
}

function byTask(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(lines, (text) => idOfLine(text) ?? '');
}

/** What git is about to put together with HEAD. */
export function readOperationHeads({ git_dir }: GitRepo): string[] {
  return ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'REBASE_HEAD'].flatMap((name) => {
    const text = readPlainFile(join(git_dir, name))?.toString('utf8') ?? ''; // most are not there
    return text.match(/^[0-9a-f]{40,64}$/gm) ?? [];
  });
}
